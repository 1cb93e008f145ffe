package ralph

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/swarmhost/swarm/cmd/internal/setup"
	"github.com/swarmhost/swarm/cmd/swarm/internal/app"
	"github.com/swarmhost/swarm/cmd/swarm/internal/command"
	"github.com/swarmhost/swarm/cmd/swarm/internal/output"
	"github.com/swarmhost/swarm/cmd/swarm/internal/view"
	"github.com/swarmhost/swarm/cmd/swarm/internal/workers"
	"github.com/swarmhost/swarm/host"
	"github.com/swarmhost/swarm/host/kill"
	"github.com/swarmhost/swarm/host/ralph"
	"github.com/swarmhost/swarm/host/registry"
	"github.com/swarmhost/swarm/host/spawn"
	"github.com/swarmhost/swarm/host/store"
	"github.com/swarmhost/swarm/host/worker"
	"github.com/swarmhost/swarm/shared/swarm"
)

// farOptions say where a loop's agent runs if it can't run on this machine.
type farOptions struct {
	backend, cwd  string
	pass, options []string
	unboxed       bool
	command       []string
}

func (o *farOptions) argv(program string) []string {
	argv := []string{program, "ralph", "far", "--backend", o.backend}
	if o.cwd != "" {
		argv = append(argv, "--cwd", o.cwd)
	}
	for _, name := range o.pass {
		argv = append(argv, "--pass", name)
	}
	for _, entry := range o.options {
		argv = append(argv, "--option", entry)
	}
	if o.unboxed {
		argv = append(argv, "--no-sandbox")
	}
	return append(append(argv, "--"), o.command...)
}

// carryAgent makes the agent of a loop run on the backend that was asked for, which
// is not on this machine, and the loop itself here, where its state is.
func (o *spawnOptions) carryAgent(program string, st *ralph.State, request *spawn.Request) error {
	if request.Workspace != nil {
		return fmt.Errorf("backend '%s' does not run its workers on this machine: they can't be in a %s", request.Backend, request.Workspace.Plugin)
	}
	far := farOptions{backend: request.Backend, cwd: o.Cwd, options: o.Options, command: st.Command, unboxed: request.Own.Sandbox && request.Sandbox == nil}
	for _, entry := range request.Env {
		name, _, _ := strings.Cut(entry, "=")
		far.pass = append(far.pass, name)
	}
	st.Command = far.argv(program)
	request.Backend, request.Options = app.BackendProcess, nil
	var err error
	request.Dir, err = app.WorkingDir("")
	return err
}

func newFar(a *app.App) *cobra.Command {
	o := &farOptions{}
	cmd := &cobra.Command{
		Use:   "far --backend BACKEND [flags] -- COMMAND [ARG...]",
		Short: "Run one iteration elsewhere",
		Long: `Run COMMAND as a worker of a backend that is not on this machine, with the input
and the output of this call, and end it with this call. This is what a loop runs
that was spawned with such a backend.`,
		Hidden: true,
		Args:   command.Arguments(1, -1, "a command after --"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if o.backend == "" {
				return output.Usagef("required flag --backend not set")
			}
			o.command = args
			return runFar(cmd.Context(), a, o)
		},
	}
	f := cmd.Flags()
	f.StringVar(&o.backend, "backend", "", "the `BACKEND` that runs it")
	f.StringVar(&o.cwd, "cwd", "", "working `DIR`ectory there")
	f.StringArrayVar(&o.pass, "pass", nil, "`NAME` of a variable that it gets")
	f.BoolVar(&o.unboxed, "no-sandbox", false, "run it without a sandbox, whatever the defaults say")
	f.StringArrayVar(&o.options, "option", nil, "`KEY=VALUE` for the backend")
	return cmd
}

func runFar(ctx context.Context, a *app.App, o *farOptions) error {
	ctx, stop := signal.NotifyContext(ctx, syscall.SIGHUP)
	defer stop()
	output.FinishWriting()
	owner, err := spawn.OwnerOf(os.Getpid())
	if err != nil {
		return err
	}
	loaded, err := a.LoadProjectFor(o.backend)
	if err != nil {
		return err
	}
	request := spawn.Request{
		Name: fmt.Sprintf("%s-%d", a.Getenv(swarm.EnvWorker), os.Getpid()), Backend: o.backend,
		Command: o.command, Options: map[string]string{}, Stdin: true, Owner: &owner, DirGiven: o.cwd != "",
		// A worker that a crash leaves behind goes after an hour.
		Retain: time.Hour.String(),
		Own:    registry.Own{Sandbox: o.unboxed},
	}
	if request.Dir, err = app.WorkingDir(o.cwd); err != nil {
		return err
	}
	for _, entry := range o.options {
		key, value, err := command.KeyValue(entry)
		if err != nil {
			return err
		}
		request.Options[key] = value
	}
	for _, name := range o.pass {
		request.Env = append(request.Env, name+"="+a.Getenv(name))
	}
	return a.With(ctx, loaded.Config, func(h *host.Host) error {
		w, err := h.Spawn().Spawn(ctx, request)
		if err != nil {
			return err
		}
		return carry(ctx, a, h, w)
	})
}

// carry gives a worker the input of this call and this call its output, until it
// ends or the context does.
func carry(ctx context.Context, a *app.App, h *host.Host, w worker.Worker) error {
	sel := worker.Selection{Names: []string{w.ID}}
	// It reads until this process ends.
	go giveLines(ctx, a, h, sel)
	p := workers.LogPrinter{App: a}
	err := h.Display().Logs(ctx, w.ID, swarm.OutputOptions{Follow: true}, p.Print)
	code := 0
	if err == nil {
		err = h.Wait(ctx, sel, func(w worker.Worker) { code = view.ExitCode(w) })
	}
	if err != nil {
		killErr := endAfterwards(ctx, h, w.ID)
		if ctx.Err() != nil {
			err = context.Cause(ctx)
		}
		err = errors.Join(err, killErr)
	}
	later, cancel := afterwards(ctx)
	defer cancel()
	if _, cleanErr := h.Kill().Clean(later, sel, kill.CleanRequest{}); cleanErr != nil && !errors.Is(cleanErr, store.ErrNotFound) {
		err = errors.Join(err, cleanErr)
	}
	if err == nil && code != 0 {
		err = &output.CodeError{Code: code}
	}
	return err
}

func giveLines(ctx context.Context, a *app.App, h *host.Host, sel worker.Selection) {
	give := func(in swarm.Input) bool {
		outcomes, err := h.Input().Send(ctx, sel, in)
		for _, o := range outcomes {
			err = errors.Join(err, o.Err)
		}
		if err != nil && ctx.Err() == nil && !errors.Is(err, worker.ErrEnded) && !errors.Is(err, store.ErrNotFound) {
			a.Warn(setup.Message(err), "")
		}
		return err == nil
	}
	lines := bufio.NewScanner(os.Stdin)
	lines.Buffer(nil, swarm.MaxInput)
	for lines.Scan() {
		if !give(swarm.Input{Data: lines.Bytes(), Enter: true}) {
			return
		}
	}
	if lines.Err() == nil && ctx.Err() == nil {
		give(swarm.Input{Kind: swarm.InputEOF})
	}
}
