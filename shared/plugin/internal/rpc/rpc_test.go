package rpc

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/swarmhost/swarm/shared/plugin/internal/pb"
	"github.com/swarmhost/swarm/shared/plugin/internal/wire"
	"github.com/swarmhost/swarm/shared/swarm"
)

// backend is a backend that does what a test wants; a nil function succeeds.
type backend struct {
	spawn  func(ctx context.Context, spec swarm.Spec) (swarm.Handle, error)
	status func(ctx context.Context, h swarm.Handle) (swarm.Status, error)
	kill   func(ctx context.Context, h swarm.Handle) (swarm.KillResult, error)
	// killed counts calls of Kill.
	killed atomic.Int32
}

var worker = swarm.Handle{Version: 1, Data: []byte("worker")}

func (b *backend) Spawn(ctx context.Context, spec swarm.Spec) (swarm.Handle, error) {
	if b.spawn == nil {
		return worker, nil
	}
	return b.spawn(ctx, spec)
}

func (b *backend) Status(ctx context.Context, h swarm.Handle) (swarm.Status, error) {
	if b.status == nil {
		return swarm.Status{State: swarm.StateRunning}, nil
	}
	return b.status(ctx, h)
}

func (b *backend) Kill(ctx context.Context, h swarm.Handle, _ swarm.KillOptions) (swarm.KillResult, error) {
	b.killed.Add(1)
	if b.kill == nil {
		return swarm.KillResult{Status: swarm.Status{State: swarm.StateExited}}, nil
	}
	return b.kill(ctx, h)
}

func (b *backend) Find(context.Context, swarm.Lookup) (swarm.Handle, error) { return worker, nil }

func serve(value any, change ...func(*Plugin)) *Server {
	p := Plugin{
		Name: "test", Logger: slog.New(slog.DiscardHandler),
		New: func(context.Context, []byte) (any, error) { return value, nil },
	}
	for _, c := range change {
		c(&p)
	}
	return New(p)
}

// sentinel returns the error that the host gets for the error of a call.
func sentinel(ctx context.Context, err error) error { return wire.FromStatus(ctx, err) }

func TestFactory(t *testing.T) {
	t.Parallel()
	failure := errors.New("no engine")
	for name, tt := range map[string]struct {
		make func() (any, error)
		want string
	}{
		"fails":  {func() (any, error) { return nil, failure }, "no engine"},
		"panics": {func() (any, error) { panic("a bug") }, "plugin 'test' panicked in the factory: a bug"},
	} {
		made := 0
		s := serve(nil, func(p *Plugin) {
			p.New = func(context.Context, []byte) (any, error) { made++; return tt.make() }
		})
		for range 2 {
			_, err := backendServer{s: s}.Status(t.Context(), &pb.StatusRequest{})
			if err == nil || !strings.Contains(sentinel(t.Context(), err).Error(), tt.want) {
				t.Errorf("%s: Status: %v, want %q", name, err, tt.want)
			}
		}
		if made != 1 {
			t.Errorf("%s: the factory ran %d times", name, made)
		}
		// A plugin whose value can't be made can be described.
		d, err := pluginServer{s: s}.Describe(t.Context(), &pb.DescribeRequest{ContractVersion: swarm.ContractVersion})
		if err != nil || d.GetName() != "test" || len(d.GetCapabilities()) != 0 {
			t.Errorf("%s: Describe: %v, %v", name, d, err)
		}
	}
}

// TestSettings: they come before the first use, or not at all.
func TestSettings(t *testing.T) {
	t.Parallel()
	var got string
	s := serve(nil, func(p *Plugin) {
		p.New = func(_ context.Context, config []byte) (any, error) { got = string(config); return &backend{}, nil }
	})
	p := pluginServer{s: s}
	if _, err := p.Describe(t.Context(), &pb.DescribeRequest{ContractVersion: swarm.ContractVersion, ConfigFollows: true}); err != nil {
		t.Fatal(err)
	}
	resp, err := p.Configure(t.Context(), &pb.ConfigureRequest{Json: []byte(`{"a":1}`)})
	if err != nil || got != `{"a":1}` || len(resp.GetCapabilities()) == 0 {
		t.Errorf("Configure: %v, %v; the factory got %q", resp, err, got)
	}
	if _, err := p.Configure(t.Context(), &pb.ConfigureRequest{}); !errors.Is(sentinel(t.Context(), err), swarm.ErrInvalidConfig) {
		t.Errorf("settings after the first use: %v", err)
	}
}

