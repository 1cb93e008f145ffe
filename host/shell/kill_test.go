package shell_test

import (
	"context"
	"os"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/swarmhost/swarm/host/shell"
	"github.com/swarmhost/swarm/host/worker"
	"github.com/swarmhost/swarm/shared/proc"
)

var (
	yes, no = true, false
	session = shell.Session{ID: "s1"}
	answer  = cmpopts.IgnoreFields(shell.KillResult{}, "Shell")
)

// deaf is a shell that ignores SIGTERM, and says when it does.
const deaf = `trap '' TERM; echo ready; while :; do sleep 1; done`

func TestKillAnswers(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	h := w.host()
	short := shell.KillRequest{Signal: "SIGTERM", Force: true, Timeout: 200 * time.Millisecond}
	for _, tt := range []struct {
		name, command string
		req           shell.KillRequest
		want          shell.KillResult
		then          shell.Status
	}{
		{
			name: "died in time", command: `echo ready; exec sleep 999`, req: gently(""), then: shell.Killed,
			want: shell.KillResult{Success: true, SignalSent: "SIGTERM", ForceKilled: &no, ExitCode: new(143)},
		},
		{
			name: "its own exit code", command: `trap 'kill $!; exit 7' TERM; echo ready; sleep 999 & wait`, req: gently(""), then: shell.Killed,
			want: shell.KillResult{Success: true, SignalSent: "SIGTERM", ForceKilled: &no, ExitCode: new(7)},
		},
		{
			name: "SIGINT", command: `trap 'kill $!; exit 5' INT; echo ready; sleep 999 & wait`,
			req: shell.KillRequest{Signal: "SIGINT", Force: true, Timeout: patience}, then: shell.Killed,
			want: shell.KillResult{Success: true, SignalSent: "SIGINT", ForceKilled: &no, ExitCode: new(5)},
		},
		{
			name: "SIGKILL", command: deaf,
			req: shell.KillRequest{Signal: "SIGKILL", Force: true, Timeout: patience}, then: shell.Killed,
			want: shell.KillResult{Success: true, SignalSent: "SIGKILL", ForceKilled: &no, ExitCode: new(137)},
		},
		{
			name: "forced", command: deaf, req: short, then: shell.Killed,
			want: shell.KillResult{Success: true, SignalSent: "SIGTERM", ForceKilled: &yes, ExitCode: new(137)},
		},
		{
			name: "survives", command: deaf,
			req: shell.KillRequest{Signal: "SIGTERM", Timeout: 200 * time.Millisecond}, then: shell.Running,
			want: shell.KillResult{SignalSent: "SIGTERM", ForceKilled: &no, Problem: "Process did not respond to SIGTERM"},
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			w := &world{T: t, state: w.state, dir: w.dir, mark: w.mark}
			sh := w.start(h, session, tt.command)
			w.until(h, session, sh.ID, "ready")
			tt.req.ID = sh.ID
			got := w.kill(h, session, tt.req)
			if diff := cmp.Diff(tt.want, got, answer); diff != "" {
				t.Error(diff)
			}
			if got.Shell.Status != tt.then {
				t.Errorf("the answer has the status %s", got.Shell.Status)
			}
			if now := w.next(w.host(), session, sh.ID, "").Shell.Status; now != tt.then {
				t.Errorf("the shell is %s afterwards", now)
			}
			if tt.then == shell.Running {
				// It runs as if nothing had been, and can be killed again.
				got := w.kill(w.host(), session, shell.KillRequest{ID: sh.ID, Signal: "SIGTERM", Force: true, Timeout: time.Millisecond})
				want := shell.KillResult{Success: true, SignalSent: "SIGTERM", ForceKilled: &yes, ExitCode: new(137)}
				if diff := cmp.Diff(want, got, answer); diff != "" {
					t.Error(diff)
				}
			}
		})
	}
}

