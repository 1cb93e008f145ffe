package config

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/swarmhost/swarm/config/pluginlock"
)

// TestLockPicksVersions in a trusted project, where no file picks one.
func TestLockPicksVersions(t *testing.T) {
	t.Parallel()
	lock := &pluginlock.Lock{Format: 1, Plugins: []pluginlock.Plugin{{Name: "queue", Version: "1.2.0"}}}
	for _, tt := range []struct {
		text    string
		trusted bool
		want    string
	}{
		{"[workers.w]\ncommand = [\"x\"]\nbackend = \"queue\"\n", true, "1.2.0"},
		{"[workers.w]\ncommand = [\"x\"]\nbackend = \"queue\"\n", false, ""},
		{"[plugins.queue]\nversion = \"1.1.0\"\n", true, "1.1.0"},
		{"[plugins.queue]\ncommand = \"/x\"\n", true, ""},
		{"[plugins.queue]\nconfig = { a = 1 }\n", true, "1.2.0"},
		{"[workers.w]\ncommand = [\"x\"]\nworkspace = \"queue\"\n", true, "1.2.0"},
		{"[workers.w]\ncommand = [\"x\"]\nworkspace = { plugin = \"queue\" }\n", true, "1.2.0"},
		{"defaults.workspace = \"queue\"\n", true, "1.2.0"},
	} {
		project := write(t, ProjectFile, tt.text)
		if _, err := lock.Write(project); err != nil {
			t.Fatal(err)
		}
		l, err := Load(Options{Project: project, Trusted: func(string, []byte) bool { return tt.trusted }})
		if err != nil {
			t.Fatal(err)
		}
		before := l.Config.Plugins["queue"].Version
		if err := l.ApplyLock(func(string, []byte) bool { return true }); err != nil {
			t.Fatal(err)
		}
		if got := l.Config.Plugins["queue"].Version; got != tt.want || (l.Lock() != nil) != tt.trusted {
			t.Errorf("%q, trusted %t: version %q, lock %v", tt.text, tt.trusted, got, l.Lock())
		}
		if got := l.Unlocked()["queue"].Version; got != before {
			t.Errorf("%q: unlocked %q, want %q", tt.text, got, before)
		}
		var want []string
		if tt.trusted {
			want = []string{"queue"}
		}
		got := slices.DeleteFunc(l.ProjectPlugins(), func(name string) bool { return name == "process" }) // the default
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%q: %s", tt.text, diff)
		}
	}
}

// TestLockNeedsTrust of its own: a worker, or a pull, may have changed it alone, and with it which programs run.
func TestLockNeedsTrust(t *testing.T) {
	t.Parallel()
	store := Trust{Path: filepath.Join(t.TempDir(), "trusted")}
	text := []byte("[workers.w]\ncommand = [\"x\"]\n")
	project := write(t, ProjectFile, string(text))
	lock := &pluginlock.Lock{Format: 1, Plugins: []pluginlock.Plugin{{Name: "process", Version: "6.6.6"}}}
	path, err := lock.Write(project)
	if err != nil {
		t.Fatal(err)
	}
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	version := func() (string, error) {
		l, err := Load(Options{Project: project, Trusted: store.Has})
		if err != nil {
			t.Fatal(err)
		}
		err = l.ApplyLock(store.Has)
		return l.Config.Plugins["process"].Version, err
	}
	if err := store.Add(project, text, nil); err != nil {
		t.Fatal(err)
	}
	if v, err := version(); v != "" || !errors.Is(err, ErrUntrustedLock) {
		t.Errorf("before it is trusted: %q, %v", v, err)
	}
	if err := store.Add(path, content, nil); err != nil {
		t.Fatal(err)
	}
	if v, err := version(); v != "6.6.6" || err != nil {
		t.Errorf("trusted: %q, %v", v, err)
	}
	lock.Plugins[0].Version = "6.6.7"
	if _, err := lock.Write(project); err != nil {
		t.Fatal(err)
	}
	if v, err := version(); v != "" || !errors.Is(err, ErrUntrustedLock) {
		t.Errorf("after a change: %q, %v", v, err)
	}
}

// TestTrustedVersions are those of all projects that the user trusts.
func TestTrustedVersions(t *testing.T) {
	t.Parallel()
	store := Trust{Path: filepath.Join(t.TempDir(), "trusted")}
	first, second := write(t, ProjectFile, "[plugins.queue]\nversion = \"1.0.0\"\n"), write(t, ProjectFile, "")
	lock := &pluginlock.Lock{Format: 1, Plugins: []pluginlock.Plugin{{Name: "queue", Version: "1.2.0"}, {Name: "own"}}}
	if _, err := lock.Write(second); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{first, second, "/gone/" + ProjectFile, "/gone/bin/plugin"} {
		content, _ := os.ReadFile(path)
		if err := store.Add(path, content, map[string]string{"/a/program": "ab"}); err != nil {
			t.Fatal(err)
		}
	}
	got, err := TrustedVersions(store)
	if err != nil {
		t.Fatal(err)
	}
	if len(got["queue"]) != 2 || len(got["own"]) != 0 {
		t.Errorf("%v", got)
	}
	if store.Hashes()["/a/program"] != "ab" {
		t.Errorf("%v", store.Hashes())
	}
}
