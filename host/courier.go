package host

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/swarmhost/swarm/host/doctor"
	"github.com/swarmhost/swarm/host/lockfile"
	"github.com/swarmhost/swarm/host/registry"
	"github.com/swarmhost/swarm/shared/shim/rundir"
)

// Wake sends couriers to the agents of a team for whom something is waiting, see
// [courier.Office.Wake]. With [Options.NoWake] it does nothing.
func (h *Host) Wake(ctx context.Context, teamName string) (members []string) {
	return h.couriers().Wake(ctx, teamName)
}

// Quiet makes the calls of this host wake no agent, as with [Options.NoWake]. It must not be
// called concurrently with other methods.
func (h *Host) Quiet() {
	h.opts.NoWake = true
	h.store.Quieten()
}

// Courier waits until the agent of a worker is at its prompt and types one line there about
// its waiting messages and tasks, see [courier.Office.Run].
func (h *Host) Courier(ctx context.Context, workerID string) error {
	return h.couriers().Run(ctx, workerID)
}

// Hook records the report of an agent's hook, see [courier.Office.Hook].
func (h *Host) Hook(ctx context.Context, e HookEvent) (news string, err error) {
	return h.couriers().Hook(ctx, e)
}

// DecideHook records the question of an agent's hook and returns the decision about it, see
// [courier.Office.Decide].
func (h *Host) DecideHook(ctx context.Context, e HookEvent) (answer string, ok bool, err error) {
	return h.couriers().Decide(ctx, e)
}

// TakeNews returns one line about the waiting messages and tasks of a worker's agent, see
// [courier.Office.TakeNews].
func (h *Host) TakeNews(ctx context.Context, workerID string, how registry.Brought) (line string, err error) {
	return h.couriers().TakeNews(ctx, workerID, how)
}

func (h *Host) examineCouriers(recs []registry.Record) (found []doctor.Finding) {
	const subject = "couriers"
	for _, r := range recs {
		sign, ok := h.couriers().Sign(r.ID)
		switch pid := sign.Process.PID; {
		case !ok:
			// No courier lives, or it has only just begun or ended.
		case sign.Late():
			found = append(found, doctor.Finding{
				Severity: doctor.SeverityWarning, Subject: subject, Mend: fmt.Sprintf("kill %d", pid),
				What: fmt.Sprintf("the courier for '%s' (pid %d) should have ended by now", r.Name, pid),
			})
		default:
			found = append(found, doctor.Finding{
				Severity: doctor.SeverityOK, Subject: subject,
				What: fmt.Sprintf("one waits for '%s' to be at its prompt (pid %d, for %s)", r.Name, pid, time.Since(sign.Since).Round(time.Second)),
			})
		}
	}
	return found
}

// examineServers finds running workers whose MCP server outside of them has ended.
func (h *Host) examineServers(recs []registry.Record) (found []doctor.Finding) {
	for _, r := range recs {
		if r.State != registry.Running {
			continue
		}
		if _, err := os.Lstat(filepath.Join(h.dir.RunDir(r.ID), rundir.ServerDir)); err != nil || lockfile.IsHeld(h.dir.ServerLock(r.ID)) {
			continue
		}
		found = append(found, doctor.Finding{
			Severity: doctor.SeverityWarning, Subject: "mcp", Mend: "swarm respawn " + r.Name,
			What: fmt.Sprintf("the program that serves 'swarm mcp' in '%s' has ended", r.Name),
		})
	}
	return found
}
