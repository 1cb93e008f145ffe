package command

import (
	"context"
	"errors"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/swarmhost/swarm/cmd/swarm/internal/app"
	"github.com/swarmhost/swarm/cmd/swarm/internal/output"
	"github.com/swarmhost/swarm/config"
	"github.com/swarmhost/swarm/host/worker"
	"github.com/swarmhost/swarm/shared/swarm"
)

// Parsed returns the value of a flag whose text is parsed into to; kind names it in the help.
func Parsed[V any](to *V, kind string, parse func(string) (V, error)) pflag.Value {
	return &parsed[V]{to: to, kind: kind, parse: parse}
}

type parsed[V any] struct {
	to         *V
	kind, text string
	parse      func(string) (V, error)
}

func (f *parsed[V]) Set(s string) error {
	v, err := f.parse(s)
	if err == nil {
		*f.to, f.text = v, s
	}
	return err
}
func (f *parsed[V]) Type() string   { return f.kind }
func (f *parsed[V]) String() string { return f.text }

// Percent is a number from 1 to 100.
func Percent(to *int) pflag.Value { return Parsed(to, "PERCENT", numberFrom(1, 100, "1 to 100")) }

// numberFrom returns a parser of numbers; expected describes them in the error.
func numberFrom(least, most int, expected string) func(string) (int, error) {
	return func(s string) (int, error) {
		n, err := strconv.Atoi(s)
		if err != nil || n < least || n > most {
			return 0, errors.New("expected a number from " + expected)
		}
		return n, nil
	}
}

// given returns a parser for a flag whose value is nil if it is not given.
func given[V any](parse func(string) (V, error)) func(string) (*V, error) {
	return func(s string) (*V, error) {
		v, err := parse(s)
		return &v, err
	}
}

// Duration is a duration as people write it; nil: not given.
func Duration(to **time.Duration) pflag.Value {
	return Parsed(to, "duration", given(config.ParseDuration))
}

var errWaitOver = errors.New("timed out")

// Limit returns a context that ends when the time ends; it has no deadline without a
// limit.
func Limit(ctx context.Context, limit *time.Duration) (context.Context, context.CancelFunc) {
	if limit == nil {
		return ctx, func() {}
	}
	over := fmt.Errorf("%w after %s", errWaitOver, config.FormatDuration(*limit))
	return context.WithTimeoutCause(ctx, *limit, over)
}

// Over returns the error for the user if err is due to the end of the time of [Limit], else nil.
func Over(waiting context.Context, err error) error {
	over := context.Cause(waiting)
	if err == nil || !errors.Is(over, errWaitOver) {
		return nil
	}
	return &output.CodeError{Code: output.ExitTimeout, Err: over}
}

// Count is a number from least on; nil: not given.
func Count(to **int, least int) pflag.Value {
	return Parsed(to, "number", given(numberFrom(least, math.MaxInt, strconv.Itoa(least))))
}

// YesNo adds a flag that may be given as --name, --name=true or --name=false; nil: not given.
func YesNo(cmd *cobra.Command, to **bool, name, usage string) {
	cmd.Flags().Var(Parsed(to, "bool", given(strconv.ParseBool)), name, usage)
	cmd.Flags().Lookup(name).NoOptDefVal = "true"
}

// Size is a number of bytes.
func Size(to *int64) pflag.Value { return Parsed(to, "size", config.ParseSize) }

// Signal is the full name of a signal.
func Signal(to *string) pflag.Value { return Parsed(to, "signal", swarm.ParseSignal) }

// Pattern is a regular expression; nil: not given.
func Pattern(to **regexp.Regexp) pflag.Value { return Parsed(to, "regexp", regexp.Compile) }

// ChoiceFlag is one of a few words.
type ChoiceFlag struct{ Value string }

// Choice adds a flag with completion.
func Choice(cmd *cobra.Command, name, usage, value string, words ...string) *ChoiceFlag {
	f := &ChoiceFlag{Value: value}
	addChoice(cmd, cmd.Flags(), &f.Value, name, usage, value, words)
	return f
}

// ColourFlag adds --color to a command and to all commands below it.
func ColourFlag(cmd *cobra.Command, value *string) {
	words := []string{output.ColourAuto, output.ColourAlways, output.ColourNever}
	addChoice(cmd, cmd.PersistentFlags(), value, "color", "when to print in colour", output.ColourAuto, words)
}

