package notifier

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/swarmhost/swarm/host/answers"
	"github.com/swarmhost/swarm/host/display"
	"github.com/swarmhost/swarm/host/hookstate"
	"github.com/swarmhost/swarm/host/lockfile"
	"github.com/swarmhost/swarm/host/question"
	"github.com/swarmhost/swarm/host/registry"
	"github.com/swarmhost/swarm/host/statedir"
	"github.com/swarmhost/swarm/shared/proc"
)

// askLock is the lock in a run directory of the hook that waits for a decision: an agent that
// asks about several tools at once asks one after the other.
const askLock = "ask.lock"

// shellTools are the tools of clients that run the command of a shell.
var shellTools = []string{"Bash", "Monitor", "PowerShell", "shell", "local_shell", "exec_command", "run_shell_command"}

// Decide records the question of an agent's hook as [Notifier.Hook] does, and returns the decision
// about it: that of a person's rule, or the one that 'swarm answer' and its like give until ctx
// ends. Without a decision, ok is false: the client then asks on its screen.
//
// The decision is for the calling process alone. A caller that may answer the worker's
// questions gives it, see [input.Sender.Answer]; a worker that forges one has only changed
// the configuration of its own client.
func (n *Notifier) Decide(ctx context.Context, e HookEvent) (answer string, ok bool, err error) {
	at, ok, err := n.Callers.Hook()
	if !ok || err != nil {
		return "", false, err
	}
	id := filepath.Base(at.Run)
	last, _ := hookstate.Read(at.Run)
	if last.Agent != at.Agent && slices.Contains(at.Above, last.Agent) || !statedir.SameFile(at.Run, n.Dir.RunDir(id)) {
		return "", false, nil // of an agent that the worker's agent started
	}
	unlock, err := lockfile.Lock(ctx, filepath.Join(at.Run, askLock))
	if err != nil {
		return "", false, err
	}
	defer unlock()
	rec, err := n.recordOf(ctx, id)
	if err != nil {
		return "", false, err
	}
	if answer, who := n.byRule(&rec, &e); answer != "" {
		question := e.Question
		e.State, e.Decided, e.Question, e.Tool, e.Command = hookstate.Working, true, "", "", ""
		_, err := n.Hook(ctx, e)
		recorded := n.Store.Change(ctx, func(ctx context.Context, tx *registry.Tx) error {
			return display.RecordAnswer(ctx, tx, &rec, question, answer, who)
		})
		return answer, true, errors.Join(err, recorded)
	}
	self, err := proc.Identify(os.Getpid())
	if err != nil {
		return "", false, err
	}
	w, err := hookstate.Listen(at.Run)
	if err != nil {
		_, herr := n.Hook(ctx, e)
		return "", false, errors.Join(err, herr)
	}
	defer func() { _ = w.Close() }()
	until, _ := ctx.Deadline()
	asked := e
	asked.Ask = &hookstate.Ask{Digest: digestOf(&e), Hook: self, Until: until}
	if _, err := n.Hook(ctx, asked); err != nil {
		n.Logger.Debug("a question is not recorded as a whole", "error", err)
	}
	d, err := w.Decision(ctx, asked.Ask.Digest)
	e.Repeats = true // the same question, on the screen
	if err == nil && d.Answer != hookstate.OnScreen {
		e.State, e.Decided, e.Question, e.Tool, e.Command = hookstate.Working, true, "", "", ""
	}
	after, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Second)
	defer cancel()
	_, herr := n.Hook(after, e)
	if err != nil || d.Answer == hookstate.OnScreen {
		return "", false, errors.Join(err, herr)
	}
	return d.Answer, true, herr
}

func (n *Notifier) recordOf(ctx context.Context, id string) (rec registry.Record, err error) {
	err = n.Store.View(ctx, func(ctx context.Context, tx *registry.Tx) (err error) {
		rec, err = tx.Get(ctx, id)
		return err
	})
	return rec, err
}

// byRule returns what the person's rules answer to a question, and which of them does. The
// question comes from the client itself, so it is whole and certain.
func (n *Notifier) byRule(rec *registry.Record, e *HookEvent) (answer, who string) {
	q := answers.Question{
		Profile: e.Client, Worker: rec.Name, Projects: question.Directories(rec), Tool: e.Tool, Certain: true,
	}
	if slices.Contains(shellTools, e.Tool) {
		q.Command = e.Command
	}
	d, ok := n.Ruler.Decide(q)
	if !ok || d.Answer != answers.Allow && d.Answer != answers.Deny {
		return "", ""
	}
	return d.Answer, d.Rule.Source
}

// digestOf identifies the question of an event.
func digestOf(e *HookEvent) string {
	b, err := json.Marshal([]string{e.Client, e.Session, e.Question, e.Tool, e.Command})
	if err != nil {
		return ""
	}
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:8])
}
