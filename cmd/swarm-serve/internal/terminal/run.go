// Package terminal is `swarm top`, full screen, see [github.com/swarmhost/swarm/host/top]: it gives
// the terminal back whatever ends the dashboard.
package terminal

import (
	"context"
	"errors"
	"os"
	"os/signal"
	"syscall"

	"golang.org/x/term"

	"github.com/swarmhost/swarm/cmd/internal/setup"
	"github.com/swarmhost/swarm/host/dash"
	"github.com/swarmhost/swarm/host/top"
)

// Run shows the dashboard with the arguments of its command line, and returns the exit code.
func Run(args []string, in, out, errs *os.File, env []string) int {
	o, err := parse(args, errs)
	if err == nil && !o.guarded && term.IsTerminal(int(in.Fd())) {
		return guard(args, in, out, errs, env)
	}
	if err == nil {
		err = show(o, in, out, errs, env)
	}
	return setup.Finish(err, errs)
}

type options struct {
	// program is the path of swarm, empty if it was not given.
	program       string
	colour, plain bool
	// guarded says that another process gives the terminal back if this one can't, and has
	// opened [heldFile].
	guarded bool
}

// parse reads the command line, and checks that swarm is of the same version.
func parse(args []string, errs *os.File) (o options, err error) {
	flags := setup.NewCompanion("top", &o.program, errs)
	flags.BoolVar(&o.colour, "colour", true, "use colours")
	flags.BoolVar(&o.plain, "plain", false, "use ASCII symbols")
	flags.BoolVar(&o.guarded, guarded[1:], false, "the parent gives the terminal back")
	err = flags.Parse(args)
	return o, err
}

func show(o options, in, out, errs *os.File, env []string) error {
	var held *os.File
	var inherited syscall.Stat_t
	if o.guarded && syscall.Fstat(heldFile, &inherited) == nil && inherited.Mode&syscall.S_IFMT == syscall.S_IFIFO {
		syscall.CloseOnExec(heldFile)
		held = os.NewFile(heldFile, "held")
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	defer stop()
	s := setup.Setup{Env: env, Program: o.program, Command: "swarm top"}
	if s.Getenv("TERM") == "dumb" {
		return errors.New("cannot show the dashboard: this terminal can't move its cursor (TERM=dumb); 'swarm ls' lists workers")
	}
	if !term.IsTerminal(int(in.Fd())) || !term.IsTerminal(int(out.Fd())) {
		return errors.New("cannot show the dashboard: stdin and stdout must be a terminal; 'swarm ls' lists workers")
	}
	loaded, err := s.LoadUser()
	if err != nil {
		// The valid part of a damaged file is used.
		setup.Warn(err, errs)
	}
	h, err := s.Open(ctx, loaded.Config)
	if err != nil {
		return err
	}
	return errors.Join(top.Run(ctx, top.Options{
		Host: dash.PartsOf(h), Workspaces: h.Workspaces(), Rescues: h.Saved(), In: in, Out: out, Held: held, Env: env, Colour: o.colour, Plain: o.plain,
	}), h.Close())
}
