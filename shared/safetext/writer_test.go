package safetext_test

import (
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/swarmhost/swarm/shared/safetext"
)

func TestWriter(t *testing.T) {
	t.Parallel()
	var out strings.Builder
	in := "one\t" + c1 + "\ntwo" + osc + override + "\n"
	n, err := io.WriteString(safetext.Writer(&out), in)
	if n != len(in) || err != nil {
		t.Errorf("%d of %d bytes were written: %v", n, len(in), err)
	}
	if want := safetext.Block(in); out.String() != want {
		t.Errorf("%+q was written, want %+q", out.String(), want)
	}
	r, w := io.Pipe()
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := io.WriteString(safetext.Writer(w), in); !errors.Is(err, io.ErrClosedPipe) {
		t.Errorf("a writer that can't be written to: %v", err)
	}
}
