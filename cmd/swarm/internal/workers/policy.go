package workers

import (
	"cmp"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/swarmhost/swarm/cmd/swarm/internal/command"
	"github.com/swarmhost/swarm/cmd/swarm/internal/output"
	"github.com/swarmhost/swarm/config"
	"github.com/swarmhost/swarm/host/display"
	"github.com/swarmhost/swarm/host/spawn"
	"github.com/swarmhost/swarm/shared/swarm"
)

type policyFlags struct {
	remove  bool
	Retain  retainFlag
	Restart *command.ChoiceFlag
	delay   delayFlag
	budget  budgetFlag
	owner   command.CountFlag

	resurrect command.BoolFlag
}

func (p *policyFlags) addTo(cmd *cobra.Command) {
	f := cmd.Flags()
	f.BoolVar(&p.remove, "rm", false, "forget the worker when it ends; its history stays. The same as --retain none")
	f.Var(&p.Retain, "retain", "how long it stays listed after its end: until-clean, none, or a duration (default: until-clean)")
	p.Restart = command.Choice(cmd, "restart", "start it again when its main process ends", config.RestartNo,
		config.RestartNo, config.RestartOnFailure, config.RestartAlways)
	f.Var(&p.delay, "restart-delay", "first restart delay and its cap; it doubles each time (default: 1s:30s)")
	f.Var(&p.budget, "restart-budget", "at most this many restarts in this time; after that it stays down (default: 5/60s)")
	f.Var(&p.owner, "owner", "kill the worker when the process `PID` ends")
	p.resurrect.AddTo(cmd, "resurrect", "have 'swarm resurrect --marked' start it again after a reboot (default: as the config says)")
	command.CompleteWith(cmd, "retain", config.RetainUntilClean, config.RetainNone, "1h")
}

func (p *policyFlags) check() error {
	switch {
	case p.remove && p.Retain != "" && p.Retain != config.RetainNone:
		return output.Usagef("--rm and --retain %s exclude each other", p.Retain)
	case p.Restart.Value == config.RestartNo && (p.delay != delayFlag{} || p.budget != budgetFlag{}):
		return output.Usagef("--restart-delay and --restart-budget need --restart on-failure or --restart always")
	}
	return nil
}

func (p *policyFlags) set(r *spawn.Request, d config.Defaults) error {
	r.Retain = cmp.Or(string(p.Retain), d.Retain)
	if p.remove {
		r.Retain = config.RetainNone
	}
	r.Resurrect = output.ValueOr(p.resurrect.B, d.Resurrect)
	r.Own.Resurrect = r.Own.Resurrect || p.resurrect.B != nil
	if when := p.Restart.Value; when != config.RestartNo {
		r.Restart = swarm.Restart{
			When: swarm.RestartWhen(when), MinDelay: p.delay.least, MaxDelay: p.delay.most,
			Budget: p.budget.n, Window: p.budget.window,
		}
	}
	if p.owner.N != nil {
		owner, err := spawn.OwnerOf(*p.owner.N)
		if err != nil {
			return err
		}
		r.Owner = &owner
	}
	return nil
}

// retainFlag is a retention policy; empty: not given.
type retainFlag string

func (f *retainFlag) Set(s string) error {
	if s != config.RetainUntilClean && s != config.RetainNone {
		d, err := config.ParseDuration(s)
		if err != nil {
			return fmt.Errorf("expected %s, %s or a duration such as 1h", config.RetainUntilClean, config.RetainNone)
		}
		s = d.String()
	}
	*f = retainFlag(s)
	return nil
}
func (f *retainFlag) Type() string   { return "policy" }
func (f *retainFlag) String() string { return string(*f) }

// delayFlag is the delay before restarts: the first and the longest, as in
// "1s:30s". Without the second it is always the first. 0: not given.
type delayFlag struct{ least, most time.Duration }

func (f *delayFlag) Set(s string) error {
	first, last, both := strings.Cut(s, ":")
	if !both {
		last = first
	}
	least, err := config.ParseDuration(first)
	if err != nil {
		return err
	}
	most, err := config.ParseDuration(last)
	switch {
	case err != nil:
		return err
	case least <= 0:
		return errors.New("the first delay must be longer than 0")
	case most < least:
		return errors.New("the first delay is longer than the longest")
	}
	*f = delayFlag{least, most}
	return nil
}
func (f *delayFlag) Type() string   { return "min[:max]" }
func (f *delayFlag) String() string { return "" }

// budgetFlag is the number of restarts allowed in a time, as in "5/60s". 0 means not given.
type budgetFlag struct {
	n      int
	window time.Duration
}

func (f *budgetFlag) Set(s string) error {
	count, window, ok := strings.Cut(s, "/")
	n, err := strconv.Atoi(count)
	if !ok || err != nil || n < 1 {
		return errors.New("expected a number of restarts and a time, such as 5/60s")
	}
	d, err := config.ParseDuration(window)
	if err == nil && d <= 0 {
		err = errors.New("the time must be longer than 0")
	}
	*f = budgetFlag{n, d}
	return err
}
func (f *budgetFlag) Type() string   { return "number/time" }
func (f *budgetFlag) String() string { return "" }

type readyFlags struct {
	wait    readyWaitFlag
	pattern command.PatternFlag
	timeout command.DurationFlag
}

func (r *readyFlags) addTo(cmd *cobra.Command) {
	f := cmd.Flags()
	f.Var(&r.wait, "ready-wait", "return when the worker shows that it is ready; with =strict, fail if it does not")
	f.Lookup("ready-wait").NoOptDefVal = readyYes
	f.Var(&r.pattern, "ready-pattern", "regular expression that matches a line of its screen or output when it is ready (default: the prompt of its profile, or prompts of agents and shells)")
	f.Var(&r.timeout, "ready-timeout", "how long to wait for that (default: 2m)")
}

func (r *readyFlags) check() error {
	if !r.wait.on() && (r.pattern.Regexp != nil || r.timeout.D != nil) {
		return output.Usagef("--ready-pattern and --ready-timeout need --ready-wait")
	}
	return nil
}

func (r *readyFlags) request() display.ReadyRequest {
	timeout := output.ValueOr(r.timeout.D, display.DefaultReadyTimeout)
	return display.ReadyRequest{Pattern: r.pattern.Regexp, Timeout: timeout}
}

// The values of --ready-wait.
const (
	readyYes    = "true"
	ReadyStrict = "strict"
)

// readyWaitFlag says whether to wait until a worker is ready, and whether it is an
// error if it is not.
type readyWaitFlag string

func (f *readyWaitFlag) Set(s string) error {
	switch s {
	case readyYes, ReadyStrict:
		*f = readyWaitFlag(s)
	case "false":
		*f = ""
	default:
		return errors.New("expected --ready-wait or --ready-wait=strict")
	}
	return nil
}
func (f *readyWaitFlag) Type() string   { return "strict" }
func (f *readyWaitFlag) String() string { return string(*f) }
func (f *readyWaitFlag) on() bool       { return *f != "" }
func (f *readyWaitFlag) strict() bool   { return *f == ReadyStrict }
