package buildtest_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/swarmhost/swarm/shared/buildtest"
)

// TestProgram builds a program twice, the second time after its source has changed.
func TestProgram(t *testing.T) {
	gocache, err := exec.Command("go", "env", "GOCACHE").Output()
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv("GOCACHE", string(gocache[:len(gocache)-1]))
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	dir := t.TempDir()
	t.Chdir(dir)
	write := func(name, text string) {
		t.Helper()
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("go.mod", "module example.com/hello\n\ngo 1.26\n")
	for _, want := range []string{"one", "two"} {
		write("main.go", "package main\n\nfunc main() { print(\""+want+"\") }\n")
		path := filepath.Join(dir, "bin", "greeter")
		if err := buildtest.Program(path, "."); err != nil {
			t.Fatal(err)
		}
		if out, err := exec.Command(path).CombinedOutput(); err != nil || string(out) != want {
			t.Errorf("%q, %v, want %q", out, err, want)
		}
		// The changes of a test to its program do not affect the next test.
		write(path, "broken")
	}
	write("main.go", "package main\n\nfunc main() {\n")
	if err := buildtest.Programs(filepath.Join(dir, "bin"), "."); err == nil {
		t.Error("no error for a package that does not compile")
	}
}
