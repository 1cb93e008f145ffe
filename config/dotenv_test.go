package config

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestDotenvProblems(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	src := "GOOD=1\n9A=x\nB sesame\nC='x' y\nD=\"a\x00b\"\nE=\xff\nF='sesame\n"
	for name, content := range map[string]string{
		ProjectFile: "[workers.w]\ncommand = [\"x\"]\nenv_file = [\"none.env\", \"bad.env\", \".\"]\n",
		"bad.env":   src,
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	l, err := Load(Options{Project: filepath.Join(dir, ProjectFile)})
	if err != nil {
		t.Fatal(err)
	}
	_, ps := l.Environ("w")
	got := strings.Split(strings.ReplaceAll(ps.Error(), dir, "D"), "\n")
	want := []string{
		"D/swarm.toml:3:1: workers.w.env_file: no such file: D/none.env",
		"D/bad.env:2:1: expected a line NAME=value; a name has letters, digits and '_', and does not begin with a digit",
		"D/bad.env:3:3: expected '=' after the name",
		"D/bad.env:4:7: expected the end of the line after the quote",
		"D/bad.env:5:8: expected text in the value of D",
		"D/bad.env:6:4: expected text in the value of E",
		"D/bad.env:7:3: the quote is not closed",
		"D/swarm.toml:3:1: workers.w.env_file: D: not a regular file",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("problems (-want +got):\n%s", diff)
	}
	if strings.Contains(ps.Error(), "sesame") {
		t.Error("a problem shows a value")
	}
}

func TestEnvironPrecedence(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for name, content := range map[string]string{
		ProjectFile: "[workers.w]\ncommand = [\"x\"]\nenv_file = [\"a.env\", \"b.env\"]\nenv = { C = true, D = 4 }\n",
		"a.env":     "A=a\nB=a\nC=a\n",
		"b.env":     "B=b\nC=b\n",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	l, err := Load(Options{Project: filepath.Join(dir, ProjectFile)})
	if err != nil {
		t.Fatal(err)
	}
	got, ps := l.Environ("w")
	if diff := cmp.Diff([]string{"A=a", "B=b", "C=true", "D=4"}, got); ps != nil || diff != "" {
		t.Errorf("%v (-want +got):\n%s", ps, diff)
	}
}
