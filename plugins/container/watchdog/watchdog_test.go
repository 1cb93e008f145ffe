package watchdog

import (
	"os"
	"strings"
	"testing"

	"github.com/swarmhost/swarm/shared/proc"
)

func TestHear(t *testing.T) {
	t.Parallel()
	c := &command{}
	for _, line := range []string{"0123abcd", "17 4711 0a-boot"} {
		c.hear(line)
	}
	if want := (proc.Identity{PID: 17, Start: 4711, Boot: "0a-boot"}); c.exec != "0123abcd" || c.main != want {
		t.Errorf("it is %+v", c)
	}
}

// TestNothingToEnd has programs that ended before a command, and after it.
func TestNothingToEnd(t *testing.T) {
	t.Parallel()
	args := []string{"/no/such/socket", strings.Repeat("0", 64), "1", "10ms"}
	for _, said := range []string{"", "0123abcd\nended\n", "0123abcd\n17 4711 boot\nended\n"} {
		c := &command{}
		for line := range strings.Lines(said) {
			c.hear(strings.TrimSpace(line))
		}
		if code := Main(args, strings.NewReader(said)); code != 0 {
			t.Errorf("%q: exit code %d", said, code)
		}
	}
	if code := Main(args[:2], strings.NewReader("")); code == 0 {
		t.Error("it takes too few arguments")
	}
}

// TestForeign checks that a process outside of the container is not taken for one of it.
func TestForeign(t *testing.T) {
	t.Parallel()
	if id, ok := FirstProcess(os.Getpid(), strings.Repeat("0", 64)); ok {
		t.Errorf("it is %+v", id)
	}
}
