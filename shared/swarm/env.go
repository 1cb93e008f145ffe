package swarm

import "strings"

// The variables by which a worker knows itself, set by the host.
const (
	// EnvWorker holds the worker's name.
	EnvWorker = "SWARM_WORKER"
	// EnvWorkerID holds the worker's id.
	EnvWorkerID = "SWARM_WORKER_ID"
	// EnvDir holds the host's state directory.
	EnvDir = "SWARM_DIR"
	// EnvKeeper marks a process that keeps workers, such as swarm-shim: with all
	// below it, it is not part of the worker that it was started from. Its value
	// is the id of the worker that it keeps, or any other text. It is never
	// passed on to a worker.
	EnvKeeper = "SWARM_KEEPER"
	// EnvToken holds an agent's token. The one of a caller is never passed on to a
	// worker; one that is an agent itself has its own in [Spec.Env].
	EnvToken = "SWARM_TOKEN"
	// EnvView is set for what a user starts beside a worker in a terminal session that
	// only shows that worker. It holds what names the session that the worker lives in:
	// for tmux, the worker's TMUX. It is never passed on to a worker.
	EnvView = "SWARM_VIEW"
)

// MergeEnv returns env with one entry for each variable, the last one given, at
// the place of the first. Entries without '=' are left out.
func MergeEnv(env []string) []string {
	at := make(map[string]int, len(env))
	out := make([]string, 0, len(env))
	for _, kv := range env {
		k, _, ok := strings.Cut(kv, "=")
		if !ok || k == "" {
			continue
		}
		if i, seen := at[k]; seen {
			out[i] = kv
			continue
		}
		at[k] = len(out)
		out = append(out, kv)
	}
	return out
}
