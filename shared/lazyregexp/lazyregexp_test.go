package lazyregexp_test

import (
	"testing"

	"github.com/swarmhost/swarm/shared/lazyregexp"
)

func TestNew(t *testing.T) {
	wrong := lazyregexp.New("(") // nothing is compiled before it is used
	either := lazyregexp.New("^a", "b$")
	for text, want := range map[string]bool{"ax": true, "xb": true, "xax": false} {
		if either().MatchString(text) != want {
			t.Errorf("%q: got %v", text, !want)
		}
	}
	if first := either(); first != either() {
		t.Error("it is compiled more than once")
	}
	defer func() {
		if recover() == nil {
			t.Error("an expression that can't be compiled did not panic")
		}
	}()
	wrong()
}
