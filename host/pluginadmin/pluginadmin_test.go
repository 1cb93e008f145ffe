package pluginadmin_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/swarmhost/swarm/host/backend"
	"github.com/swarmhost/swarm/host/catalog"
	"github.com/swarmhost/swarm/host/hosttest"
	"github.com/swarmhost/swarm/host/kill"
	"github.com/swarmhost/swarm/host/pluginadmin"
	"github.com/swarmhost/swarm/host/worker"
	"github.com/swarmhost/swarm/shared/plugin/client"
	"github.com/swarmhost/swarm/shared/swarm"
)

// queue adds a backend to those that the rig can start, and returns a file of its name.
func queue(t *testing.T, r *hosttest.Rig, version string) (path string) {
	t.Helper()
	r.Starter.Peers["queue"] = &backend.Peer{
		Info:    client.Info{Name: "queue", Kind: client.KindBackend, Version: version, Contract: 1},
		Backend: r.Two, Report: func(context.Context) (string, error) { return "", nil },
	}
	path = filepath.Join(t.TempDir(), "swarm-plugin-queue")
	// The first two bytes make it a program of no machine in particular; nothing runs it.
	if err := os.WriteFile(path, []byte("#!/bin/sh\n# "+version+"\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	return path
}

func install(t *testing.T, r *hosttest.Rig, version string) pluginadmin.Installed {
	t.Helper()
	got, err := r.Plugins().Install(t.Context(), pluginadmin.InstallRequest{Source: queue(t, r, version)})
	if err != nil {
		t.Fatal(err)
	}
	return got
}

func TestList(t *testing.T) {
	t.Parallel()
	r := hosttest.New(t)
	r.Starter.Peers["one"].Report = func(context.Context) (string, error) { return "tmux 3.5", nil }
	r.Starter.Errors["two"] = swarm.ErrUnavailable
	if err := os.Chmod(filepath.Join(r.Root, "bin", "swarm-plugin-worktree"), 0o777); err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, s := range r.Plugins().List(t.Context()) {
		got = append(got, strings.Join([]string{s.Name, s.Kind, s.Uses}, " "))
		if (s.Err == nil) != (s.Name == "one") {
			t.Errorf("%s: %v", s.Name, s.Err)
		}
		if s.Name == "one" && (!s.Local || !slices.Contains(s.Capabilities, "find") || s.Path != filepath.Join(r.Root, "bin", "swarm-plugin-one")) {
			t.Errorf("%+v", s)
		}
	}
	if diff := cmp.Diff([]string{"one backend tmux 3.5", "two  ", "worktree  "}, got); diff != "" {
		t.Errorf("plugins (-want +got):\n%s", diff)
	}
	if r.Starter.Started["worktree"] > 0 {
		t.Error("a plugin that others can write was started")
	}
}

func TestShow(t *testing.T) {
	t.Parallel()
	r := hosttest.New(t)
	d, err := r.Plugins().Show(t.Context(), "two")
	if err != nil || d.Name != "two" || d.Kind != "backend" || d.Local || d.Configured || len(d.Command) != 1 {
		t.Errorf("%+v, %v", d, err)
	}
	var missing *catalog.NotFoundError
	if _, err := r.Plugins().Show(t.Context(), "ghost"); !errors.As(err, &missing) || !slices.Contains(missing.Known, "two") {
		t.Errorf("an unknown name: %v", err)
	}
}

func TestInstall(t *testing.T) {
	t.Parallel()
	r := hosttest.New(t)
	got := install(t, r, "1.2.0")
	if got.Name != "queue" || got.Version != "1.2.0" || got.Kind != "backend" || got.Hidden != "" || got.Newer != "" || got.Prerelease {
		t.Errorf("installed %+v", got)
	}
	if again := install(t, r, "1.2.0"); !again.Already {
		t.Errorf("installed again: %+v", again)
	}
	if older := install(t, r, "1.1.0"); older.Newer != "1.2.0" {
		t.Errorf("an older version: %+v", older)
	}
	if next := install(t, r, "2.0.0-rc.1"); !next.Prerelease || next.Newer != "1.2.0" {
		t.Errorf("a pre-release: %+v", next)
	}
	if d, err := r.Plugins().Show(t.Context(), "queue"); err != nil || d.Installed == nil || !cmp.Equal(d.Versions, []string{"2.0.0-rc.1", "1.2.0", "1.1.0"}) {
		t.Errorf("%+v, %v", d, err)
	}
	// One next to swarm is found first.
	hidden := filepath.Join(r.Root, "bin", "swarm-plugin-queue")
	if err := os.WriteFile(hidden, nil, 0o700); err != nil {
		t.Fatal(err)
	}
	if got := install(t, r, "1.3.0"); got.Hidden != hidden {
		t.Errorf("hidden by %q", got.Hidden)
	}
}

// TestInstallRefuses installs nothing of a plugin that has another name or does not start.
func TestInstallRefuses(t *testing.T) {
	t.Parallel()
	r := hosttest.New(t)
	path := queue(t, r, "1.0.0")
	r.Starter.Errors["queue"] = &catalog.NameError{Name: "queue", Path: path, Theirs: "stack"}
	if _, err := r.Plugins().Install(t.Context(), pluginadmin.InstallRequest{Source: path}); err == nil || !strings.Contains(err.Error(), `expected the name "queue", the plugin reports "stack"`) {
		t.Errorf("of another name: %v", err)
	}
	boom := errors.New("boom")
	r.Starter.Errors["queue"] = boom
	if _, err := r.Plugins().Install(t.Context(), pluginadmin.InstallRequest{Source: path}); !errors.Is(err, boom) {
		t.Errorf("that does not start: %v", err)
	}
	if verdicts, err := r.Plugins().Verify(""); err != nil || verdicts != nil {
		t.Errorf("installed were %+v, %v", verdicts, err)
	}
}

func TestRemove(t *testing.T) {
	t.Parallel()
	r := hosttest.New(t)
	install(t, r, "1.0.0")
	install(t, r, "2.0.0")
	r.MustSpawn(t, "w", "queue")
	remove := func(req pluginadmin.RemoveRequest) error {
		req.Name = "queue"
		_, err := r.Plugins().Remove(t.Context(), req)
		return err
	}
	var versions *pluginadmin.VersionsError
	if err := remove(pluginadmin.RemoveRequest{}); !errors.As(err, &versions) || len(versions.Versions) != 2 {
		t.Errorf("one of two: %v", err)
	}
	var unknown *catalog.VersionError
	if err := remove(pluginadmin.RemoveRequest{Version: "3.0.0"}); !errors.As(err, &unknown) {
		t.Errorf("a version that is not installed: %v", err)
	}
	if err := remove(pluginadmin.RemoveRequest{Version: "v1.0.0"}); err != nil {
		t.Errorf("while another version owns the worker: %v", err)
	}
	var used *pluginadmin.InUseError
	if err := remove(pluginadmin.RemoveRequest{}); !errors.As(err, &used) || used.Workers != 1 {
		t.Errorf("the last one, of a running worker: %v", err)
	}
	if got, err := r.Plugins().Remove(t.Context(), pluginadmin.RemoveRequest{Name: "queue", Force: true}); err != nil || !cmp.Equal(got, []string{"2.0.0"}) {
		t.Errorf("by force: removed %q, %v", got, err)
	}
	var missing *catalog.NotFoundError
	if err := remove(pluginadmin.RemoveRequest{}); !errors.As(err, &missing) {
		t.Errorf("what is not there: %v", err)
	}
	if _, err := r.Plugins().Remove(t.Context(), pluginadmin.RemoveRequest{Name: "one"}); err == nil || !strings.Contains(err.Error(), "'swarm plugin install' did not install") {
		t.Errorf("what was not installed: %v", err)
	}
}

// TestRemoveUnused removes the last version where no worker of the plugin runs, or where the plugin
// is found elsewhere, too.
func TestRemoveUnused(t *testing.T) {
	t.Parallel()
	for what, arrange := range map[string]func(r *hosttest.Rig) error{
		"no worker runs": func(r *hosttest.Rig) error {
			return hosttest.KillErrors(r.MustKill(t, worker.Selection{All: true}, kill.Request{}))
		},
		"another one owns the worker": func(r *hosttest.Rig) error {
			return os.WriteFile(filepath.Join(r.Root, "bin", "swarm-plugin-queue"), nil, 0o700)
		},
	} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			r := hosttest.New(t)
			install(t, r, "1.0.0")
			r.MustSpawn(t, "w", "queue")
			if err := arrange(r); err != nil {
				t.Fatal(err)
			}
			if _, err := r.Plugins().Remove(t.Context(), pluginadmin.RemoveRequest{Name: "queue"}); err != nil {
				t.Error(err)
			}
		})
	}
}

func TestVerify(t *testing.T) {
	t.Parallel()
	r := hosttest.New(t)
	fine, changed := install(t, r, "1.0.0"), install(t, r, "2.0.0")
	if err := os.WriteFile(filepath.Join(changed.Dir, "swarm-plugin-queue"), []byte("#!/bin/false\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"", "queue"} {
		verdicts, err := r.Plugins().Verify(name)
		if err != nil || len(verdicts) != 2 {
			t.Fatalf("%+v, %v", verdicts, err)
		}
		for _, v := range verdicts {
			if (len(v.Problems) == 0) != (v.Version == fine.Version) {
				t.Errorf("%s: %q", v.Version, v.Problems)
			}
		}
	}
	if started := r.Starter.Started["queue"]; started != 2 {
		t.Errorf("the plugin was started %d times, want 2, for the installations", started)
	}
	if _, err := r.Plugins().Verify("one"); err == nil {
		t.Error("a plugin that was not installed was verified")
	}
}
