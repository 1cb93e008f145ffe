package tmux

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strconv"
	"strings"

	"github.com/swarmhost/swarm/shared/progress"
	"github.com/swarmhost/swarm/shared/shim"
	"github.com/swarmhost/swarm/shared/shim/client"
	"github.com/swarmhost/swarm/shared/swarm"
)

// Backend implements [swarm.Backend], the capabilities of [shim.Kept], and those asserted below.
// All its methods may be called at the same time.
type Backend struct {
	shim.Kept
	progress.Spawns
	log      *slog.Logger
	queries  queries
	closer   closer
	openings openings
}

var (
	_ swarm.Backend       = (*Backend)(nil)
	_ swarm.BatchStatuser = (*Backend)(nil)
	_ swarm.Sweeper       = (*Backend)(nil)
	_ swarm.Finder        = (*Backend)(nil)
	_ swarm.Checker       = (*Backend)(nil)
	_ swarm.Screener      = (*Backend)(nil)
	_ swarm.BatchScreener = (*Backend)(nil)
	_ swarm.Attacher      = (*Backend)(nil)
	_ swarm.Resizer       = (*Backend)(nil)
	_ swarm.Watcher       = (*Backend)(nil)
	_ swarm.Completer     = (*Backend)(nil)
	_ swarm.Progresser    = (*Backend)(nil)
	_ swarm.Announcer     = (*Backend)(nil)
	_ swarm.SpawnChecker  = (*Backend)(nil)
)

// New returns the backend. It logs to log, which must not be nil.
func New(log *slog.Logger) *Backend {
	return &Backend{Kept: shim.Kept{Read: workerOf}, log: log, queries: newQueries(log), closer: closer{waiting: make(map[string][]*closed)}}
}

// Announce adds to what shims can do what holds for workers on this machine.
func (b *Backend) Announce() []swarm.Capability {
	return append(b.Kept.Announce(), swarm.CapSandbox)
}

// Find returns the worker of a run directory that a shim was started in. The handle lacks
// the facts that tmux no longer has.
func (b *Backend) Find(ctx context.Context, l swarm.Lookup) (swarm.Handle, error) {
	if l.Local == nil {
		return swarm.Handle{}, fmt.Errorf("%w: tmux worker %s", swarm.ErrNotFound, l.ID)
	}
	shimProc, err := client.Recover(ctx, l.Local.RunDir, l.ID)
	if err != nil {
		return swarm.Handle{}, err
	}
	t, err := targetOf(l.Options, l.Local.StateDir)
	if err != nil {
		return swarm.Handle{}, err
	}
	h := handle{Worker: shim.Worker{ID: l.ID, Dir: l.Local.RunDir}, Name: l.Name, Label: t.label, Session: t.session}
	// A worker without a window needs no tmux.
	panes, err := b.queries.panes(ctx, server{label: t.label, socket: socketOf(shimProc)})
	if err != nil {
		b.log.Debug("tmux can't be asked for a window", "worker", l.ID, "error", err)
	}
	for _, p := range panes {
		if p.worker == l.ID && p.pid == shimProc.PID {
			h.Socket, h.Session, h.Window, h.Pane, h.PanePID = p.socket, p.sessionName, p.window, p.id, p.pid
		}
	}
	return h.encode()
}

// Watch reports the changes of the worker until it has ended.
func (b *Backend) Watch(ctx context.Context, raw swarm.Handle, each func(swarm.Status) error) error {
	h, err := b.handle(ctx, raw)
	if err != nil {
		return err
	}
	return client.Watch(ctx, h.Dir, h.ID, func(s swarm.Status) error {
		s.Where = h.where(h.Session, h.Name)
		return each(s)
	})
}

// Complete records that the worker is done. Its remaining processes then get the
// signal of a closing terminal. Its window goes with its end.
func (b *Backend) Complete(ctx context.Context, raw swarm.Handle, summary string, o swarm.KillOptions) error {
	if o.Signal == "" {
		o.Signal = hangup
	}
	return b.Kept.Complete(ctx, raw, summary, o)
}

// oldest is the first major version of tmux that can set up windows in the required way.
const oldest = 3

// Check reports whether a tmux that is new enough is installed.
func (b *Backend) Check(ctx context.Context) error {
	version, err := b.Report(ctx)
	if err != nil {
		return err
	}
	return newEnough(strings.TrimPrefix(version, "tmux "))
}

// Report returns the version of tmux, such as "tmux 3.3a".
func (b *Backend) Report(ctx context.Context) (string, error) {
	out, err := server{}.run(ctx, []string{"-V"})
	if _, refused := errors.AsType[failure](err); refused {
		err = fmt.Errorf("%w: %w", swarm.ErrUnavailable, err)
	}
	return strings.TrimSpace(out), err
}

// newEnough reads a version such as "3.3a", "next-3.4" or "openbsd-7.4", which
// has no version of its own and is always new.
func newEnough(version string) error {
	if strings.HasPrefix(version, "openbsd") || version == "master" {
		return nil
	}
	digits := strings.TrimPrefix(version, "next-")
	major, _, _ := strings.Cut(digits, ".")
	n, err := strconv.Atoi(major)
	if err != nil || n < oldest {
		return fmt.Errorf("%w: tmux %s is too old: %d.0 or newer is needed", swarm.ErrUnavailable, version, oldest)
	}
	return nil
}
