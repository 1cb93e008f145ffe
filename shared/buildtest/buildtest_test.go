package buildtest_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/swarmhost/swarm/shared/buildtest"
)

// ownCache has the test keep programs in a directory of its own, and share the cache of go build.
func ownCache(t *testing.T) {
	t.Helper()
	gocache, err := exec.Command("go", "env", "GOCACHE").Output()
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv("GOCACHE", string(gocache[:len(gocache)-1]))
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
}

// TestProgram builds a program twice, the second time after its source has changed.
func TestProgram(t *testing.T) {
	ownCache(t)
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

// TestProgramsThatAreGone: a program whose package was removed is not among those of a pattern.
func TestProgramsThatAreGone(t *testing.T) {
	ownCache(t)
	t.Chdir(t.TempDir())
	write := func(name, text string) {
		t.Helper()
		if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("go.mod", "module example.com/hello\n\ngo 1.26\n")
	write("cmd/stays/main.go", "package main\n\nfunc main() {}\n")
	write("cmd/goes/main.go", "package main\n\nfunc main() {}\n")
	wantPrograms(t, "before", 2)
	if err := os.RemoveAll("cmd/goes"); err != nil {
		t.Fatal(err)
	}
	wantPrograms(t, "after", 1)
}

func wantPrograms(t *testing.T, dir string, want int) {
	t.Helper()
	if err := buildtest.Programs(dir, "./cmd/..."); err != nil {
		t.Fatal(err)
	}
	if built, err := os.ReadDir(dir); err != nil || len(built) != want {
		t.Errorf("%s: %v, %v, want %d", dir, built, err, want)
	}
}
