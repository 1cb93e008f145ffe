package locked

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/swarmhost/swarm/cmd/swarm/internal/app"
	"github.com/swarmhost/swarm/cmd/swarm/internal/apptest"
	"github.com/swarmhost/swarm/config"
	"github.com/swarmhost/swarm/config/pluginlock"
)

// project writes a project with a plugin of its own, and loads it as one that is trusted.
func project(t *testing.T) (a *app.App, dir string, load func() *config.Loaded) {
	t.Helper()
	a, _, _ = apptest.WithState(t)
	dir = t.TempDir()
	write(t, filepath.Join(dir, "bin/swarm-plugin-own"), "#!/bin/sh\n")
	path := filepath.Join(dir, config.ProjectFile)
	write(t, path, "[plugins.own]\ncommand = \"bin/swarm-plugin-own\"\n")
	return a, dir, func() *config.Loaded {
		t.Helper()
		l, err := config.Load(config.Options{Project: path, Trusted: func(string, []byte) bool { return true }})
		if err != nil {
			t.Fatal(err)
		}
		if err := l.ApplyLock(func(string, []byte) bool { return true }); err != nil {
			t.Fatal(err)
		}
		return l
	}
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o755); err != nil {
		t.Fatal(err)
	}
}

// TestProgramOfProject: the lock has the hash of a program of the project, and finds that it was changed.
func TestProgramOfProject(t *testing.T) {
	t.Parallel()
	a, dir, load := project(t)
	problems := func() string {
		t.Helper()
		s, err := Check(a, load())
		if err != nil {
			t.Fatal(err)
		}
		if (len(s.Problems) > 0) != (Ensure(t.Context(), a, load()) != nil) {
			t.Errorf("%v", s.Problems)
		}
		return strings.Join(s.Problems, "\n")
	}
	if got := problems(); got != "" {
		t.Errorf("without a lock: %s", got)
	}
	lock, err := Make(a, load())
	if err != nil {
		t.Fatal(err)
	}
	hash, err := pluginlock.Hash(filepath.Join(dir, "bin/swarm-plugin-own"))
	if err != nil {
		t.Fatal(err)
	}
	want := &pluginlock.Lock{Format: 1, Plugins: []pluginlock.Plugin{{
		Name: "own", Builds: []pluginlock.Build{{OS: "all", Arch: "all", Files: []pluginlock.File{{Path: "bin/swarm-plugin-own", SHA256: hash}}}},
	}}}
	if diff := cmp.Diff(want, lock); diff != "" {
		t.Error(diff)
	}
	if _, err := lock.Write(filepath.Join(dir, config.ProjectFile)); err != nil {
		t.Fatal(err)
	}
	if got := problems(); got != "" {
		t.Errorf("unchanged: %s", got)
	}
	write(t, filepath.Join(dir, "bin/swarm-plugin-own"), "#!/bin/bash\n")
	if got := problems(); !strings.Contains(got, "bin/swarm-plugin-own has the sha256 ") {
		t.Errorf("changed: %s", got)
	}
	want.Plugins[0].Builds[0].Files[0].Path = "../outside"
	want.Plugins = append(want.Plugins, pluginlock.Plugin{Name: "queue", Version: "1.0.0", Builds: []pluginlock.Build{{OS: "plan9", Arch: "mips"}}})
	if _, err := want.Write(filepath.Join(dir, config.ProjectFile)); err != nil {
		t.Fatal(err)
	}
	if got := problems(); !strings.Contains(got, "leads out of the project") || !strings.Contains(got, "swarm.lock has nothing for") {
		t.Errorf("strange: %s", got)
	}
	want.Plugins = nil
	if _, err := want.Write(filepath.Join(dir, config.ProjectFile)); err != nil {
		t.Fatal(err)
	}
	if got := problems(); got != "plugin 'own' is not in swarm.lock" {
		t.Errorf("left out: %s", got)
	}
}
