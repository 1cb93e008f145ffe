package proc

import (
	"errors"
	"os"
	"os/exec"
	"testing"
)

func none(Process) (bool, error) { return false, nil }

// A process with the same pid is not measured in the place of another.
func TestMeasureOfARecycledPID(t *testing.T) {
	t.Parallel()
	self, err := Read(os.Getpid())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Measure(self.Identity, none); err != nil {
		t.Fatal(err)
	}
	earlier := self
	earlier.Start--
	if _, err := Measure(earlier.Identity, none); !errors.Is(err, ErrGone) {
		t.Errorf("an earlier process: %v", err)
	}
	if _, err := MeasureCPU(earlier.Identity, none); !errors.Is(err, ErrGone) {
		t.Errorf("the CPU time of an earlier process: %v", err)
	}
	if m, ok := earlier.look(true); ok {
		t.Errorf("an earlier process has %+v", m)
	}
	if m, ok := self.look(true); !ok || m.peak < 1<<20 || m.pss <= 0 {
		t.Errorf("this process has %+v, %v", m, ok)
	}
}

// The figures of ended children are read only where a child has ended.
func TestHasReaped(t *testing.T) {
	t.Parallel()
	for script, want := range map[string]bool{
		"echo; read x":                     false,
		"/bin/true; echo; read x":          true,
		"(:); echo; read x":                true,
		"sleep 60 & echo; read x; kill $!": false,
	} {
		cmd := exec.Command("/bin/sh", "-c", script)
		in, err := cmd.StdinPipe()
		if err != nil {
			t.Fatal(err)
		}
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		if _, err := out.Read(make([]byte, 1)); err != nil {
			t.Fatal(err)
		}
		if p, err := Read(cmd.Process.Pid); err != nil || p.HasReaped != want {
			t.Errorf("%s: %v, %v", script, p.HasReaped, err)
		}
		_ = in.Close()
		if err := cmd.Wait(); err != nil {
			t.Logf("%s: %v", script, err)
		}
	}
}

func TestParseFigures(t *testing.T) {
	t.Parallel()
	const io = "rchar: 1\nwchar: 2\nsyscr: 3\nsyscw: 4\nread_bytes: 4096\nwrite_bytes: 8192\ncancelled_write_bytes: 5\n"
	if s, ok := parseIO([]byte(io)); !ok || s != (storage{4096, 8192}) {
		t.Errorf("%+v, %v", s, ok)
	}
	for _, text := range []string{"", "rchar: 1\nread_bytes: 4096\n", "rchar: 1\nread_bytes: x\nwrite_bytes: 1\n", "a\nread_bytes: 99999999999999999999\nwrite_bytes: 1\n"} {
		if s, ok := parseIO([]byte(text)); ok {
			t.Errorf("%q is read as %+v", text, s)
		}
	}
	if n, ok := kilobytes([]byte("1000-2000 ---p\nRss:  9 kB\nPss:               12 kB\n"), "Pss:"); !ok || n != 12<<10 {
		t.Errorf("%d, %v", n, ok)
	}
}
