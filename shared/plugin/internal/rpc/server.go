package rpc

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"runtime/debug"
	"sync"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/swarmhost/swarm/shared/plugin/internal/pb"
	"github.com/swarmhost/swarm/shared/plugin/internal/wire"
	"github.com/swarmhost/swarm/shared/swarm"
)

// Plugin is the plugin to serve.
type Plugin struct {
	Name, Version string
	Kind          pb.Kind
	Local         bool
	// Settings and Options are schemas in JSON; nil: the plugin announces none.
	Settings, Options []byte
	// Contracts are the versions that it speaks; the zero value: those of the SDK.
	Contracts wire.Contracts
	// New makes the [swarm.Backend], [swarm.Workspace], [swarm.Toolbox] or [swarm.Notifier] from
	// the settings as JSON, nil without any.
	New    func(ctx context.Context, config []byte) (any, error)
	Logger *slog.Logger
	// Carries completes a Spawn once it has begun, even if its caller is gone: a caller whose
	// connection broke asks for the worker over a new one.
	Carries bool
}

// Server serves one plugin.
type Server struct {
	plugin Plugin

	// ctx ends with the plugin, before the connection does.
	ctx    context.Context //nolint:containedctx // the life of the plugin, not of a call
	cancel context.CancelFunc

	start sync.Once
	ready chan struct{} // closed when value and err are set
	value any
	err   error

	// asking has an element for each single Status in progress.
	asking chan struct{}

	mu      sync.Mutex
	leaving bool   // no call may be added to calls
	runDirs string // as the host named it, see [swarm.WithRunDirs]
	calls   sync.WaitGroup
}

// New returns a server. It makes the plugin's value only when the first call needs it.
func New(p Plugin) *Server {
	ctx, cancel := context.WithCancel(context.Background())
	if p.Contracts == (wire.Contracts{}) {
		p.Contracts = wire.Spoken()
	}
	return &Server{
		plugin: p, ctx: ctx, cancel: cancel,
		ready: make(chan struct{}), asking: make(chan struct{}, statusLimit),
	}
}

// Register adds the plugin's services to a gRPC server.
func (s *Server) Register(r grpc.ServiceRegistrar) {
	pb.RegisterPluginServer(r, pluginServer{s: s})
	// Every plugin may offer tools, and a backend may make workspaces.
	pb.RegisterToolsServer(r, toolsServer{s: s})
	if k := s.plugin.Kind; k == pb.Kind_KIND_BACKEND || k == pb.Kind_KIND_WORKSPACE {
		pb.RegisterWorkspaceServer(r, workspaceServer{s: s})
	}
	switch s.plugin.Kind {
	case pb.Kind_KIND_BACKEND:
		pb.RegisterBackendServer(r, backendServer{s: s})
	case pb.Kind_KIND_NOTIFIER:
		pb.RegisterNotifierServer(r, notifierServer{s: s})
	case pb.Kind_KIND_UNSPECIFIED, pb.Kind_KIND_WORKSPACE, pb.Kind_KIND_TOOLS:
	}
}

// Shutdown ends the contexts of all calls, refuses new ones, and waits for the running
// ones, but no longer than limit.
func (s *Server) Shutdown(limit time.Duration) {
	s.mu.Lock()
	s.leaving = true
	s.mu.Unlock()
	s.cancel()

	done := make(chan struct{})
	go func() { s.calls.Wait(); close(done) }()
	timer := time.NewTimer(limit)
	defer timer.Stop()
	select {
	case <-done:
	case <-timer.C:
	}
}

// errLeaving makes the host repeat the call in another process.
var errLeaving = status.Error(codes.Unavailable, "the plugin is leaving")

func (s *Server) wired(err error) error {
	if s.ctx.Err() != nil && errors.Is(err, context.Canceled) {
		return errLeaving
	}
	return wire.Status(err)
}

// enter begins a call. Its context also ends with the plugin, and names the run directories. Its
// error is ready to be sent.
func (s *Server) enter(ctx context.Context) (context.Context, func(), error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.leaving {
		return nil, nil, errLeaving
	}
	s.calls.Add(1)
	ctx, cancel := context.WithCancel(swarm.WithRunDirs(ctx, s.runDirs))
	stop := context.AfterFunc(s.ctx, cancel)
	return ctx, func() { stop(); cancel(); s.calls.Done() }, nil
}

