package tool

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/swarmhost/swarm/host/tool"
)

func TestKillShellText(t *testing.T) {
	t.Parallel()
	yes, no := true, false
	answer := func(change func(*tool.KillShellOutput)) tool.KillShellOutput {
		out := tool.KillShellOutput{ShellID: "bg-stuck", SignalSent: "SIGTERM", Command: "npm run dev", Timeout: 3 * time.Second}
		change(&out)
		return out
	}
	for want, out := range map[string]tool.KillShellOutput{
		`┌─ Process Terminated ──────────────────────────────┐
│ Shell ID: bg-stuck                                │
│ Command: npm run dev                              │
│ Signal: SIGTERM                                   │
│ Status: Terminated gracefully                     │
└───────────────────────────────────────────────────┘
`: answer(func(out *tool.KillShellOutput) { out.Success, out.ForceKilled = true, &no }),
		`┌─ Process Force Killed ────────────────────────────┐
│ Shell ID: bg-stuck                                │
│ Signal: SIGTERM → SIGKILL                         │
│ Status: Force killed after 3s timeout             │
│ Note: Process did not respond to SIGTERM          │
└───────────────────────────────────────────────────┘
`: answer(func(out *tool.KillShellOutput) { out.Success, out.ForceKilled = true, &yes }),
		"Error: Shell not found: bg-stuck\nUse /tasks to see available background shells.\n": answer(func(out *tool.KillShellOutput) {
			out.Error = "Shell not found: bg-stuck"
		}),
		"Shell already killed\n": answer(func(out *tool.KillShellOutput) {
			out.Success, out.SignalSent, out.Error = true, "none", "Shell already killed"
		}),
		"Error: the shell is still running\n": answer(func(out *tool.KillShellOutput) { out.ForceKilled = &no }),
		"Error: invalid input: signal: must be one of SIGTERM, SIGKILL, SIGINT\n": answer(func(out *tool.KillShellOutput) {
			out.Error = "invalid input: signal: must be one of SIGTERM, SIGKILL, SIGINT"
		}),
	} {
		if diff := cmp.Diff(want, killShellText(out, 80)); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	}
}
