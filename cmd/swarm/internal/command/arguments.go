package command

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/swarmhost/swarm/cmd/internal/setup"
	"github.com/swarmhost/swarm/cmd/swarm/internal/output"
	"github.com/swarmhost/swarm/shared/humane"
)

// FlagError turns an error of the flag parser into a usage error.
func FlagError(cmd *cobra.Command, err error) error {
	if errors.Is(err, pflag.ErrHelp) {
		return err
	}
	if invalid, ok := errors.AsType[*pflag.InvalidValueError](err); ok {
		why := invalid.Unwrap()
		if _, ok := errors.AsType[*strconv.NumError](why); ok && invalid.GetFlag().Value.Type() == "bool" {
			why = errors.New("expected true or false")
		} else if ok {
			why = expectedNumber(invalid.GetFlag().Value.Type(), why)
		}
		return output.Usagef("invalid value '%s' for --%s: %s", invalid.GetValue(), invalid.GetFlag().Name, setup.Message(why))
	}
	return &output.UsageError{Text: err.Error(), Hint: CommandHint(cmd, cmd.Flags().Args())}
}

// expectedNumber returns what a flag of a type of numbers takes, in place of the text of strconv.
func expectedNumber(kind string, why error) error {
	what := "a number"
	switch {
	case strings.HasPrefix(kind, "int"):
		what = "a whole number"
	case strings.HasPrefix(kind, "uint"):
		what = "a whole number that is not negative"
	}
	if errors.Is(why, strconv.ErrRange) {
		return errors.New("out of range")
	}
	return errors.New("expected " + what)
}

// CommandHint returns a hint if the command of a worker was probably given without "--" in
// front of it; words are those before the unknown flag.
func CommandHint(cmd *cobra.Command, words []string) string {
	if !strings.Contains(cmd.Use, "-- COMMAND") || len(words) == 0 || cmd.ArgsLenAtDash() >= 0 {
		return ""
	}
	return fmt.Sprintf("the command and its flags come after '--': %s … -- %s …", cmd.CommandPath(), humane.Command(words))
}

// Arguments checks the number of arguments: between least and most, or any
// number from least on if most is negative. what names them in the message.
func Arguments(least, most int, what string) cobra.PositionalArgs {
	return func(_ *cobra.Command, args []string) error {
		switch {
		case len(args) < least && least > 1:
			return output.Usagef("missing arguments: %s", what)
		case len(args) < least:
			return output.Usagef("missing argument: %s", what)
		case most >= 0 && len(args) > most:
			return output.Usagef("unexpected argument '%s'", args[most])
		}
		return nil
	}
}

// OneText checks for one argument, a text of several words; it may be missing if least is 0.
// hint says that it is one argument.
func OneText(least int, what, hint string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		err := Arguments(least, 1, what)(cmd, args)
		if len(args) > 1 {
			err = output.WithHint(err, hint)
		}
		return err
	}
}
