package pluginlock

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func aLock() *Lock {
	return &Lock{Format: 1, Plugins: []Plugin{
		{Name: "queue", Version: "1.2.0", Origin: "acme/queue", SignedBy: "RW", Builds: []Build{
			{OS: "linux", Arch: "amd64", Source: "https://h/x", SHA256: "ab", Files: []File{{"swarm-plugin-queue", "cd"}, {"VERSION", "ef"}}},
			{OS: "all", Arch: "all", Source: "https://h/y", SHA256: "12", Files: []File{{"swarm-plugin-queue", "34"}}},
		}},
		{Name: "own", Builds: []Build{{OS: "all", Arch: "all", Files: []File{{"bin/own", "56"}}}}},
	}}
}

// TestLockIsRead: what was written is read again, and damage is an error.
func TestLockIsRead(t *testing.T) {
	t.Parallel()
	project := filepath.Join(t.TempDir(), "swarm.toml")
	if l, err := Read(project); l != nil || err != nil {
		t.Errorf("no file: %v, %v", l, err)
	}
	path, err := aLock().Write(project)
	if err != nil || path != Path(project) {
		t.Fatal(path, err)
	}
	l, err := Read(project)
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
		if l, err := Read(project); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, %v", text, l, err)
		}
	}
}
