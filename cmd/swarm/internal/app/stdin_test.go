package app

import (
	"strings"
	"testing"

	"github.com/swarmhost/swarm/shared/swarm"
)

func TestReadInput(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{"": "", "\n": "", "a": "a", "a\n": "a", "a\n\n": "a\n", "a\r\n": "a\r"} {
		if got, err := ReadInput(t.Context(), strings.NewReader(in), true); err != nil || string(got) != want {
			t.Errorf("%q: %q, %v; want %q", in, got, err, want)
		}
		if got, err := ReadInput(t.Context(), strings.NewReader(in), false); err != nil || string(got) != in {
			t.Errorf("%q without Enter: %q, %v", in, got, err)
		}
	}
	// More than there may be is read as more, not cut.
	got, err := ReadInput(t.Context(), strings.NewReader(strings.Repeat("x", swarm.MaxInput+9)), true)
	if err != nil || len(got) <= swarm.MaxInput {
		t.Errorf("%d bytes, %v", len(got), err)
	}
}
