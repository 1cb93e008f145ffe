package statedir_test

import (
	"testing"
	"time"

	"github.com/swarmhost/swarm/host/statedir"
)

func TestIDs(t *testing.T) {
	t.Parallel()
	now := time.Now()
	a, b := statedir.NewID(now), statedir.NewID(now.Add(time.Millisecond))
	if len(a) != 16 || a >= b || a == statedir.NewID(now) {
		t.Errorf("ids %s, %s: want 16 digits in the order of time, and no two the same", a, b)
	}
}