func TestKillOfOneThatIsNot(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	h := w.host()
	missing := w.kill(h, session, shell.KillRequest{ID: "bg-nothere", Signal: "SIGINT", Force: true})
	want := shell.KillResult{SignalSent: "SIGINT", Problem: "Shell not found: bg-nothere"}
	if diff := cmp.Diff(want, missing); diff != "" {
		t.Error(diff)
	}
	for command, status := range map[string]shell.Status{
		`exit 0`: shell.Completed, `exit 3`: shell.Failed, `kill -SEGV $$`: shell.Failed, `no-such-command-anywhere`: shell.Failed,
	} {
		sh := w.start(h, session, command)
		w.ended(h, session, sh.ID)
		got := w.kill(h, session, gently(sh.ID))
		want := shell.KillResult{Success: true, SignalSent: "none", Problem: "Shell already " + string(status)}
		if diff := cmp.Diff(want, got, answer); diff != "" {
			t.Errorf("%s: %s", command, diff)
		}
	}
	sh := w.start(h, session, `exec sleep 999`)
	w.kill(h, session, gently(sh.ID))
	got := w.kill(w.host(), session, gently(sh.ID))
	if diff := cmp.Diff(shell.KillResult{Success: true, SignalSent: "none", Problem: "Shell already killed"}, got, answer); diff != "" {
		t.Error(diff)
	}
	// A number is not an id, and neither is that of a worker.
	ws, _, err := h.Workers(t.Context(), worker.Selection{Names: []string{sh.ID}})
	if err != nil {
		t.Fatal(err)
	}
	for _, id := range []string{strconv.Itoa(os.Getpid()), ws[0].ID, ""} {
		if res := w.kill(h, session, gently(id)); res.Problem != "Shell not found: "+id || res.Success {
			t.Errorf("kill of %q: %+v", id, res)
		}
	}
}

// TestKillTrees: the whole tree dies, not only bash.
func TestKillTrees(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	h := w.host()
	for name, command := range map[string]string{
		"like npm run dev": `sh -c 'sh -c "sleep 997 & sleep 998; :"; :' & echo ready; wait`,
		"double fork":      `(setsid sh -c 'sleep 997 & exec sleep 998' >/dev/null 2>&1 &); echo ready; exec sleep 999`,
		"in a pipeline":    `yes | sleep 997 | sleep 998 & echo ready; exec sleep 999`,
		"ignoring":         `trap '' TERM; (trap '' TERM INT HUP; sleep 997 & setsid sleep 998 & wait) & echo ready; wait`,
		"stopped":          `sleep 997 & sleep 998 & sleep 0.5; kill -STOP %1 $!; echo ready; wait`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := &world{T: t, state: w.state, dir: w.dir, mark: "SWARM_SHELL_TREE=" + t.TempDir()}
			sh := w.start(h, session, "export "+w.mark+"; "+command)
			w.until(h, session, sh.ID, "ready")
			w.wait("its children are there", func() bool { return len(w.alive()) >= 2 })
			got := w.kill(h, session, shell.KillRequest{ID: sh.ID, Signal: "SIGTERM", Force: true, Timeout: time.Second})
			if !got.Success || got.Shell.Status != shell.Killed {
				t.Errorf("%+v", got)
			}
			w.wantNone()
		})
	}
}

// TestKillTwice: two kills at once, and kills in a crowd with the shell's own exit:
// all are answered, and all agree on what became of it.
func TestKillTwice(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for range 5 {
		h := w.host()
		sh := w.start(h, session, `trap 'exit 0' TERM; echo ready; while :; do sleep 0.01; done`)
		w.until(h, session, sh.ID, "ready")
		results := make([]shell.KillResult, 4)
		together(len(results), func(i int) { results[i] = w.kill(w.host(), session, gently(sh.ID)) })
		for _, res := range results {
			sent := res.Problem == "" && res.ForceKilled != nil && !*res.ForceKilled && *res.ExitCode == 0
			late := res.Problem == "Process already terminated" || res.Problem == "Shell already killed"
			if !res.Success || res.Shell.Status != shell.Killed || !sent && !late {
				t.Errorf("%+v", res)
			}
		}
	}
}

