package config

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestEnvPass(t *testing.T) {
	t.Parallel()
	file := write(t, "config.toml", "[env]\npass = [\"KEY\", \"OPEN_*\", \"SWARM_*\", \"TMUX\", \"LACKS\"]\nfile = \"keys\"\n")
	keys := filepath.Join(filepath.Dir(file), "keys")
	if err := os.WriteFile(keys, []byte("KEY=from file\nOPEN_A=a\nOPEN_B=b\nOTHER=x\nSWARM_TOKEN=t\nTMUX=x,1,2\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	l, err := Load(Options{User: file})
	if err != nil {
		t.Fatal(err)
	}
	got := l.Config.Env.Fill([]string{"OPEN_A=mine", "HOME=/h", "OPEN_B="})
	if diff := cmp.Diff([]string{"OPEN_A=mine", "HOME=/h", "OPEN_B=", "KEY=from file"}, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	for _, v := range l.Values() {
		if strings.Contains(v.Value, "from file") {
			t.Errorf("a value is shown: %+v", v)
		}
	}

	// The error names the problem in the file, but shows none of its values.
	if err := os.WriteFile(keys, []byte("KEY=a\nsecret secret\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	l, err = Load(Options{User: file})
	if err == nil || !strings.Contains(err.Error(), "keys:2:") || strings.Contains(err.Error(), "secret") || l.Config.Env.Values != nil {
		t.Errorf("%v, %v", err, l.Config.Env.Values)
	}
	if err := os.Chmod(keys, 0o666); err != nil {
		t.Fatal(err)
	}
	if _, err = Load(Options{User: file}); err == nil || !strings.Contains(err.Error(), "is not used") {
		t.Errorf("a file that others can write: %v", err)
	}
	if err := os.Remove(keys); err != nil {
		t.Fatal(err)
	}
	if _, err = Load(Options{User: file}); err == nil || !strings.Contains(err.Error(), "env.file: cannot read "+keys) {
		t.Errorf("no file: %v", err)
	}

	// A project's file has to be trusted for it.
	project := write(t, ProjectFile, "[env]\npass = [\"*\"]\nfile = \"keys\"\n")
	l, err = Load(Options{Project: project})
	if err != nil || l.Config.Env.File != "" || len(l.Ignored) != 2 {
		t.Errorf("%v, %+v, %+v", err, l.Config.Env, l.Ignored)
	}
}
