package workers

import (
	"os"
	"strconv"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/swarmhost/swarm/config"
	"github.com/swarmhost/swarm/shared/swarm"
)

func TestSpawnPolicies(t *testing.T) {
	t.Parallel()
	cfg := config.Default()
	cfg.Defaults.Retain = "1h0m0s"
	for _, c := range []struct {
		args    []string
		retain  string
		restart swarm.Restart
		stdin   bool
	}{
		{nil, "1h0m0s", swarm.Restart{}, false},
		{[]string{"--rm"}, "none", swarm.Restart{}, false},
		{[]string{"--rm", "--retain", "none"}, "none", swarm.Restart{}, false},
		{[]string{"--retain", "until-clean"}, "until-clean", swarm.Restart{}, false},
		{[]string{"--retain", "90"}, "1m30s", swarm.Restart{}, false},
		{[]string{"--stdin", "--restart", "no"}, "1h0m0s", swarm.Restart{}, true},
		{[]string{"--restart", "always"}, "1h0m0s", swarm.Restart{When: swarm.RestartAlways}, false},
		{
			args: []string{"--restart", "on-failure", "--restart-delay", "2:1m", "--restart-budget", "3/90s"}, retain: "1h0m0s",
			restart: swarm.Restart{When: swarm.RestartOnFailure, MinDelay: 2 * time.Second, MaxDelay: time.Minute, Budget: 3, Window: 90 * time.Second},
		},
		{
			args: []string{"--restart", "always", "--restart-delay", "100ms"}, retain: "1h0m0s",
			restart: swarm.Restart{When: swarm.RestartAlways, MinDelay: 100 * time.Millisecond, MaxDelay: 100 * time.Millisecond},
		},
	} {
		args := append([]string{"--name", "w"}, append(c.args, "--", "x")...)
		r, err := requestOf(t, cfg, args...)
		if err != nil {
			t.Errorf("%q: %v", c.args, err)
		}
		if r.Retain != c.retain || r.Stdin != c.stdin {
			t.Errorf("%q: retain %q, stdin %v", c.args, r.Retain, r.Stdin)
		}
		if diff := cmp.Diff(c.restart, r.Restart); diff != "" {
			t.Errorf("%q: restart (-want +got):\n%s", c.args, diff)
		}
	}
	r, err := requestOf(t, cfg, "--name", "w", "--owner", strconv.Itoa(os.Getpid()), "--", "x")
	if err != nil || r.Owner == nil || r.Owner.PID != os.Getpid() || r.Owner.Start == 0 {
		t.Errorf("the owner is %+v, %v", r.Owner, err)
	}
}

func TestSpawnPoliciesRefused(t *testing.T) {
	t.Parallel()
	for _, args := range [][]string{
		{"--rm", "--retain", "1h"},
		{"--retain", "sometimes"},
		{"--retain", "-1s"},
		{"--restart", "sometimes"},
		{"--restart-delay", "1s"},
		{"--restart", "no", "--restart-budget", "1/1s"},
		{"--restart", "always", "--restart-delay", "soon"},
		{"--restart", "always", "--restart-delay", "0"},
		{"--restart", "always", "--restart-delay", "2s:1s"},
		{"--restart", "always", "--restart-delay", "1s:"},
		{"--restart", "always", "--restart-budget", "many"},
		{"--restart", "always", "--restart-budget", "0/1m"},
		{"--restart", "always", "--restart-budget", "5/"},
		{"--restart", "always", "--restart-budget", "5/0s"},
		{"--owner", "me"},
		{"--owner", "-1"},
		{"--owner", "0"},
		{"--ready-timeout", "1s"},
		{"--ready-pattern", "x"},
		{"--ready-wait", "--ready-pattern", "("},
		{"--ready-wait", "--ready-timeout", "soon"},
	} {
		line := append([]string{"--name", "w"}, append(args, "--", "x")...)
		if r, err := requestOf(t, config.Default(), line...); err == nil {
			t.Errorf("%q is taken: %+v", args, r)
		}
	}
}
