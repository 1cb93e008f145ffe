package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"

	"github.com/hashicorp/go-hclog"

	"github.com/swarmhost/swarm/cmd/internal/setup"
	"github.com/swarmhost/swarm/host/mcp"
	"github.com/swarmhost/swarm/host/shell"
	"github.com/swarmhost/swarm/shared/safetext"
)

// run serves one client and returns the exit code.
func run(args []string, in io.Reader, out, errs *os.File, env []string) int {
	program, err := parse(args, errs)
	if errors.Is(err, flag.ErrHelp) {
		return 0
	}
	if err == nil {
		err = serve(program, in, out, errs, env)
	}
	if err != nil {
		fmt.Fprintf(errs, "swarm: error: %s\n", safetext.Line(setup.Message(err)))
		return 1
	}
	return 0
}

// parse returns the path of swarm, empty if nobody said it, after a look at whether it
// is of the same version.
func parse(args []string, errs io.Writer) (program string, err error) {
	flags := flag.NewFlagSet("swarm-mcp", flag.ContinueOnError)
	flags.SetOutput(errs)
	flags.StringVar(&program, "swarm", "", "`path` of swarm, which plugins are looked for beside")
	version := flags.String("version", "", "`version` that this program must have")
	if err := flags.Parse(args); err != nil {
		return "", err
	}
	if flags.NArg() > 0 {
		return "", fmt.Errorf("unexpected argument '%s'", flags.Arg(0))
	}
	if own := setup.ReadBuild().Version; *version != "" && *version != own {
		return "", fmt.Errorf("swarm-mcp is of version %s, but swarm of %s: install both anew, with 'make install' or "+
			"'go install github.com/swarmhost/swarm/cmd/...@latest'", own, *version)
	}
	return program, nil
}

func serve(program string, in io.Reader, out, errs *os.File, env []string) error {
	// What a library prints must not get between the messages.
	os.Stdout = errs
	// A client that is gone is the end of the input too; writing to it must not end
	// the process before it has cleaned up.
	signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE)
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	defer stop()

	session, err := shell.SessionOf(os.Getpid())
	if err != nil {
		return err
	}
	dir, err := os.Getwd()
	if err != nil {
		return fmt.Errorf("cannot tell the working directory: %w", err)
	}
	s := source{setup: setup.Setup{Env: env, Program: program}, dir: dir}
	if level := hclog.LevelFromString(s.setup.Getenv("SWARM_LOG")); level != hclog.NoLevel {
		s.setup.Logger = hclog.New(&hclog.LoggerOptions{Name: "swarm-mcp", Level: level, Output: safetext.Writer(errs)})
	}
	if _, err := s.setup.StateDir(); err != nil {
		return err
	}
	loaded, err := s.setup.LoadUser()
	if err != nil {
		// It may be mended while the server runs.
		fmt.Fprintf(errs, "swarm: warning: %s\n", safetext.Line(setup.Message(err)))
	}
	for _, r := range loaded.Refused {
		fmt.Fprintf(errs, "swarm: warning: %s\n", safetext.Line(r.Path+" is not used: "+r.Reason))
	}
	ctx, leave := context.WithCancel(ctx)
	orphaned := make(chan struct{})
	go func() {
		defer close(orphaned)
		awaitParent(ctx)
		leave()
	}()
	err = mcp.Serve(ctx, mcp.Options{
		In: in, Out: out,
		Version: setup.ReadBuild().Version,
		Session: session,
		Env:     s.tools,
		Open:    s.open,
		Logger:  s.setup.Logger,
	})
	leave()
	<-orphaned
	return err
}