func addChoice(cmd *cobra.Command, flags *pflag.FlagSet, to *string, name, usage, value string, words []string) {
	flags.Var(&parsed[string]{to: to, kind: strings.Join(words, "|"), text: value, parse: func(s string) (string, error) {
		if !slices.Contains(words, s) {
			return "", errors.New("expected one of " + strings.Join(words, ", "))
		}
		return s, nil
	}}, name, usage)
	CompleteWith(cmd, name, words...)
}

// Selection are the arguments and flags that name workers.
type Selection struct {
	All bool
	tag string
	// Nothing is the error if no worker is selected; nil: wrong usage.
	Nothing error
}

func (s *Selection) AddTo(cmd *cobra.Command, a *app.App) {
	cmd.Flags().BoolVar(&s.All, "all", false, "all workers")
	cmd.Flags().StringVar(&s.tag, "tag", "", "the workers with this `TAG`")
	cmd.ValidArgsFunction = a.CompleteWorkers
}

// On returns the function of a verb that runs on the selected workers.
func (s *Selection) On(run func(context.Context, worker.Selection) error) func(*cobra.Command, []string) error {
	return func(cmd *cobra.Command, args []string) error {
		sel, err := s.Of(cmd, args)
		if err != nil {
			return err
		}
		return run(cmd.Context(), sel)
	}
}

// Of returns the selection, each name once.
func (s *Selection) Of(cmd *cobra.Command, names []string) (worker.Selection, error) {
	byTag := cmd.Flags().Changed("tag")
	switch {
	case len(names) > 0 && (s.All || byTag):
		return worker.Selection{}, output.Usagef("worker names and --all or --tag exclude each other")
	case s.All && byTag:
		return worker.Selection{}, output.Usagef("--all and --tag exclude each other")
	case byTag && s.tag == "":
		return worker.Selection{}, output.Usagef("--tag is empty")
	case len(names) == 0 && !s.All && !byTag:
		if s.Nothing != nil {
			return worker.Selection{}, s.Nothing
		}
		return worker.Selection{}, output.Usagef("must specify worker name, --all or --tag")
	}
	var once []string
	for _, name := range names {
		if !slices.Contains(once, name) {
			once = append(once, name)
		}
	}
	return worker.Selection{Names: once, All: s.All, Tag: s.tag}, nil
}

func KeyValue(entry string) (key, value string, err error) {
	key, value, ok := strings.Cut(entry, "=")
	if !ok || key == "" {
		return "", "", output.Usagef("invalid format '%s' (expected KEY=VAL)", entry)
	}
	return key, value, nil
}

// KillMode returns the mode of that name; ok is false for an empty or unknown name.
func KillMode(name string) (mode swarm.KillMode, ok bool) {
	for _, mode := range []swarm.KillMode{swarm.KillTree, swarm.KillMain} {
		if name == mode.String() {
			return mode, true
		}
	}
	return swarm.KillTree, false
}

// CompleteFlag offers what f returns for a flag. f gets no arguments of the command.
func CompleteFlag(cmd *cobra.Command, flag string, f cobra.CompletionFunc) {
	alone := func(cmd *cobra.Command, _ []string, typed string) ([]string, cobra.ShellCompDirective) {
		return f(cmd, nil, typed)
	}
	if err := cmd.RegisterFlagCompletionFunc(flag, alone); err != nil {
		panic(err) // the flag does not exist: a mistake in this program
	}
}

// CompleteWith offers fixed words for a flag.
func CompleteWith(cmd *cobra.Command, flag string, words ...string) {
	CompleteFlag(cmd, flag, cobra.FixedCompletions(words, cobra.ShellCompDirectiveNoFileComp))
}

// CompleteList offers fixed words for a flag whose value is a list with commas, each once.
func CompleteList(cmd *cobra.Command, flag string, words ...string) {
	CompleteFlag(cmd, flag, func(_ *cobra.Command, _ []string, typed string) ([]string, cobra.ShellCompDirective) {
		begun := ""
		if i := strings.LastIndexByte(typed, ','); i >= 0 {
			begun = typed[:i+1]
		}
		var offers []string
		for _, word := range words {
			if !slices.Contains(strings.Split(begun, ","), word) {
				offers = append(offers, begun+word)
			}
		}
		return offers, cobra.ShellCompDirectiveNoFileComp
	})
}