// TestShutdown ends the contexts of running calls, waits for them, and refuses new ones in a way
// that makes the host ask another process.
func TestShutdown(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := &backend{}
		ended := false
		b.status = func(ctx context.Context, _ swarm.Handle) (swarm.Status, error) {
			<-ctx.Done()
			time.Sleep(time.Second)
			ended = true
			return swarm.Status{}, ctx.Err()
		}
		s := serve(b)
		answer := make(chan error, 1)
		go func() {
			_, err := backendServer{s: s}.Status(t.Context(), &pb.StatusRequest{Handles: []*pb.Handle{wire.Handle(worker)}})
			answer <- err
		}()
		synctest.Wait()
		s.Shutdown(time.Minute)
		if !ended {
			t.Error("Shutdown did not wait for the call")
		}
		if err := <-answer; status.Code(err) != codes.Unavailable {
			t.Errorf("the running call: %v", err)
		}
		_, err := backendServer{s: s}.Status(t.Context(), &pb.StatusRequest{})
		if status.Code(err) != codes.Unavailable {
			t.Errorf("a call after that: %v", err)
		}
	})
}

// TestShutdownIsBounded by a call that does not return.
func TestShutdownIsBounded(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		release := make(chan struct{})
		s := serve(&backend{status: func(context.Context, swarm.Handle) (swarm.Status, error) {
			<-release
			return swarm.Status{}, nil
		}})
		go func() {
			_, _ = backendServer{s: s}.Status(t.Context(), &pb.StatusRequest{Handles: []*pb.Handle{wire.Handle(worker)}})
		}()
		synctest.Wait()
		begin := time.Now()
		s.Shutdown(3 * time.Second)
		if took := time.Since(begin); took != 3*time.Second {
			t.Errorf("Shutdown took %s", took)
		}
		close(release)
	})
}

// TestRefusedSpecs: what a backend would ignore does not reach it.
func TestRefusedSpecs(t *testing.T) {
	t.Parallel()
	command := []string{"true"}
	for name, tt := range map[string]struct {
		spec  swarm.Spec
		local bool
		want  error
	}{
		"no command":         {swarm.Spec{}, false, swarm.ErrInvalidSpec},
		"no run directory":   {swarm.Spec{Command: command}, true, swarm.ErrInvalidSpec},
		"standard input":     {swarm.Spec{Command: command, Stdin: true}, false, swarm.ErrUnsupported},
		"restarts":           {swarm.Spec{Command: command, Restart: swarm.Restart{When: swarm.RestartAlways}}, false, swarm.ErrUnsupported},
		"a transcript":       {swarm.Spec{Command: command, Transcript: true}, false, swarm.ErrUnsupported},
		"a sandbox":          {swarm.Spec{Command: command, Sandbox: &swarm.Sandbox{}}, false, swarm.ErrUnsupported},
		"limits":             {swarm.Spec{Command: command, Limits: swarm.Limits{Memory: 1 << 30}}, false, swarm.ErrUnsupported},
		"nothing in the way": {swarm.Spec{Command: command}, false, nil},
		"what is not for it": {swarm.Spec{Command: command, Local: &swarm.Local{RunDir: "/nonexistent"}}, false, nil},
	} {
		b := &backend{}
		spawned := false
		b.spawn = func(_ context.Context, spec swarm.Spec) (swarm.Handle, error) {
			spawned = true
			if spec.Local != nil || spec.Owner != nil {
				t.Errorf("%s: the backend got %+v, %+v", name, spec.Local, spec.Owner)
			}
			return worker, nil
		}
		s := serve(b, func(p *Plugin) { p.Local = tt.local })
		_, err := backendServer{s: s}.Spawn(t.Context(), wire.Spec(tt.spec))
		if err = sentinel(t.Context(), err); !errors.Is(err, tt.want) {
			t.Errorf("%s: %v, want %v", name, err, tt.want)
		}
		if spawned != (tt.want == nil) {
			t.Errorf("%s: spawned: %t", name, spawned)
		}
	}
}

