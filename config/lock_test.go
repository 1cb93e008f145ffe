package config

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func aLock() *Lock {
	return &Lock{Format: 1, Plugins: []LockedPlugin{
		{Name: "queue", Version: "1.2.0", Origin: "acme/queue", SignedBy: "RW", Builds: []LockedBuild{
			{OS: "linux", Arch: "amd64", Source: "https://h/x", SHA256: "ab", Files: []LockedFile{{"swarm-plugin-queue", "cd"}, {"VERSION", "ef"}}},
			{OS: "all", Arch: "all", Source: "https://h/y", SHA256: "12", Files: []LockedFile{{"swarm-plugin-queue", "34"}}},
		}},
		{Name: "own", Builds: []LockedBuild{{OS: "all", Arch: "all", Files: []LockedFile{{"bin/own", "56"}}}}},
	}}
}

// TestLockIsRead: what was written is read again, and damage is an error.
func TestLockIsRead(t *testing.T) {
	t.Parallel()
	project := filepath.Join(t.TempDir(), ProjectFile)
	if l, err := ReadLock(project); l != nil || err != nil {
		t.Errorf("no file: %v, %v", l, err)
	}
	path, err := aLock().Write(project)
	if err != nil || path != LockPath(project) {
		t.Fatal(path, err)
	}
	l, err := ReadLock(project)
	if diff := cmp.Diff(aLock(), l); diff != "" || err != nil {
		t.Errorf("%v, %s", err, diff)
	}
	for os, want := range map[string]string{"linux": "ab", "darwin": "12"} {
		if b := l.Plugin("queue").Build(os, "amd64"); b == nil || b.SHA256 != want {
			t.Errorf("%s: %+v", os, b)
		}
	}
	if l.Plugin("other") != nil || (*Lock)(nil).Plugin("queue") != nil {
		t.Error("a plugin that is not there")
	}
	for text, want := range map[string]string{"format = 2": "format 2", "": "format 0", "<<<<<<< HEAD": "swarm plugin lock"} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if l, err := ReadLock(project); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, %v", text, l, err)
		}
	}
}

// TestLockPicksVersions in a trusted project, where no file picks one.
func TestLockPicksVersions(t *testing.T) {
	t.Parallel()
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
	} {
		project := write(t, ProjectFile, tt.text)
		if _, err := aLock().Write(project); err != nil {
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
		if diff := cmp.Diff(want, l.ProjectPlugins()); diff != "" {
			t.Errorf("%q: %s", tt.text, diff)
		}
	}
}

// TestTrustedVersions are those of all projects that the user trusts.
func TestTrustedVersions(t *testing.T) {
	t.Parallel()
	store := Trust{Path: filepath.Join(t.TempDir(), "trusted")}
	first, second := write(t, ProjectFile, "[plugins.queue]\nversion = \"1.0.0\"\n"), write(t, ProjectFile, "")
	if _, err := aLock().Write(second); err != nil {
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
