// Package mcpserver is `swarm mcp`, see [github.com/swarmhost/swarm/host/mcp]: it turns config files
// into the environment of tools, and ends the server with its parent.
package mcpserver

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/swarmhost/swarm/cmd/internal/setup"
	"github.com/swarmhost/swarm/config"
	"github.com/swarmhost/swarm/host/mcp"
	"github.com/swarmhost/swarm/host/shell"
	"github.com/swarmhost/swarm/host/tool"
	"github.com/swarmhost/swarm/shared/proc"
	"github.com/swarmhost/swarm/shared/safetext"
)

// Run runs the server with the arguments of its command line, and returns the exit code.
func Run(args []string, in io.Reader, out, errs *os.File, env []string) int {
	o, err := parse(args, errs)
	switch {
	case err != nil:
	case o.worker != "":
		err = serveWorker(o, errs, env)
	default:
		err = serve(o, in, out, errs, env)
	}
	return setup.Finish(err, errs)
}

type options struct {
	// program is the path of swarm, empty if it was not given.
	program string
	// person says that the client serves only the user.
	person bool
	// tools are the sets of tools to offer; nil: what fits the caller.
	tools []tool.Set
	// callLimit is how long the client waits for an answer; 0 if it was not given.
	callLimit time.Duration
	// The rest is for the server of a worker in a container: its id, the id of the container,
	// and the container's first process.
	worker, container string
	until             proc.Identity
}

// parse reads the command line, and checks that swarm is of the same version.
func parse(args []string, errs io.Writer) (o options, err error) {
	flags := setup.NewCompanion("mcp", &o.program, errs)
	flags.BoolVar(&o.person, "person", false, "the client serves only you")
	flags.DurationVar(&o.callLimit, "call-limit", 0, "how long the client waits for an answer")
	flags.Func("tools", "`sets` of tools to offer, separated by commas", func(text string) (err error) {
		o.tools, err = tool.ParseSets(text)
		return err
	})
	flags.StringVar(&o.worker, "worker", "", "`id` of the worker in a container to serve over descriptor 3")
	flags.StringVar(&o.container, "container", "", "`id` of that container")
	flags.Func("until", "the process at whose end the server ends, `PID:START:BOOT`", func(text string) (err error) {
		o.until, err = parseProcess(text)
		return err
	})
	err = flags.Parse(args)
	return o, err
}

func serve(o options, in io.Reader, out, errs *os.File, env []string) error {
	// The output of a library must not get between the messages.
	os.Stdout = errs
	// The end of the client also ends the input; a write to the closed pipe must not end
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
		return fmt.Errorf("cannot find the working directory: %w", err)
	}
	s := source{setup: setup.Setup{Env: env, Program: o.program, Command: "swarm mcp", Client: true, ClientIsPerson: o.person}, dir: dir}
	s.setup.LogTo("swarm-serve", errs)
	if _, err := s.setup.StateDir(); err != nil {
		return err
	}
	loaded, err := s.setup.LoadUser()
	if err != nil {
		// It may be mended while the server runs.
		setup.Warn(err, errs)
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
		Tools:   o.tools, CallLimit: o.callLimit,
		LeaderAnswers: loaded.Config.Team.Answers == config.AnswersLeader,
		Session:       session,
		Env:           s.tools,
		Logger:        s.logger(errs),
	})
	leave()
	<-orphaned
	return err
}

// awaitParent returns once the process that started this one has ended: another process may
// hold the input of a killed client open. It also returns when the context ends.
func awaitParent(ctx context.Context) {
	pid := os.Getppid()
	parent, err := proc.Identify(pid)
	if os.Getppid() != pid {
		return // it ended in between
	}
	if err != nil || proc.AwaitEnd(ctx, parent) != nil {
		<-ctx.Done() // it can't be watched; the end of the input is left
	}
}