// TestHandleIsChecked: a worker whose handle a host could not keep is ended, and if that fails the
// error says so.
func TestHandleIsChecked(t *testing.T) {
	t.Parallel()
	b := &backend{spawn: func(context.Context, swarm.Spec) (swarm.Handle, error) {
		return swarm.Handle{Version: 1, Data: make([]byte, swarm.MaxHandle+1)}, nil
	}}
	_, err := handOver(t.Context(), b, swarm.Spec{})
	if err == nil || !strings.Contains(err.Error(), "at most") || b.killed.Load() != 1 {
		t.Errorf("handOver: %v; %d calls of Kill, want 1", err, b.killed.Load())
	}
	b.kill = func(context.Context, swarm.Handle) (swarm.KillResult, error) {
		return swarm.KillResult{Status: swarm.Status{State: swarm.StateRunning}}, nil
	}
	_, err = handOver(t.Context(), b, swarm.Spec{})
	if err == nil || !strings.Contains(err.Error(), "the worker could not be ended: its end was not confirmed") {
		t.Errorf("with a Kill that does nothing: %v", err)
	}
	if err := checkHandle(swarm.Handle{}); err == nil {
		t.Error("an empty handle is accepted")
	}
}

// TestSpawnAndFind: two hosts, the first of which is gone, never end up with a worker that is about to
// be ended, or with two.
func TestSpawnAndFind(t *testing.T) {
	t.Parallel()
	t.Run("after a Find, nothing starts", func(t *testing.T) {
		t.Parallel()
		b, local := &backend{}, &swarm.Local{RunDir: t.TempDir()}
		if _, err := findLocal(b)(t.Context(), swarm.Lookup{ID: "id", Local: local}); err != nil {
			t.Fatal(err)
		}
		_, err := spawnLocal(t.Context(), b, swarm.Spec{ID: "id", Local: local})
		if !errors.Is(err, swarm.ErrExists) || !strings.Contains(err.Error(), "was given up") {
			t.Errorf("Spawn: %v", err)
		}
	})
	t.Run("one at a time", func(t *testing.T) {
		t.Parallel()
		b, local := &backend{}, &swarm.Local{RunDir: t.TempDir()}
		b.spawn = func(ctx context.Context, spec swarm.Spec) (swarm.Handle, error) {
			_, err := spawnLocal(ctx, &backend{}, spec)
			if !errors.Is(err, swarm.ErrExists) || !strings.Contains(err.Error(), "is being started") {
				t.Errorf("a second Spawn: %v", err)
			}
			return worker, nil
		}
		if _, err := spawnLocal(t.Context(), b, swarm.Spec{ID: "id", Local: local}); err != nil {
			t.Error(err)
		}
		if _, err := os.Lstat(filepath.Join(local.RunDir, spawning)); err == nil {
			t.Error("the lock stays")
		}
	})
	t.Run("a cancelled Spawn is undone, and not found", func(t *testing.T) {
		t.Parallel()
		b, local := &backend{}, &swarm.Local{RunDir: t.TempDir()}
		ctx, cancel := context.WithCancel(t.Context())
		b.spawn = func(ctx context.Context, _ swarm.Spec) (swarm.Handle, error) {
			cancel()
			<-ctx.Done()
			return worker, nil // too late
		}
		if _, err := spawnLocal(ctx, b, swarm.Spec{ID: "id", Local: local}); !errors.Is(err, context.Canceled) {
			t.Errorf("Spawn: %v", err)
		}
		if n := b.killed.Load(); n != 1 {
			t.Errorf("%d calls of Kill, want 1", n)
		}
		_, err := findLocal(b)(t.Context(), swarm.Lookup{ID: "id", Local: local})
		if !errors.Is(err, swarm.ErrNotFound) || b.killed.Load() != 2 {
			t.Errorf("Find: %v; %d calls of Kill, want 2", err, b.killed.Load())
		}
	})
	t.Run("a Find waits for the Spawn", func(t *testing.T) {
		t.Parallel()
		b, local := &backend{}, &swarm.Local{RunDir: t.TempDir()}
		found := make(chan error, 1)
		b.spawn = func(context.Context, swarm.Spec) (swarm.Handle, error) {
			go func() {
				_, err := findLocal(b)(t.Context(), swarm.Lookup{ID: "id", Local: local})
				found <- err
			}()
			for {
				if _, err := os.Lstat(filepath.Join(local.RunDir, sought)); err == nil {
					break
				}
				time.Sleep(time.Millisecond)
			}
			select {
			case err := <-found:
				t.Errorf("Find returned before the Spawn: %v", err)
				found <- err
			default:
			}
			return worker, nil
		}
		if _, err := spawnLocal(t.Context(), b, swarm.Spec{ID: "id", Local: local}); err != nil {
			t.Error(err)
		}
		if err := <-found; err != nil {
			t.Errorf("Find: %v", err)
		}
	})
}

