package tmux

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/swarmhost/swarm/shared/environ"
	"github.com/swarmhost/swarm/shared/proc"
	"github.com/swarmhost/swarm/shared/shim"
	"github.com/swarmhost/swarm/shared/shim/client"
	"github.com/swarmhost/swarm/shared/swarm"
)

const (
	// attempts bounds how often a session may appear and disappear between two queries.
	attempts = 5
	// abandonLimit bounds how long it may take to undo a start.
	abandonLimit = 10 * time.Second
	// openLimit is how long a server may take to open a window. A server that hangs or is
	// stopped never does.
	openLimit = 10 * time.Second
)

// Spawn opens a window whose process is a shim, which starts the worker.
func (b *Backend) Spawn(ctx context.Context, spec swarm.Spec) (_ swarm.Handle, err error) {
	t, err := accept(spec)
	if err != nil {
		return swarm.Handle{}, err
	}
	if err := client.CloseOnExec(); err != nil {
		return swarm.Handle{}, err
	}
	launch := client.LaunchOf(spec)
	if err := client.Enclose(&launch, spec); err != nil {
		return swarm.Handle{}, err
	}
	launch.Terminal = true
	launch.Inherit = client.Inherited()
	launch.Capture = asProgram(captureAll(spec.ID, ownPane))
	starting, err := client.Prepare(spec.Local.RunDir, launch)
	if err != nil {
		return swarm.Handle{}, err
	}
	defer starting.Close()

	srv := server{label: t.label, env: serverEnv(spec.Local.HostEnv)}
	defer b.BeginSpawn(spec.ID)()
	b.SpawnWaits(spec.ID, "waiting for "+srv.String()+" to answer")
	w, err := b.open(ctx, srv, t, spec)
	b.SpawnWaits(spec.ID, "")
	h := handle{
		Worker: shim.Worker{ID: spec.ID, Dir: spec.Local.RunDir}, Name: spec.Name,
		Label: t.label, Socket: w.socket, Session: w.session, Window: w.id, Pane: w.pane, PanePID: w.pid,
	}
	defer func() {
		if err != nil {
			b.abandon(ctx, srv, starting, h, shimOf(w.server, w.pid))
		}
	}()
	if err != nil {
		return swarm.Handle{}, err
	}
	err = starting.Watch(ctx, shimOf(w.server, w.pid))
	if old := newEnough(w.version); old != nil {
		err = old
	}
	if err != nil {
		return swarm.Handle{}, err
	}
	if !w.moved {
		b.queries.justOpened(spec.ID)
	}
	b.log.Debug("worker started", "worker", spec.ID, "pid", w.pid)
	return h.encode()
}

// openings bounds how many windows a server is asked to open at once. Its single thread starts a
// process for each: without a bound the last of many calls waits for the others, and the server
// seems to be silent.
type openings struct{ servers sync.Map } // of chan struct{}, by the server's name

// maxOpenings is enough to have the next call ready when the server has answered one.
const maxOpenings = 8

// begin waits until a window may be opened; done says that it was.
func (o *openings) begin(ctx context.Context, name string) (done func(), err error) {
	known, _ := o.servers.LoadOrStore(name, make(chan struct{}, maxOpenings))
	running := known.(chan struct{})
	select {
	case running <- struct{}{}:
		return func() { <-running }, nil
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

// accept returns where a worker is to run, or refuses a spec that does not say that.
func accept(spec swarm.Spec) (target, error) {
	if spec.Local == nil || len(spec.Command) == 0 {
		return target{}, fmt.Errorf("%w: the tmux backend needs a command, on the host's machine", swarm.ErrInvalidSpec)
	}
	return targetOf(spec.Options, spec.Local.StateDir)
}

// open opens the worker's window, in the session if it exists, else with it.
// Others may open and close windows at the same time, so it tries both in turn.
func (b *Backend) open(ctx context.Context, srv server, t target, spec swarm.Spec) (_ opened, err error) {
	done, err := b.openings.begin(ctx, srv.name())
	if err != nil {
		return opened{}, err
	}
	defer done()
	ctx, cancel := context.WithTimeoutCause(ctx, openLimit, silence(srv, openLimit))
	defer cancel()
	defer func() {
		if errors.Is(err, errSilent) {
			err = hangs(err)
		}
	}()
	o := newWindow{target: t, spec: spec}
	var refused error
	for range attempts {
		for _, made := range []bool{false, true} {
			out, err := b.queries.run(ctx, srv, openLimit, o.commands(made)...)
			w, ok := parseOpened(out)
			w.made = made
			if !ok {
				if err == nil {
					return opened{}, fmt.Errorf("%w: tmux did not report the new window, but %q", swarm.ErrUnavailable, out)
				}
				if _, ok := errors.AsType[failure](err); !ok {
					return opened{}, err
				}
				refused = err
				continue
			}
			if err != nil || w.marked != w.pane {
				// A hook of the user's renamed, moved or split something in between.
				b.mark(ctx, srv, o, w)
				w.moved = true
			}
			return w, nil
		}
	}
	if err := b.Check(ctx); err != nil {
		return opened{}, err
	}
	return opened{}, fmt.Errorf("%w: %w", swarm.ErrUnavailable, refused)
}

// mark sets the pane and its window up by their ids, where they could not be by the name.
func (b *Backend) mark(ctx context.Context, srv server, o newWindow, w opened) {
	commands := o.setUp(w.id, w.pane)
	if w.made {
		commands = append(o.setUpSession(w.sessionID), commands...)
	}
	if w.marked != "" && w.marked != w.pane {
		commands = append(commands, []string{"set-option", "-pu", "-t", w.marked, optWorkerID})
	}
	// Its process may have ended before remain-on-exit was off.
	commands = append(commands, []string{"if-shell", "-F", "-t", w.pane, "#{pane_dead}", "kill-pane -t " + w.pane})
	if _, err := b.queries.run(ctx, srv, openLimit, commands...); err != nil {
		b.log.Debug("window was gone before it was set up", "worker", o.spec.ID, "error", err)
	}
}

// abandon removes everything of a worker whose start failed.
func (b *Backend) abandon(ctx context.Context, srv server, starting *client.Prepared, h handle, shimProc proc.Identity) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), abandonLimit)
	defer cancel()
	// A shim that comes late finds nothing to start.
	starting.Close()
	if h.Pane != "" {
		b.close(ctx, h, h.killPane())
		starting.Abandon(ctx, shimProc)
		return
	}
	// A command that was cut off may have had its effect. tmux may not answer: the run
	// directory says whether a shim took the launch file.
	shimProc, err := client.Recover(ctx, h.Dir, h.ID)
	if err == nil {
		starting.Abandon(ctx, shimProc)
	}
	panes, err := b.queries.panes(ctx, srv)
	if err != nil {
		return // its windows close with their shims, once it continues
	}
	for _, p := range panes {
		if p.worker == h.ID {
			h.Pane, h.PanePID, h.Socket = p.id, p.pid, p.socket
			b.close(ctx, h, h.killPane())
			starting.Abandon(ctx, shimOf(p.server, p.pid))
		}
	}
}

// serverEnv is the environment for a server that has to be started: the caller's, as if the
// user had started it, without the variables of a worker, which the caller may be. It has the
// marks of a shim and of an engine, so that the server is not part of that worker, whatever
// its program is called.
func serverEnv(caller []string) []string {
	env := environ.Without(caller, func(name string) bool {
		return strings.HasPrefix(name, "SWARM_") && name != swarm.EnvEngine
	})
	return append(env, swarm.EnvShim+"=tmux")
}
