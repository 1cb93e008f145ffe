// Package conformance checks a built plugin against the contract, with the cases of
// [github.com/swarmhost/swarm/shared/plugin/plugintest], as `swarm plugin check`: it turns a name or
// a path into a plugin, and the results of the cases into a table or JSON.
package conformance

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os/exec"
	"os/signal"
	"regexp"
	"strings"
	"syscall"

	"github.com/swarmhost/swarm/cmd/internal/setup"
	"github.com/swarmhost/swarm/shared/plugin/plugintest"
	"github.com/swarmhost/swarm/shared/plugin/plugintest/script"
)

const (
	exitFailed = 1
	exitUsage  = 2
)

type options struct {
	swarm, version string
	json, verbose  bool
	only           *regexp.Regexp // nil: all
	parallel       int
	workers        int
	command        string
	base           string
	handles        string
	options        map[string]string
	target         string
}

// Run checks a plugin with the arguments of its command line, and returns the exit code.
func Run(args []string, out, errs io.Writer, env []string) int {
	o, err := parse(args, errs)
	switch {
	case errors.Is(err, flag.ErrHelp):
		return 0
	case err != nil:
		setup.Finish(err, errs)
		return exitUsage
	}
	// After a signal, the running cases are ended and cleaned up.
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP)
	defer stop()
	ok, err := o.check(ctx, setup.Setup{Env: env, Program: o.swarm}, out, errs)
	if err == nil && ctx.Err() != nil {
		err = errors.New("interrupted: not all rules were checked")
	}
	if err == nil && !ok {
		return exitFailed
	}
	return setup.Finish(err, errs)
}

func parse(args []string, errs io.Writer) (*options, error) {
	o := &options{options: map[string]string{}}
	flags := flag.NewFlagSet("check", flag.ContinueOnError)
	flags.SetOutput(io.Discard)
	flags.StringVar(&o.swarm, "swarm", "", "`path` of swarm, next to which plugins are looked for")
	flags.StringVar(&o.version, "version", "", "`version` that this program must have")
	flags.BoolVar(&o.json, "json", false, "print the results as JSON")
	flags.BoolVar(&o.verbose, "verbose", false, "print rules that say nothing about the plugin, and its log")
	flags.IntVar(&o.parallel, "parallel", 8, "`number` of cases at the same time")
	flags.IntVar(&o.workers, "workers", 0, "`number` of workers in the case about many")
	flags.StringVar(&o.command, "command", "", "`words` that run a script of the kit")
	flags.StringVar(&o.base, "base", gitBase, "shell `command` that makes a base for workspaces")
	flags.StringVar(&o.handles, "handles", "", "`file` of handles of older versions")
	flags.Func("run", "run the cases whose names match the `expression`", func(text string) (err error) {
		o.only, err = regexp.Compile(text)
		return err
	})
	flags.Func("option", "`KEY=VALUE` for the spec of every worker", func(text string) error {
		key, value, ok := strings.Cut(text, "=")
		if !ok || key == "" {
			return errors.New("expected KEY=VALUE")
		}
		o.options[key] = value
		return nil
	})
	err := flags.Parse(args)
	if errors.Is(err, flag.ErrHelp) {
		fmt.Fprintln(errs, "Usage: swarm-serve check [flags] PATH|NAME")
		flags.SetOutput(errs)
		flags.PrintDefaults()
	}
	if err != nil {
		return nil, err
	}
	if flags.NArg() != 1 {
		return nil, errors.New("expected one plugin, a path or a name")
	}
	o.target = flags.Arg(0)
	if err := setup.CheckVersion(o.version); err != nil {
		return nil, err
	}
	return o, nil
}

func (o *options) check(ctx context.Context, s setup.Setup, out, errs io.Writer) (ok bool, err error) {
	found, err := find(ctx, s, o.target, errs)
	if err != nil {
		return false, err
	}
	binary, err := o.binary(s, found)
	if err != nil {
		return false, err
	}
	check := plugintest.CheckOptions{Parallel: o.parallel, Base: shellBase(o.base)}
	if o.only != nil {
		check.Only = o.only.MatchString
	}
	p := &printer{out: out, target: o.target, verbose: o.verbose}
	if !o.json {
		check.Each = p.result
	}
	report := plugintest.Check(ctx, binary, check)
	if len(report.Results) == 0 {
		return false, fmt.Errorf("no case matches '%s'", o.only)
	}
	if o.json {
		err = writeJSON(out, found, report)
	} else {
		err = p.summary(found, report)
	}
	return report.Count(plugintest.Failed) == 0, err
}

// script returns a function that turns a script of the kit into a command, or nil for the
// kit's own way, a POSIX shell. In the given words, {name} is the name of the script and
// {shell} is its text for a shell.
func (o *options) script() func(script.Script) []string {
	words := strings.Fields(o.command)
	if len(words) == 0 {
		return nil
	}
	return func(s script.Script) []string {
		text := script.Shell(s)
		if s == script.Missing {
			return text
		}
		command := make([]string, len(words))
		for i, word := range words {
			word = strings.ReplaceAll(word, "{name}", string(s))
			command[i] = strings.ReplaceAll(word, "{shell}", text[len(text)-1])
		}
		return command
	}
}

const gitBase = `git init -q . && git -c user.name=swarm -c user.email=swarm@example.com commit -q --allow-empty -m base`

// shellBase makes a base for workspaces with a command that runs in an empty
// directory.
func shellBase(command string) func(plugintest.T) string {
	return func(t plugintest.T) string {
		// Workspaces are made next to their base.
		cmd := exec.CommandContext(t.Context(), "sh", "-c", "mkdir base && cd base && "+command)
		cmd.Dir = t.TempDir()
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("make a base: %v: %s", err, out)
		}
		return cmd.Dir + "/base"
	}
}