// TestStatuses: each worker has its own result, and a panic is that of one worker.
func TestStatuses(t *testing.T) {
	t.Parallel()
	var now, most atomic.Int32
	b := &backend{status: func(_ context.Context, h swarm.Handle) (swarm.Status, error) {
		n := now.Add(1)
		defer now.Add(-1)
		for m := most.Load(); n > m && !most.CompareAndSwap(m, n); m = most.Load() {
		}
		time.Sleep(time.Millisecond)
		switch string(h.Data) {
		case "panics":
			panic("a bug")
		case "is gone":
			return swarm.Status{}, swarm.ErrNotFound
		}
		return swarm.Status{State: swarm.StateRunning}, nil
	}}
	hs := []swarm.Handle{{Data: []byte("panics")}, {Data: []byte("is gone")}}
	for range 3 * statusLimit {
		hs = append(hs, worker)
	}
	results, err := backendServer{s: serve(b)}.statuses(t.Context(), b, hs)
	if err != nil {
		t.Fatal(err)
	}
	if results[0].Err == nil || !strings.Contains(results[0].Err.Error(), "panicked in Status") || !errors.Is(results[1].Err, swarm.ErrNotFound) {
		t.Errorf("the errors are %v and %v", results[0].Err, results[1].Err)
	}
	for _, r := range results[2:] {
		if r.Err != nil || r.Status.State != swarm.StateRunning {
			t.Errorf("a running worker: %+v", r)
		}
	}
	if most.Load() > statusLimit {
		t.Errorf("%d calls at the same time, at most %d", most.Load(), statusLimit)
	}
}

// batch is a backend whose StatusBatch returns too few results.
type batch struct{ backend }

func (*batch) StatusBatch(context.Context, []swarm.Handle) ([]swarm.StatusResult, error) {
	return make([]swarm.StatusResult, 1), nil
}

func TestBatches(t *testing.T) {
	t.Parallel()
	b := &batch{}
	if _, err := (backendServer{s: serve(b)}).statuses(t.Context(), b, []swarm.Handle{worker, worker}); err == nil || !strings.Contains(err.Error(), "answered for 1 of 2 workers") {
		t.Errorf("too few results: %v", err)
	}
	handles := make([]*pb.Handle, swarm.MaxBatch+1)
	_, err := backendServer{s: serve(&backend{})}.Status(t.Context(), &pb.StatusRequest{Handles: handles})
	if !errors.Is(sentinel(t.Context(), err), swarm.ErrInvalidSpec) {
		t.Errorf("too large a batch: %v", err)
	}
}

// stream is the host's end of a Kill.
type stream struct {
	ctx  context.Context //nolint:containedctx // that of a stream
	sent []*pb.KillResponse
	fail error
}

func (s *stream) Context() context.Context { return s.ctx }

func (s *stream) Send(m *pb.KillResponse) error {
	s.sent = append(s.sent, m)
	return s.fail
}

// TestEach: results are sent as they come, and a host that is gone does not cut the other calls off.
func TestEach(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		for name, fail := range map[string]error{"all arrive": nil, "the host is gone": errors.New("gone")} {
			var ended atomic.Int32
			to := &stream{ctx: t.Context(), fail: fail}
			err := each(serve(&backend{}), "Kill", 3, to, func(_ context.Context, _ swarm.Backend, i int) *pb.KillResponse {
				time.Sleep(time.Duration(3-i) * time.Second)
				ended.Add(1)
				return &pb.KillResponse{Index: uint32(i)}
			})
			if (err == nil) != (fail == nil) || ended.Load() != 3 {
				t.Errorf("%s: %v after %d calls", name, err, ended.Load())
			}
			if fail == nil && (len(to.sent) != 3 || to.sent[0].GetIndex() != 2 || to.sent[2].GetIndex() != 0) {
				t.Errorf("%s: sent %v, want the last first", name, to.sent)
			}
		}
	})
}

// TestQueue: the backend waits once enough is waiting, and for no one that is gone.
func TestQueue(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		q := newQueue()
		piece := &pb.OutputPiece{Data: make([]byte, outputLimit/2)}
		put := 0
		done := make(chan struct{})
		go func() {
			defer close(done)
			for q.put(piece) {
				put++
			}
		}()
		synctest.Wait()
		if put != 2 {
			t.Errorf("%d pieces wait, want 2", put)
		}
		if n := len(q.take()); n != 2 {
			t.Errorf("took %d pieces", n)
		}
		synctest.Wait()
		if put != 4 {
			t.Errorf("%d pieces after a take, want 4", put)
		}
		q.close()
		<-done
		if n := len(q.take()); n != 2 {
			t.Errorf("took %d pieces of a closed queue, want the rest", n)
		}
		if q.take() != nil {
			t.Error("a closed and empty queue has pieces")
		}
	})
}
