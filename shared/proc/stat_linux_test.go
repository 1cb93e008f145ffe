package proc

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// A process may call itself anything.
func TestParseStat(t *testing.T) {
	t.Parallel()
	const rest = " S 1 2 3 0 -1 4194560 0 0 0 0 0 0 0 0 20 0 1 0 777 0 0 18446744073709551615 0\n"
	for _, name := range []string{"sh", "", ") S 9 9 9", "a b\nc", "(((", ")"} {
		p, ok := parseStat([]byte("42 (" + name + ")" + rest))
		if !ok || p.Name != name || p.PID != 42 || p.State != 'S' || p.Parent != 1 || p.Group != 2 || p.Session != 3 || p.Start != 777 {
			t.Errorf("%q: %+v, %v", name, p, ok)
		}
	}
	for _, line := range []string{"", "42", "42 (sh)", "42 (sh) S", "42 (sh) S 1 2 3", "x (sh)" + rest, "42 (sh) S x 2 3 0 -1 4194560 0 0 0 0 0 0 0 0 20 0 1 0 777 0", "(sh)" + rest} {
		if p, ok := parseStat([]byte(line)); ok {
			t.Errorf("%q is read as %+v", line, p)
		}
	}
}

// TestEnvOfExec is about a process that becomes another program again and again: its
// environment is there at each moment, though the kernel shows none while it starts one.
func TestEnvOfExec(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "again")
	// The file itself is not run: another test that starts a program at this moment has it
	// open for writing.
	if err := os.WriteFile(path, []byte("exec /bin/sh \"$0\"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("/bin/sh", path)
	cmd.Env = []string{"MARK=here"}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	for i := range 20000 {
		if value, ok, err := LookupEnv(cmd.Process.Pid, "MARK"); value != "here" || !ok || err != nil {
			t.Fatalf("look %d: %q, %t, %v", i, value, ok, err)
		}
		if HasClearedEnv(cmd.Process.Pid) {
			t.Fatalf("look %d: its environment looks cleared", i)
		}
	}
}

// A process may end between the look at its environment and that at why it is empty.
func TestEnvOfDying(t *testing.T) {
	t.Parallel()
	for range 300 {
		cmd := exec.Command("true")
		cmd.Env = []string{"MARK=here"}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		waited := make(chan struct{})
		go func() {
			_ = cmd.Wait()
			close(waited)
		}()
		for ended := false; !ended; {
			if value, _, err := LookupEnv(cmd.Process.Pid, "MARK"); value != "" && value != "here" || err != nil {
				t.Fatalf("%q, %v", value, err)
			}
			select {
			case <-waited:
				ended = true
			default:
			}
		}
	}
}
