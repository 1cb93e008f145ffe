package main

import (
	"slices"
	"testing"

	"github.com/swarmhost/swarm/shared/environ"
)

// TestEnvironment: a worker does not get the variables of the connection that starts it, which would let it
// use the agent of a person's keys, and would be wrong once the connection has ended.
func TestEnvironment(t *testing.T) {
	t.Parallel()
	env := []string{
		"PATH=/bin", "SSH_AUTH_SOCK=/tmp/agent", "SSH_CONNECTION=a 1 b 2", "SSH_TTY=/dev/pts/1", "SWARM_TOKEN=x", "XDG_SESSION_ID=7", "XDG_RUNTIME_DIR=/run/user/0", "SSHD=kept",
	}
	want := []string{"PATH=/bin", "XDG_RUNTIME_DIR=/run/user/0", "SSHD=kept"}
	if got := environ.Without(env, ofConnection); !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

// TestArguments: arguments that are no call of swarm are refused.
func TestArguments(t *testing.T) {
	t.Parallel()
	for _, args := range [][]string{nil, {"help"}, {"serve", "more"}, {"install"}} {
		if err := run(args); err == nil {
			t.Errorf("%q is accepted", args)
		}
	}
}
