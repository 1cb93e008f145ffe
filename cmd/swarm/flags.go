package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/swarmhost/swarm/config"
	"github.com/swarmhost/swarm/host"
	"github.com/swarmhost/swarm/shared/swarm"
)

// durationFlag is a duration as people write it; nil: not given.
type durationFlag struct{ d *time.Duration }

func (f *durationFlag) Set(s string) error {
	d, err := config.ParseDuration(s)
	f.d = &d
	return err
}
func (f *durationFlag) Type() string { return "duration" }
func (f *durationFlag) String() string {
	if f.d == nil {
		return ""
	}
	return config.FormatDuration(*f.d)
}

// exitTimeout is the exit code of a verb whose time was over.
const exitTimeout = 124

var errWaitOver = errors.New("timed out")

// limit returns a context that ends when the time is over; without a limit it does
// not.
func (f *durationFlag) limit(ctx context.Context) (context.Context, context.CancelFunc) {
	if f.d == nil {
		return ctx, func() {}
	}
	return context.WithTimeoutCause(ctx, *f.d, errWaitOver)
}

// over returns what to say if err is because the time was over, else nil.
func (f *durationFlag) over(waiting context.Context, err error) error {
	if err == nil || !errors.Is(context.Cause(waiting), errWaitOver) {
		return nil
	}
	return &codeError{exitTimeout, fmt.Errorf("%w after %s", errWaitOver, config.FormatDuration(*f.d))}
}

// countFlag is a number from 0; nil: not given.
type countFlag struct{ n *int }

func (f *countFlag) Set(s string) error {
	n, err := strconv.Atoi(s)
	if err != nil || n < 0 {
		return errors.New("expected a number from 0")
	}
	f.n = &n
	return nil
}
func (f *countFlag) Type() string { return "number" }
func (f *countFlag) String() string {
	if f.n == nil {
		return ""
	}
	return strconv.Itoa(*f.n)
}

// percentFlag is a number from 1 to 100; 0: not given.
type percentFlag int

func (f *percentFlag) Set(s string) error {
	n, err := strconv.Atoi(s)
	if err != nil || n < 1 || n > 100 {
		return errors.New("expected a number from 1 to 100")
	}
	*f = percentFlag(n)
	return nil
}
func (f *percentFlag) Type() string { return "PERCENT" }
func (f *percentFlag) String() string {
	if *f == 0 {
		return ""
	}
	return strconv.Itoa(int(*f))
}

// sizeFlag is a number of bytes; 0: not given.
type sizeFlag int64

func (f *sizeFlag) Set(s string) error {
	n, err := config.ParseSize(s)
	*f = sizeFlag(n)
	return err
}
func (f *sizeFlag) Type() string   { return "size" }
func (f *sizeFlag) String() string { return "" }

// signalFlag is the full name of a signal; empty: not given.
type signalFlag string

func (f *signalFlag) Set(s string) error {
	name, err := swarm.ParseSignal(s)
	*f = signalFlag(name)
	return err
}
func (f *signalFlag) Type() string   { return "signal" }
func (f *signalFlag) String() string { return string(*f) }

// choiceFlag is one of a few words.
type choiceFlag struct {
	value string
	words []string
}

func (f *choiceFlag) Set(s string) error {
	if !slices.Contains(f.words, s) {
		return errors.New("expected one of " + strings.Join(f.words, ", "))
	}
	f.value = s
	return nil
}
func (f *choiceFlag) Type() string   { return strings.Join(f.words, "|") }
func (f *choiceFlag) String() string { return f.value }

// choice adds a flag with completion.
func choice(cmd *cobra.Command, name, usage, value string, words ...string) *choiceFlag {
	f := &choiceFlag{value: value, words: words}
	cmd.Flags().Var(f, name, usage)
	completeWith(cmd, name, words...)
	return f
}

// selection are the arguments and flags that name workers.
type selection struct {
	all bool
	tag string
	// nothing is the error if no worker is selected; nil: wrong usage.
	nothing error
}

func (s *selection) addTo(cmd *cobra.Command, a *app) {
	cmd.Flags().BoolVar(&s.all, "all", false, "all workers")
	cmd.Flags().StringVar(&s.tag, "tag", "", "the workers with this `TAG`")
	cmd.ValidArgsFunction = a.completeWorkers
}

// of returns what is selected; names are taken once each.
func (s *selection) of(cmd *cobra.Command, names []string) (host.Selection, error) {
	byTag := cmd.Flags().Changed("tag")
	switch {
	case len(names) > 0 && (s.all || byTag):
		return host.Selection{}, usagef("worker names and --all or --tag exclude each other")
	case s.all && byTag:
		return host.Selection{}, usagef("--all and --tag exclude each other")
	case byTag && s.tag == "":
		return host.Selection{}, usagef("--tag is empty")
	case len(names) == 0 && !s.all && !byTag:
		if s.nothing != nil {
			return host.Selection{}, s.nothing
		}
		return host.Selection{}, usagef("must specify worker name, --all or --tag")
	}
	var once []string
	for _, name := range names {
		if !slices.Contains(once, name) {
			once = append(once, name)
		}
	}
	return host.Selection{Names: once, All: s.all, Tag: s.tag}, nil
}
