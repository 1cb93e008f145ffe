package launch

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/swarmhost/swarm/host/catalog"
	"github.com/swarmhost/swarm/shared/plugin/client"
)

// DefaultStartTimeout is how long a plugin may take to be ready.
const DefaultStartTimeout = 10 * time.Second

type Options struct {
	// Dir is the state directory, absolute.
	Dir string
	// RunDirs is the directory with the run directories of workers, absolute, see
	// [plugin.Env]; empty: plugins get neither that directory nor a mark for engines,
	// see [swarm.EnvEngine].
	RunDirs string
	// Shim is the path of swarm-shim; empty: it is not installed.
	Shim string
	// Env is the caller's environment, which plugins get without the private variables of
	// other hosts.
	Env []string
	// Logger gets what plugins log, at its level, and for debugging what they print; nil: nothing.
	Logger hclog.Logger
	// Loggers get what single plugins log, in place of Logger.
	Loggers map[string]hclog.Logger
	// Command is the command of swarm that needs the plugins, without its arguments. It is
	// noted with what they say, see package pluginlogs.
	Command string
	// Notice, if it is not nil, is called with a line for the user when a plugin is used that is
	// being debugged, see package reattach.
	Notice func(text string)
	// Trusted are the SHA-256 hashes in hex, by path, that programs of projects had when the user
	// trusted their projects. Another program of a project is not run.
	Trusted map[string]string
	// StartTimeout is how long a plugin may take to be ready; 0:
	// [DefaultStartTimeout].
	StartTimeout time.Duration

	// terminal is set for a plugin under a debugger.
	terminal *terminal
}

// ErrClosed means that the set was closed.
var ErrClosed = errors.New("plugins were closed")

// Set is a set of plugins that were started, each at most once. Its methods may
// be called at the same time.
type Set struct {
	opts   Options
	ctx    context.Context //nolint:containedctx // the lifetime of the set, ended by Close
	cancel context.CancelFunc

	mu     sync.Mutex
	closed bool
	slots  map[string]*slot
	// old are the newest of the slots that were replaced.
	old     []*slot
	sockets *socketDir
	sweep   sync.WaitGroup

	// pins is held while the file of hashes is read and written; known is what it has, nil
	// before it was read.
	pins  sync.Mutex
	known map[string]pinned
	// now is the clock of the back-off; tests replace it.
	now func() time.Time
}

// loggerOf returns the logger for what a plugin logs.
func (o Options) loggerOf(plugin string) hclog.Logger {
	if own, ok := o.Loggers[plugin]; ok {
		return own
	}
	return o.Logger
}

func New(o Options) *Set {
	if o.StartTimeout <= 0 {
		o.StartTimeout = DefaultStartTimeout
	}
	if o.Logger == nil {
		o.Logger = hclog.NewNullLogger()
	}
	ctx, cancel := context.WithCancel(context.Background())
	return &Set{opts: o, ctx: ctx, cancel: cancel, slots: map[string]*slot{}, now: time.Now}
}

// Start starts the plugins that do not run, ahead of a likely Get, and returns when their
// processes have begun to run: they initialize themselves while the caller does other work.
// Get returns the result.
func (s *Set) Start(entries ...catalog.Entry) {
	for _, e := range entries {
		if sl, err := s.slot(e, nil); err == nil {
			defer func() { <-sl.begun }()
		}
	}
}

// Get returns the plugin, and starts it if it does not run. Callers of the same
// plugin share one process, and plugins of different names start at the same time.
// A plugin that died is started again, and so is one whose start failed; if that
// happens again and again, callers get the last error until a growing back-off has ended.
//
// Errors: [TimeoutError], [CrashError], [PinError], [ChangedError], [TrustError], [ConfigError],
// [catalog.NameError], [catalog.MissingError], [catalog.UnsafeError], [client.ContractError], [ErrClosed], that
// of ctx.
func (s *Set) Get(ctx context.Context, e catalog.Entry) (*client.Client, error) {
	return s.get(ctx, e, nil)
}

// Restart returns a new process of a plugin at once, after the old one crashed. Of
// many callers that saw the same crash one starts it, and all get the same client.
func (s *Set) Restart(ctx context.Context, e catalog.Entry, old *client.Client) (*client.Client, error) {
	return s.get(ctx, e, old)
}

func (s *Set) get(ctx context.Context, e catalog.Entry, old *client.Client) (*client.Client, error) {
	sl, err := s.slot(e, old)
	if err != nil {
		return nil, err
	}
	select {
	case <-sl.done:
		return sl.client, sl.err
	case <-ctx.Done():
		if errors.Is(ctx.Err(), context.DeadlineExceeded) {
			waited := time.Since(sl.began).Round(100 * time.Millisecond)
			return nil, &TimeoutError{Name: e.Name, After: waited}
		}
		return nil, context.Cause(ctx)
	}
}

// Died returns a [CrashError] about the end of a client's process, or nil if it seems to
// live. It is for a call that failed with [client.ErrPluginGone]. A process that has closed
// its connection serves no call any more, and is replaced by the next [Set.Get], whether it
// has ended or not.
func (s *Set) Died(ctx context.Context, c *client.Client) error {
	ctx, cancel := context.WithTimeout(ctx, exitTime)
	defer cancel()
	sl := s.holder(c)
	if sl == nil {
		return nil
	}
	err := sl.proc.died(ctx)
	if err == nil && !sl.proc.connected() {
		s.mu.Lock()
		defer s.mu.Unlock()
		sl.deaf = s.now()
	}
	return err
}

// Close ends all plugins, at the same time, and returns when none is left: a child that its
// parent leaves behind stays a zombie where the first process does not wait for the children
// of others, as in many containers. It takes a bounded time, whatever the plugins do.
func (s *Set) Close() {
	s.mu.Lock()
	s.closed = true
	slots := s.all()
	s.old, s.slots = nil, nil
	s.mu.Unlock()

	s.cancel()
	var wg sync.WaitGroup
	for _, sl := range slots {
		wg.Go(func() {
			<-sl.done
			if sl.proc != nil {
				sl.proc.close()
			}
		})
	}
	wg.Wait()
	s.sweep.Wait()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.sockets.close()
}