// prepare initializes the plugin at the first call and waits for the value.
func (s *Server) prepare(ctx context.Context) (any, error) {
	s.start.Do(func() { go s.make(nil) })
	select {
	case <-s.ready:
		return s.value, s.err
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

func (s *Server) make(config []byte) {
	defer close(s.ready)
	s.err = s.guard("the factory", func() (err error) {
		s.value, err = s.plugin.New(s.ctx, config)
		return err
	})
}

// call runs f, which answers with one message. The message of an f that fails is not sent.
func call[T, R any](ctx context.Context, s *Server, name string, f func(context.Context, T) (R, error)) (r R, err error) {
	err = run(ctx, s, name, func(ctx context.Context, t T) (err error) {
		r, err = f(ctx, t)
		return err
	})
	return r, err
}

// run runs f with the plugin's value, which has to be a T. Its error is ready to be sent.
func run[T any](ctx context.Context, s *Server, name string, f func(context.Context, T) error) error {
	ctx, leave, err := s.enter(ctx)
	if err != nil {
		return err
	}
	defer leave()
	value, err := s.prepare(ctx)
	if err != nil {
		return s.wired(err)
	}
	t, ok := value.(T)
	if !ok {
		return wire.Status(swarm.ErrUnsupported)
	}
	return s.wired(s.guard(name, func() error { return f(ctx, t) }))
}

// guard turns a panic of f into an error.
func (s *Server) guard(name string, f func() error) (err error) {
	defer func() {
		if p := recover(); p != nil {
			s.plugin.Logger.Error("plugin panicked", "plugin", s.plugin.Name, "call", name,
				"error", fmt.Sprint(p), "stack", string(debug.Stack()))
			err = fmt.Errorf("plugin '%s' panicked in %s: %v", s.plugin.Name, name, p)
		}
	}()
	return f()
}

// checkBatch refuses a batch that the contract does not allow.
func checkBatch(n int) error {
	if n > swarm.MaxBatch {
		return fmt.Errorf("%w: %d workers in one call, at most %d", swarm.ErrInvalidSpec, n, swarm.MaxBatch)
	}
	return nil
}

// checkResults returns err, or an error if there is not one result for each handle.
func checkResults[R any](s *Server, hs []swarm.Handle, results []R, err error) error {
	if err == nil && len(results) != len(hs) {
		err = fmt.Errorf("plugin '%s' answered for %d of %d workers", s.plugin.Name, len(results), len(hs))
	}
	return err
}

// checkHandle refuses a handle that a host could not keep.
func checkHandle(h swarm.Handle) error {
	switch {
	case h.IsZero():
		return errors.New("the plugin returned an empty handle")
	case len(h.Data) > swarm.MaxHandle:
		return fmt.Errorf("the plugin returned a handle of %d bytes, at most %d", len(h.Data), swarm.MaxHandle)
	}
	return nil
}

// checkRef returns err, or an error for a reference to a workspace that a host could not keep.
func checkRef(r swarm.WorkspaceRef, err error) error {
	if err == nil && len(r.Handle.Data) > swarm.MaxHandle {
		err = fmt.Errorf("the plugin returned a handle of %d bytes for a workspace, at most %d", len(r.Handle.Data), swarm.MaxHandle)
	}
	return err
}

// warnings are what a call has warned of.
type warnings struct {
	mu    sync.Mutex
	texts []string
	taken bool // the call has returned
}

// collect returns a context whose warnings are collected.
func collect(ctx context.Context) (context.Context, *warnings) {
	w := new(warnings)
	return swarm.WithWarnings(ctx, w.add), w
}

func (w *warnings) add(text string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if !w.taken && len(w.texts) < swarm.MaxWarnings {
		w.texts = append(w.texts, text)
	}
}

// take returns the warnings of a call that has returned.
func (w *warnings) take() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.taken = true
	return w.texts
}
