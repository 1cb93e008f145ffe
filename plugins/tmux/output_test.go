package tmux

import (
	"fmt"
	"os/exec"
	"strings"
	"testing"
)

// TestOutputOfTheProgramItself has a program leave a process that holds its outputs open, as tmux
// does that starts a server. All that the program wrote is there, and nothing waits for the other.
func TestOutputOfTheProgramItself(t *testing.T) {
	t.Parallel()
	for i := range 20 {
		n := 1 << i / 2
		cmd := exec.CommandContext(t.Context(), "sh", "-c", fmt.Sprintf("sleep 600 & echo $!; head -c %d /dev/zero | tr '\\0' x; echo said >&2; exit 3", n))
		var out, said output
		err := run(cmd, &out, &said)
		pid, written, _ := strings.Cut(out.String(), "\n")
		if end := exec.CommandContext(t.Context(), "kill", pid).Run(); end != nil {
			t.Error(end)
		}
		if err == nil || err.Error() != "exit status 3" || written != strings.Repeat("x", n) || said.String() != "said\n" {
			t.Fatalf("%d of %d bytes, said %q, %v", len(written), n, &said, err)
		}
	}
}
