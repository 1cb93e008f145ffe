package output

import (
	"bytes"
	"strings"
	"testing"

	"github.com/swarmhost/swarm/shared/swarm"
)

// A program that never ends its line costs no more memory than a part of it.
func TestLinesOfAnEndlessLine(t *testing.T) {
	t.Parallel()
	var text Reader
	for range 100 {
		text.Add(swarm.Output{Data: bytes.Repeat([]byte("x"), 8<<10), Partial: true})
		if n := len(text.Open()[0]); n > maxOpen {
			t.Fatalf("%d bytes are kept", n)
		}
	}
	text.Add(swarm.Output{Data: []byte("end")})
	if len(text.lines) != 1 || !strings.HasSuffix(text.lines[0], "xend") || len(text.Open()) > 0 {
		t.Errorf("%d lines", len(text.lines))
	}
}
