package main

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/swarmhost/swarm/cmd/internal/setup"
	"github.com/swarmhost/swarm/config"
	"github.com/swarmhost/swarm/shared/errtext"
)

// The exit codes that are the same for all verbs.
const (
	exitFailed = 1
	exitUsage  = 2
)

// usageError is a command line that makes no sense.
type usageError struct{ text, hint string }

func (e *usageError) Error() string { return e.text }

func usagef(format string, args ...any) error {
	return &usageError{text: fmt.Sprintf(format, args...)}
}

// codeError ends the call with a code of its own. Without err all has been said.
type codeError struct {
	code int
	err  error
}

func (e *codeError) Error() string {
	if e.err == nil {
		return fmt.Sprintf("exit code %d", e.code)
	}
	return e.err.Error()
}

func (e *codeError) Unwrap() error { return e.err }

// failed ends the call with 1 after everything has been said.
var failed = &codeError{code: exitFailed}

// hintError adds what to do about err.
type hintError struct {
	err  error
	hint string
}

func (e *hintError) Error() string { return e.err.Error() }

func (e *hintError) Unwrap() error { return e.err }

// withHint adds what to do about err, unless it is a usage error that says so itself.
func withHint(err error, hint string) error {
	usage, ok := errors.AsType[*usageError](err)
	switch {
	case hint == "" || ok && usage.hint != "":
	case ok:
		usage.hint = hint
	default:
		return &hintError{err: err, hint: hint}
	}
	return err
}

// report tells what went wrong and returns the exit code: the one map from
// errors to messages and codes.
func (a *app) report(cmd *cobra.Command, err error) int {
	if err == nil {
		err = a.helpError
	}
	var code *codeError
	silent := err == nil || errors.As(err, &code) && code.err == nil
	if a.out.err != nil && (silent || errors.Is(err, a.out.err)) {
		err = fmt.Errorf("cannot write the output: %w", errtext.Cause(a.out.err))
	}
	var usage *usageError
	switch {
	case err == nil:
		return 0
	case errors.As(err, &usage):
		a.fail(usage)
		hint := usage.hint
		if hint == "" {
			hint = fmt.Sprintf("run '%s --help' for usage", cmd.CommandPath())
		}
		a.hint(hint)
		return exitUsage
	case errors.As(err, &code):
		if code.err != nil {
			a.fail(code.err)
		}
		return code.code
	default:
		a.fail(err)
		return exitFailed
	}
}

// fail prints one error line for err, or one for each of several.
func (a *app) fail(err error) {
	if problems, ok := errors.AsType[config.Problems](err); ok {
		for _, p := range problems {
			fmt.Fprintf(a.err, "swarm: error: %s\n", visible(p.Error()))
		}
		return
	}
	if joined, ok := err.(interface{ Unwrap() []error }); ok && isJoin(err, joined.Unwrap()) {
		for _, err := range joined.Unwrap() {
			a.fail(err)
		}
		return
	}
	fmt.Fprintf(a.err, "swarm: error: %s\n", visible(setup.Message(err)))
	if hint, ok := errors.AsType[*hintError](err); ok {
		a.hint(hint.hint)
	}
	if hinted, ok := errors.AsType[interface {
		error
		Hint() string
	}](err); ok {
		a.hint(hinted.Hint())
	}
	if near := a.suggestName(err); near != "" {
		a.hint(fmt.Sprintf("did you mean '%s'?", near))
	}
}

// isJoin tells an error of [errors.Join], which has no text of its own, from one
// that wraps several.
func isJoin(err error, parts []error) bool {
	joined := errors.Join(parts...) // nil without parts, as of an error that wraps nothing
	return joined != nil && err.Error() == joined.Error()
}

// flagError turns an error of the flag parser into a usage error.
func flagError(cmd *cobra.Command, err error) error {
	if errors.Is(err, pflag.ErrHelp) {
		return err
	}
	if invalid, ok := errors.AsType[*pflag.InvalidValueError](err); ok {
		why := invalid.Unwrap()
		if _, ok := errors.AsType[*strconv.NumError](why); ok && invalid.GetFlag().Value.Type() == "bool" {
			why = errors.New("expected true or false")
		}
		return usagef("invalid value '%s' for --%s: %s", invalid.GetValue(), invalid.GetFlag().Name, setup.Message(why))
	}
	return &usageError{text: err.Error(), hint: commandHint(cmd, cmd.Flags().Args())}
}

// commandHint says where a command line goes, if it was probably given without "--"
// in front of it; words are those before the flag that was not understood.
func commandHint(cmd *cobra.Command, words []string) string {
	if !strings.Contains(cmd.Use, "-- COMMAND") || len(words) == 0 || cmd.ArgsLenAtDash() >= 0 {
		return ""
	}
	for i, word := range words {
		words[i] = quoted(word)
	}
	return fmt.Sprintf("the command and its flags come after '--': %s … -- %s …", cmd.CommandPath(), strings.Join(words, " "))
}

// arguments checks the number of arguments: between least and most, or any
// number from least on if most is negative. what names them in the message.
func arguments(least, most int, what string) cobra.PositionalArgs {
	return func(_ *cobra.Command, args []string) error {
		switch {
		case len(args) < least:
			return usagef("missing argument: %s", what)
		case most >= 0 && len(args) > most:
			return usagef("unexpected argument '%s'", args[most])
		}
		return nil
	}
}
