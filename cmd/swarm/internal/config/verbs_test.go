package config

import (
	"strings"
	"testing"

	"github.com/swarmhost/swarm/cmd/swarm/internal/apptest"
)

// "config init" writes the user's file once, and "config path" names it.
func TestInit(t *testing.T) {
	t.Parallel()
	a, stdout, _ := apptest.WithState(t)
	if err := runInit(a, false); err != nil {
		t.Fatal(err)
	}
	if err := runInit(a, false); err == nil || !strings.Contains(err.Error(), "exists") {
		t.Errorf("a second init: %v", err)
	}
	stdout.Reset()
	if err := runPath(a, false); err != nil || !strings.Contains(stdout.String(), a.Getenv("HOME")) {
		t.Errorf("path: %v, stdout %q", err, stdout)
	}
}
