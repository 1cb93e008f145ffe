package workers

import (
	"cmp"
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/swarmhost/swarm/cmd/swarm/internal/command"
	"github.com/swarmhost/swarm/cmd/swarm/internal/output"
	"github.com/swarmhost/swarm/config"
	"github.com/swarmhost/swarm/host/spawn"
	"github.com/swarmhost/swarm/shared/swarm"
)

type policyFlags struct {
	remove  bool
	Retain  string
	Restart *command.ChoiceFlag
	delay   restartDelay
	budget  restartBudget
	owner   *int

	resurrect *bool
}

func (p *policyFlags) addTo(cmd *cobra.Command) {
	f := cmd.Flags()
	f.BoolVar(&p.remove, "rm", false, "forget the worker when it ends; its history stays. The same as --retain none")
	f.Var(command.Parsed(&p.Retain, "policy", parseRetain), "retain", "how long it stays listed after its end: until-clean, none, or a duration (default: until-clean)")
	p.Restart = command.Choice(cmd, "restart", "start it again when its main process ends", config.RestartNo,
		config.RestartNo, config.RestartOnFailure, config.RestartAlways)
	f.Var(command.Parsed(&p.delay, "min[:max]", parseDelay), "restart-delay", "first restart delay and its cap; it doubles each time (default: 1s:30s)")
	f.Var(command.Parsed(&p.budget, "number/time", parseBudget), "restart-budget", "at most this many restarts in this time; after that it stays down (default: 5/60s)")
	f.Var(command.Count(&p.owner, 0), "owner", "kill the worker when the process `PID` ends")
	command.YesNo(cmd, &p.resurrect, "resurrect", "have 'swarm resurrect --marked' start it again after a reboot (default: as the config says)")
	command.CompleteWith(cmd, "retain", config.RetainUntilClean, config.RetainNone, "1h")
}

func (p *policyFlags) check() error {
	switch {
	case p.remove && p.Retain != "" && p.Retain != config.RetainNone:
		return output.Usagef("--rm and --retain %s exclude each other", p.Retain)
	case p.Restart.Value == config.RestartNo && (p.delay != restartDelay{} || p.budget != restartBudget{}):
		return output.Usagef("--restart-delay and --restart-budget need --restart on-failure or --restart always")
	}
	return nil
}

func (p *policyFlags) set(r *spawn.Request, d config.Defaults) error {
	r.Retain = cmp.Or(p.Retain, d.Retain)
	if p.remove {
		r.Retain = config.RetainNone
	}
	r.Resurrect = output.ValueOr(p.resurrect, d.Resurrect)
	r.Own.Resurrect = r.Own.Resurrect || p.resurrect != nil
	if when := p.Restart.Value; when != config.RestartNo {
		r.Restart = swarm.Restart{
			When: swarm.RestartWhen(when), MinDelay: p.delay.least, MaxDelay: p.delay.most,
			Budget: p.budget.n, Window: p.budget.window,
		}
	}
	if p.owner != nil {
		owner, err := spawn.OwnerOf(*p.owner)
		if err != nil {
			return err
		}
		r.Owner = &owner
	}
	return nil
}

// parseRetain reads a retention policy.
func parseRetain(s string) (string, error) {
	if s == config.RetainUntilClean || s == config.RetainNone {
		return s, nil
	}
	d, err := config.ParseDuration(s)
	if err != nil {
		return "", fmt.Errorf("expected %s, %s or a duration such as 1h", config.RetainUntilClean, config.RetainNone)
	}
	return d.String(), nil
}

// restartDelay is the delay before restarts, the first and the longest; 0: not given.
type restartDelay struct{ least, most time.Duration }

// parseDelay reads "1s:30s". Without the second it is always the first.
func parseDelay(s string) (d restartDelay, err error) {
	first, last, both := strings.Cut(s, ":")
	if !both {
		last = first
	}
	if d.least, err = config.ParseDuration(first); err != nil {
		return d, err
	}
	d.most, err = config.ParseDuration(last)
	switch {
	case err != nil:
	case d.least <= 0:
		err = errors.New("the first delay must be longer than 0")
	case d.most < d.least:
		err = errors.New("the first delay is longer than the longest")
	}
	return d, err
}

// restartBudget is the number of restarts allowed in a time; 0: not given.
type restartBudget struct {
	n      int
	window time.Duration
}

// parseBudget reads "5/60s".
func parseBudget(s string) (b restartBudget, err error) {
	count, window, ok := strings.Cut(s, "/")
	if b.n, err = strconv.Atoi(count); !ok || err != nil || b.n < 1 {
		return b, errors.New("expected a number of restarts and a time, such as 5/60s")
	}
	b.window, err = config.ParseDuration(window)
	if err == nil && b.window <= 0 {
		err = errors.New("the time must be longer than 0")
	}
	return b, err
}

type readyFlags struct {
	wait    readyWait
	pattern *regexp.Regexp
	timeout *time.Duration
}

func (r *readyFlags) addTo(cmd *cobra.Command) {
	f := cmd.Flags()
	f.Var(command.Parsed(&r.wait, "strict", parseReadyWait), "ready-wait", "return when the worker shows that it is ready; with =strict, fail if it does not")
	f.Lookup("ready-wait").NoOptDefVal = readyYes
	f.Var(command.Pattern(&r.pattern), "ready-pattern", "regular expression that matches a line of its screen or output when it is ready (default: the prompt of its profile, or prompts of agents and shells)")
	f.Var(command.Duration(&r.timeout), "ready-timeout", "how long to wait for that (default: 2m)")
}

func (r *readyFlags) check() error {
	if r.wait == "" && (r.pattern != nil || r.timeout != nil) {
		return output.Usagef("--ready-pattern and --ready-timeout need --ready-wait")
	}
	return nil
}

// The values of --ready-wait.
const (
	readyYes    = "true"
	ReadyStrict = "strict"
)

// readyWait says whether to wait until a worker is ready, and whether it is an error if it is
// not; empty: do not wait.
type readyWait string

func parseReadyWait(s string) (readyWait, error) {
	switch s {
	case readyYes, ReadyStrict:
		return readyWait(s), nil
	case "false":
		return "", nil
	}
	return "", errors.New("expected --ready-wait or --ready-wait=strict")
}
