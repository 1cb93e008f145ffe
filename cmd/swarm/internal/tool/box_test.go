package tool

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/swarmhost/swarm/cmd/swarm/internal/output"
	"github.com/swarmhost/swarm/host/shell"
	"github.com/swarmhost/swarm/host/tool"
	"github.com/swarmhost/swarm/shared/humane"
)

var boxTime = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

func task(id, command string, age time.Duration) shell.Shell {
	return shell.Shell{ID: id, Command: command, Status: "running", StartedAt: humane.At(boxTime.Add(-age))}
}

func TestTasksTable(t *testing.T) {
	t.Parallel()
	rows := []shell.Shell{
		task("bg-a1b2c3", "npm run dev", 5*time.Minute),
		task("bg-d4e5f6", "pytest --watch", 2*time.Minute),
		task("bg-g7h8i9", "docker compose up", 10*time.Minute),
	}
	const want = `Active Background Tasks:
┌────────────────────────────────────────────────────────────┐
│ ID          Command              Started       Status      │
├────────────────────────────────────────────────────────────┤
│ bg-a1b2c3   npm run dev          5 min ago     running     │
│ bg-d4e5f6   pytest --watch       2 min ago     running     │
│ bg-g7h8i9   docker compose up    10 min ago    running     │
└────────────────────────────────────────────────────────────┘

Use KillShell tool with shell_id to terminate a task.
`
	for _, width := range []int{0, 62, 80, 200} {
		if diff := cmp.Diff(want, tasksTable("Active Background Tasks:", rows, boxTime, width)); diff != "" {
			t.Errorf("on %d columns (-want +got):\n%s", width, diff)
		}
	}
	if got := tasksTable("Active Background Tasks:", nil, boxTime, 80); got != "No active background tasks.\n" {
		t.Errorf("without tasks it is %q", got)
	}
}

// Whatever a command holds, the frame is straight and within the terminal, as far
// as a terminal can be narrow.
func TestBoxesAreStraight(t *testing.T) {
	t.Parallel()
	for _, command := range []string{
		"", "x", strings.Repeat("long ", 100), "echo 日本語のテキスト | tr 日 月", "printf 'é'", "a\nb\tc\x1b[31m", "🚀🚀🚀🚀🚀🚀🚀🚀🚀🚀🚀🚀🚀🚀🚀🚀",
	} {
		for _, width := range []int{0, 20, 52, 60, 61, 62, 63, 80, 81, 300} {
			most := max(width, 62-11)
			if width == 0 {
				most = pipeWidth
			}
			k := tool.KillShellOutput{ShellID: "bg-a1b2c3", Command: command, SignalSent: "SIGTERM", Timeout: 3 * time.Second}
			for _, text := range []string{
				tasksTable("T:", []shell.Shell{task("bg-a1b2c3", command, 0), task("bg-a1b2c4", "x", 0)}, boxTime, width),
				terminatedBox(k, width), forceKilledBox(k, width),
			} {
				straight := 0
				for line := range strings.Lines(text) {
					line = strings.TrimSuffix(line, "\n")
					if !strings.ContainsAny(line, "┌│├└") {
						continue
					}
					if n := output.Columns(line); n > most || straight != 0 && n != straight {
						t.Errorf("%q on %d columns: a line takes %d, the ones before %d:\n%s", command, width, n, straight, text)
						break
					}
					straight = output.Columns(line)
				}
			}
		}
	}
}

func TestStartedText(t *testing.T) {
	t.Parallel()
	for age, want := range map[time.Duration]string{
		-time.Second: "0 sec ago", 59 * time.Second: "59 sec ago", time.Minute: "1 min ago", 59 * time.Minute: "59 min ago",
		time.Hour: "1 hour ago", 47 * time.Hour: "47 hours ago", 48 * time.Hour: "2 days ago",
	} {
		if got := startedText(age); got != want {
			t.Errorf("%v is %q, want %q", age, got, want)
		}
	}
}

func TestKilledShell(t *testing.T) {
	t.Parallel()
	const terminated = `┌─ Process Terminated ──────────────────────────────┐
│ Shell ID: bg-a1b2c3                               │
│ Command: npm run dev                              │
│ Signal: SIGTERM                                   │
│ Status: Terminated gracefully                     │
└───────────────────────────────────────────────────┘
`
	const forced = `┌─ Process Force Killed ────────────────────────────┐
│ Shell ID: bg-stuck                                │
│ Signal: SIGTERM → SIGKILL                         │
│ Status: Force killed after 3s timeout             │
│ Note: Process did not respond to SIGTERM          │
└───────────────────────────────────────────────────┘
`
	k := tool.KillShellOutput{ShellID: "bg-a1b2c3", Command: "npm run dev", SignalSent: "SIGTERM", Timeout: 5 * time.Second}
	if diff := cmp.Diff(terminated, terminatedBox(k, 80)); diff != "" {
		t.Errorf("terminated (-want +got):\n%s", diff)
	}
	k.ShellID, k.Timeout = "bg-stuck", 3*time.Second
	if diff := cmp.Diff(forced, forceKilledBox(k, 80)); diff != "" {
		t.Errorf("forced (-want +got):\n%s", diff)
	}
	if got, want := shellNotFoundText("invalid-id"), "Error: Shell not found: invalid-id\nUse /tasks to see available background shells.\n"; got != want {
		t.Errorf("not found is %q, want %q", got, want)
	}
}
