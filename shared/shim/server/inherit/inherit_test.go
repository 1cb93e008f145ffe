package inherit

import (
	"testing"

	"golang.org/x/sys/unix"
)

func limitOf(t *testing.T, number int) unix.Rlimit {
	t.Helper()
	var l unix.Rlimit
	if err := unix.Getrlimit(number, &l); err != nil {
		t.Fatal(err)
	}
	return l
}

// TestLend checks that a worker which is started meanwhile has the caller's soft limit, and this
// process its own again afterwards.
func TestLend(t *testing.T) {
	before := limitOf(t, unix.RLIMIT_NOFILE)
	in := Inherited{limits: []limit{{number: unix.RLIMIT_NOFILE, Rlimit: unix.Rlimit{Cur: 123, Max: before.Max}}}}
	takeBack := in.Lend()
	if got := limitOf(t, unix.RLIMIT_NOFILE).Cur; got != 123 {
		t.Errorf("lent: %d open files, want 123", got)
	}
	takeBack()
	if got := limitOf(t, unix.RLIMIT_NOFILE); got != before {
		t.Errorf("taken back: %v, want %v", got, before)
	}
}

// TestHinders checks that a limit under which a shim could fail is left for the second step of a start.
func TestHinders(t *testing.T) {
	before := limitOf(t, unix.RLIMIT_FSIZE)
	in := Inherited{limits: []limit{{number: unix.RLIMIT_FSIZE, Rlimit: unix.Rlimit{Cur: 4096, Max: before.Max}}}}
	defer in.Lend()()
	if got := limitOf(t, unix.RLIMIT_FSIZE); got != before {
		t.Errorf("a shim could write %d bytes only", got.Cur)
	}
	word := in.Apart()
	l, ok := parseLimit(word, ":")
	if !ok || l != in.limits[0] {
		t.Errorf("%q means %v, want %v", word, l, in.limits[0])
	}
}

func TestParseLimit(t *testing.T) {
	for _, text := range []string{"", "7", "7 1", "x 1 2", "7 -1 2", "7 1 2 3"} {
		if l, ok := parseLimit(text, " "); ok {
			t.Errorf("%q: %v, want a refusal", text, l)
		}
	}
}
