package sets

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/swarmhost/swarm/cmd/swarm/internal/apptest"
	"github.com/swarmhost/swarm/cmd/swarm/internal/output"
	"github.com/swarmhost/swarm/host/kill"
	"github.com/swarmhost/swarm/host/registry"
	"github.com/swarmhost/swarm/host/set"
	"github.com/swarmhost/swarm/host/worker"
)

func TestUpRefusesFlagsThatExcludeEachOther(t *testing.T) {
	t.Parallel()
	for _, other := range []string{"--dry-run", "--json"} {
		a, stdout, _ := apptest.New()
		err := apptest.Run(t, NewUp(a), "--follow", other)
		if _, ok := errors.AsType[*output.UsageError](err); !ok || !strings.Contains(err.Error(), other) || stdout.Len() > 0 {
			t.Errorf("%s: %v, stdout %q", other, err, stdout)
		}
	}
}

// TestUpLines has a line for each thing that up can do with a worker.
func TestUpLines(t *testing.T) {
	t.Parallel()
	web := worker.Worker{Spec: registry.Spec{ID: "id-1", Name: "web"}, PID: 7}
	for want, test := range map[string]struct {
		out    set.Outcome
		dryRun bool
	}{
		"web is running as declared":            {out: set.Outcome{Name: "web", Action: set.Unchanged}},
		"web differs: command, cwd":             {out: set.Outcome{Name: "web", Action: set.Differs, Differs: []string{"command", "cwd"}}},
		"would start web":                       {set.Outcome{Name: "web", Action: set.Started}, true},
		"would respawn web":                     {set.Outcome{Name: "web", Action: set.Respawned}, true},
		"would recreate web (differs: command)": {set.Outcome{Name: "web", Action: set.Recreated, Differs: []string{"command"}}, true},
		"started web (pid: 7)":                  {out: set.Outcome{Name: "web", Action: set.Started, Worker: web}},
		"recreated web":                         {out: set.Outcome{Name: "web", Action: set.Recreated}},
	} {
		a, _, _ := apptest.New()
		u := upper{App: a, upOptions: &upOptions{dryRun: test.dryRun}}
		if got := u.line(test.out); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// TestUpReports has one error, one interruption and one worker that differs.
func TestUpReports(t *testing.T) {
	t.Parallel()
	a, stdout, stderr := apptest.New()
	u := upper{App: a, upOptions: &upOptions{}, progress: output.NewProgress(a.Err, a.ErrWidth)}
	for _, out := range []set.Outcome{
		{Name: "db", Action: set.Failed, Err: errors.New("no such directory")},
		{Name: "web", Err: context.Canceled},
		{Name: "api", Err: context.Canceled, Worker: worker.Worker{Spec: registry.Spec{ID: "id-1"}}},
		{Name: "log", Action: set.Differs, Differs: []string{"env (PORT)"}},
	} {
		u.acted(out)
	}
	if got := stdout.String(); got != "log differs: env (PORT)\n" {
		t.Errorf("stdout %q", got)
	}
	if got := stderr.String(); got != "swarm: error: no such directory\n" {
		t.Errorf("stderr %q", got)
	}
	// A worker that was started before the interruption is not one that was left.
	if diff := cmp.Diff([]string{"web"}, u.left); diff != "" || !u.failed || !u.differ {
		t.Errorf("left (-want +got):\n%s, failed %t, differ %t", diff, u.failed, u.differ)
	}
}

// TestUpJSON has ready only for a worker that was waited for, and lists that are never null.
func TestUpJSON(t *testing.T) {
	t.Parallel()
	a, _, _ := apptest.New()
	got, err := json.Marshal([]upJSON{
		upJSONOf(a, set.Outcome{Name: "web", Action: set.Started, Awaited: true}),
		upJSONOf(a, set.Outcome{Name: "db", Action: set.Failed, Differs: []string{"cwd"}, Err: errors.New("no")}),
	})
	want := `[{"name":"web","action":"started","differs":[],"ready":false,"error":null,"worker":null},` +
		`{"name":"db","action":"failed","differs":["cwd"],"ready":null,"error":"no","worker":null}]`
	if err != nil || string(got) != want {
		t.Errorf("%v\n%s\nwant\n%s", err, got, want)
	}
}

// TestOrphans has all kinds of workers that the file declares no more.
func TestOrphans(t *testing.T) {
	t.Parallel()
	a, stdout, stderr := apptest.New()
	o := orphans{App: a, project: "/home/me/swarm.toml", all: []worker.Worker{
		{Spec: registry.Spec{ID: "1", Name: "old"}, Status: worker.StatusRunning},
		{Spec: registry.Spec{ID: "2", Name: "done"}, Status: worker.StatusStopped},
		{Spec: registry.Spec{ID: "3", Name: "far"}, Status: worker.StatusUnknown},
	}}
	o.name()
	want := "swarm: warning: 'old' is running, and swarm.toml declares it no more\n" +
		"swarm: warning: 'done' has ended, and swarm.toml declares it no more\n" +
		"swarm: warning: 'far' is unknown, and swarm.toml declares it no more\n" +
		"swarm: 'swarm up --remove-orphans' and 'swarm down --remove-orphans' end and clean such workers\n"
	if diff := cmp.Diff(want, stderr.String()); diff != "" || stdout.Len() > 0 {
		t.Errorf("stderr (-want +got):\n%s, stdout %q", diff, stdout)
	}
	if len(o.found) != 3 || o.found[1].Action != actionOrphan {
		t.Errorf("found %+v", o.found)
	}

	o.found = nil
	o.remove(t.Context(), nil, true, false)
	if got := stdout.String(); got != "would remove old\nwould remove done\nwould remove far\n" || len(o.found) != 3 || o.result() != nil {
		t.Errorf("a dry run: stdout %q, found %+v", got, o.found)
	}
}

// TestKillOfOrphan joins the kill and the clean of an orphan.
func TestKillOfOrphan(t *testing.T) {
	t.Parallel()
	ended := worker.Worker{Spec: registry.Spec{Name: "done"}, Status: worker.StatusStopped}
	if got := killOf(set.Removal{Worker: ended}); !got.AlreadyEnded || got.Err != nil {
		t.Errorf("one that had ended: %+v", got)
	}
	failed := errors.New("no")
	r := set.Removal{
		Kill: &kill.Outcome{Warnings: []worker.Warning{{Text: "slow"}}}, Clean: &kill.Outcome{Warnings: []worker.Warning{{Text: "kept"}}}, Err: failed,
	}
	got := killOf(r)
	if diff := cmp.Diff([]worker.Warning{{Text: "slow"}, {Text: "kept"}}, got.Warnings); diff != "" || !errors.Is(got.Err, failed) || got.AlreadyEnded {
		t.Errorf("warnings (-want +got):\n%s, %+v", diff, got)
	}
	if len(r.Kill.Warnings) != 1 {
		t.Errorf("the kill was changed: %+v", r.Kill.Warnings)
	}
}

// TestNothingDeclared has a directory without a file.
func TestNothingDeclared(t *testing.T) {
	a, stdout, _ := apptest.WithState(t)
	t.Chdir(t.TempDir())
	for _, err := range []error{apptest.Run(t, NewUp(a)), apptest.Run(t, NewDown(a))} {
		if err == nil || !strings.Contains(err.Error(), "swarm.toml") || stdout.Len() > 0 {
			t.Errorf("%v, stdout %q", err, stdout)
		}
	}
}
