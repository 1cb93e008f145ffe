package config

import (
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
		if err := l.ApplyLock(); err != nil {
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