func TestKillRacesTheExit(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	h := w.host()
	for i := range 12 {
		sh := w.start(h, session, "sleep 0.0"+strconv.Itoa(i)+"; exit 0")
		res := w.kill(h, session, gently(sh.ID))
		now := w.next(h, session, sh.ID, "").Shell
		if !res.Success || res.Shell.Status != now.Status {
			t.Errorf("%+v, and then %+v", res, now)
		}
		switch res.Problem {
		case "":
			if res.ExitCode == nil || res.SignalSent != "SIGTERM" {
				t.Errorf("%+v", res)
			}
		case "Shell already completed":
			if res.SignalSent != "none" || now.Status != shell.Completed {
				t.Errorf("%+v", res)
			}
		case "Process already terminated":
			if res.SignalSent != "SIGTERM" || now.Status != shell.Completed {
				t.Errorf("%+v", res)
			}
		default:
			t.Errorf("%+v", res)
		}
	}
}

// TestKillCancelled: who stops waiting leaves no half kill behind.
func TestKillCancelled(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	h := w.host()
	sh := w.start(h, session, `trap 'echo heard' TERM; echo ready; while :; do sleep 0.01; done`)
	w.until(h, session, sh.ID, "ready")
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var asking sync.WaitGroup
	asking.Go(func() {
		res, err := shell.Kill(ctx, h, session, shell.KillRequest{ID: sh.ID, Signal: "SIGTERM", Force: true, Timeout: time.Second})
		if err == nil && res.Success {
			t.Errorf("it waited: %+v", res)
		}
	})
	other := w.host()
	w.until(other, session, sh.ID, "heard")
	cancel()
	asking.Wait()
	if now, _ := w.ended(other, session, sh.ID); now.Status != shell.Killed {
		t.Errorf("%+v", now)
	}
	w.wantNone()
}

// TestOutputAfterKill: what a shell writes at its end is read.
func TestOutputAfterKill(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	h := w.host()
	sh := w.start(h, session, `trap 'echo bye; printf "no newline"; exit 1' TERM; echo ready; while :; do sleep 0.01; done`)
	w.until(h, session, sh.ID, "ready")
	w.kill(h, session, gently(sh.ID))
	if out := w.next(w.host(), session, sh.ID, ""); !strings.HasSuffix(out.Text, "bye\nno newline") || *out.Shell.ExitCode != 1 {
		t.Errorf("%+v", out)
	}
	if out := w.next(w.host(), session, sh.ID, ""); out.Text != "" {
		t.Errorf("read twice: %q", out.Text)
	}
}

// TestKillOfALostShell: a shell whose shim was killed and that lives on runs, and
// can be killed.
func TestKillOfALostShell(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	h := w.host()
	sh := w.start(h, session, `echo ready; exec sleep 999`)
	w.until(h, session, sh.ID, "ready")
	p, err := proc.Read(sh.PID)
	if err != nil {
		t.Fatal(err)
	}
	shimProc, err := proc.Identify(p.Parent)
	if err != nil {
		t.Fatal(err)
	}
	if err := shimProc.Signal(9); err != nil {
		t.Fatal(err)
	}
	if err := proc.AwaitEnd(t.Context(), shimProc); err != nil {
		t.Fatal(err)
	}
	if now := w.next(h, session, sh.ID, "").Shell; now.Status != shell.Running {
		t.Errorf("%+v", now)
	}
	res := w.kill(h, session, gently(sh.ID))
	if !res.Success || res.ExitCode != nil || res.Shell.Status == shell.Running {
		t.Errorf("%+v", res)
	}
	w.wantNone()
}

// together calls f n times at the same time.
func together(n int, f func(i int)) {
	var all sync.WaitGroup
	for i := range n {
		all.Go(func() { f(i) })
	}
	all.Wait()
}
