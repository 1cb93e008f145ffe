package client_test

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/swarmhost/swarm/shared/proc"
	"github.com/swarmhost/swarm/shared/shim/client"
	"github.com/swarmhost/swarm/shared/shim/rundir"
	"github.com/swarmhost/swarm/shared/swarm"
)

// TestCrashOfTheMachine reads what a loss of power leaves in a run directory: content that was
// not synced may be missing, and so may a rename that was not.
func TestCrashOfTheMachine(t *testing.T) {
	t.Parallel()
	booted, err := proc.BootTime()
	if err != nil {
		t.Fatal(err)
	}
	before, restarted := booted.Add(-time.Hour), "machine restarted, exit unknown"
	const id = "1m83fmsvc23pwr8v"
	earlier := rundir.Status{
		Version: rundir.StatusVersion, ID: id, State: rundir.StateRunning,
		Shim: proc.Identity{PID: 10, Start: 20, Boot: "00000000-0000-4000-8000-000000000000"}, StartedNS: 1,
	}
	end := func(st rundir.Status) rundir.Status {
		st.State, st.Code, st.Cause, st.EndedNS = rundir.StateEnded, 7, swarm.CauseExited, 2
		return st
	}
	done := func(st rundir.Status) rundir.Status {
		st.Completion = &rundir.Completion{Summary: "done", TimeNS: 2}
		return st
	}
	other := earlier
	other.Shim.PID = 11
	stranger := earlier
	stranger.ID = "another"
	present := earlier
	self, err := proc.Self()
	if err != nil {
		t.Fatal(err)
	}
	present.Shim = self.Identity
	present.Shim.Start++ // it has ended
	text := func(st rundir.Status) string { return string(rundir.EncodeStatus(st)) }
	for name, c := range map[string]struct {
		status, final string
		written       time.Time
		want          swarm.State
		reason        string
		// update is the status of a write that was cut, and completed says that the worker has
		// completed.
		update    string
		completed bool
	}{
		"empty":                            {"", "", before, swarm.StateLost, restarted, "", false},
		"torn":                             {text(earlier)[:20], "\x00\x00", before, swarm.StateLost, restarted, "", false},
		"empty since the boot":             {"", "", time.Now(), swarm.StateUnknown, "", "", false},
		"empty, and the clock behind":      {"", "", booted.Add(time.Second), swarm.StateLost, restarted, "", false},
		"empty, of a clock ahead":          {"", "", time.Now().Add(time.Hour), swarm.StateLost, restarted, "", false},
		"empty, with the end":              {"", text(end(earlier)), before, swarm.StateExited, "", "", false},
		"empty, with the end of another":   {"", text(end(stranger)), before, swarm.StateLost, restarted, "", false},
		"without the rename":               {text(earlier), text(end(earlier)), before, swarm.StateExited, "", "", false},
		"with an empty end":                {text(earlier), "", before, swarm.StateLost, restarted, "", false},
		"with a torn end":                  {text(earlier), text(end(earlier))[:50], before, swarm.StateLost, restarted, "", false},
		"with the end of another shim":     {text(earlier), text(end(other)), before, swarm.StateLost, restarted, "", false},
		"on this boot":                     {text(present), text(end(present)), before, swarm.StateLost, "shim died, exit unknown", "", false},
		"a completion without the rename":  {text(earlier), "", before, swarm.StateLost, restarted, text(done(earlier)), true},
		"a completion of another shim":     {text(earlier), "", before, swarm.StateLost, restarted, text(done(other)), false},
		"a completion of another worker":   {text(earlier), "", before, swarm.StateLost, restarted, text(done(stranger)), false},
		"a torn completion":                {text(earlier), "", before, swarm.StateLost, restarted, text(done(earlier))[:90], false},
		"a torn update after a completion": {text(done(earlier)), "", before, swarm.StateLost, restarted, "\x00", true},
		"an update without a completion":   {text(done(earlier)), "", before, swarm.StateLost, restarted, text(earlier), true},
		"empty, with a completion":         {"", "", before, swarm.StateLost, restarted, text(done(earlier)), true},
		"a completion, and the end":        {text(earlier), text(end(done(earlier))), before, swarm.StateExited, "", text(done(earlier)), true},
		"a completion, and an end before":  {text(earlier), text(end(earlier)), before, swarm.StateExited, "", text(done(earlier)), false},
		"a completion since, on this boot": {text(present), "", before, swarm.StateLost, "shim died, exit unknown", text(done(present)), false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := filepath.Join(t.TempDir(), id)
			if err := os.Mkdir(dir, 0o700); err != nil {
				t.Fatal(err)
			}
			for file, content := range map[string]string{rundir.StatusFile: c.status, rundir.FinalFile: c.final, rundir.UpdateFile: c.update} {
				path := filepath.Join(dir, file)
				if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
					t.Fatal(err)
				}
				if err := os.Chtimes(path, c.written, c.written); err != nil {
					t.Fatal(err)
				}
			}
			st, err := client.Status(dir, id)
			if c.want == swarm.StateUnknown {
				if err == nil {
					t.Errorf("a damaged status is read as %+v", st)
				}
				return
			}
			if err != nil || st.State != c.want || st.Reason != c.reason {
				t.Errorf("status %+v, %v", st, err)
			}
			if c.want == swarm.StateExited && err == nil && st.Exit.Code != 7 {
				t.Errorf("exit %+v", st.Exit)
			}
			if (st.Completion != nil) != c.completed {
				t.Errorf("completion %+v", st.Completion)
			}
		})
	}
}
