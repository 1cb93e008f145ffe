// Package gittest makes repositories for the tests of plugins/worktree, which alone import it.
package gittest

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// Config is the configuration of the user.
const Config = `
[user]
	name = A U Thor
	email = author@example.com
[safe]
	directory = *
[init]
	defaultBranch = main
[protocol "file"]
	allow = always
`

// Main gives the tests of a package a home of their own, where git has a user, and variables that
// must not matter to the code under test. It calls prepare, if that is not nil, with the home, and
// runs the tests.
func Main(m *testing.M, prepare func(home string) error) int {
	home, err := os.MkdirTemp("", "swarm-test-")
	if err != nil {
		panic(err)
	}
	defer func() { _ = os.RemoveAll(home) }()
	file := filepath.Join(home, "gitconfig")
	if err := os.WriteFile(file, []byte(Config), 0o600); err != nil {
		panic(err)
	}
	// For tests that run as another user.
	for path, mode := range map[string]os.FileMode{home: 0o755, file: 0o644} {
		if err := os.Chmod(path, mode); err != nil {
			panic(err)
		}
	}
	for k, v := range map[string]string{
		"HOME": home, "XDG_CONFIG_HOME": home, "GIT_CONFIG_GLOBAL": file, "GIT_CONFIG_NOSYSTEM": "1",
		"GIT_DIR": "/nonexistent", "GIT_WORK_TREE": "/nonexistent", "GIT_INDEX_FILE": "/nonexistent", "LC_ALL": "de_DE.UTF-8",
	} {
		if err := os.Setenv(k, v); err != nil {
			panic(err)
		}
	}
	if prepare != nil {
		if err := prepare(home); err != nil {
			panic(err)
		}
	}
	return m.Run()
}

// Env is the environment of a git as a user runs it.
func Env() []string {
	var env []string
	for _, kv := range os.Environ() {
		if !strings.HasPrefix(kv, "GIT_DIR=") && !strings.HasPrefix(kv, "GIT_WORK_TREE=") && !strings.HasPrefix(kv, "GIT_INDEX_FILE=") {
			env = append(env, kv)
		}
	}
	return env
}

// Run runs git in a directory and returns what it writes, without the last line break.
func Run(t testing.TB, dir string, args ...string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "git", args...)
	cmd.Dir, cmd.Env = dir, Env()
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("git %s in %s: %v\n%s", strings.Join(args, " "), dir, err, out)
	}
	return strings.TrimSuffix(string(out), "\n")
}

// Write writes a file, and makes the directories above it.
func Write(t testing.TB, dir, name, content string) {
	t.Helper()
	path := filepath.Join(dir, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
		t.Fatal(err)
	}
}

// New makes a repository with files, in one commit, and returns its directory.
func New(t testing.TB, files map[string]string) string {
	t.Helper()
	top, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(top, "repo")
	Run(t, top, "init", "-q", dir)
	for name, content := range files {
		Write(t, dir, name, content)
	}
	Run(t, dir, "add", "--all")
	Run(t, dir, "commit", "-qm", fmt.Sprintf("%d files", len(files)))
	return dir
}
