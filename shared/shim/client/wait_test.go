package client_test

import (
	"crypto/rand"
	"errors"
	"strings"
	"testing"
	"time"
)

// errEnough ends a read of output.
var errEnough = errors.New("enough")

func randomID() string { return strings.ToLower(rand.Text()[:8]) }

// eventually waits for a condition that is not announced.
func eventually(t *testing.T, what string, ok func() bool) {
	t.Helper()
	tick := time.NewTicker(2 * time.Millisecond)
	defer tick.Stop()
	deadline := time.After(20 * time.Second)
	for !ok() {
		select {
		case <-tick.C:
		case <-deadline:
			t.Fatalf("not in time: %s", what)
		}
	}
}
