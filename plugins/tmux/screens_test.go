package tmux

import (
	"fmt"
	"strings"
	"testing"

	"github.com/swarmhost/swarm/shared/shim"
)

// A look at 100 windows is one message to the tmux server.
func TestLookFits(t *testing.T) {
	t.Parallel()
	size := 0
	for i := range 100 {
		w := &look{handle: handle{Worker: shim.Worker{ID: strings.Repeat("i", 16)}, Window: fmt.Sprint("@", 1000+i), Pane: fmt.Sprint("%", 1000+i)}}
		for _, arg := range joined(w.commands(i, strings.Repeat("m", 16)+":", true)) {
			size += len(arg) + 1
		}
	}
	if size > longest {
		t.Errorf("the commands have %d bytes, at most %d fit", size, longest)
	}
}
