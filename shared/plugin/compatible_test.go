package plugin_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"google.golang.org/grpc"

	"github.com/swarmhost/swarm/shared/plugin/client"
	"github.com/swarmhost/swarm/shared/plugin/internal/pb"
	"github.com/swarmhost/swarm/shared/plugin/plugintest/fake"
	"github.com/swarmhost/swarm/shared/swarm"
)

// TestFutureFields has either side send fields that the other one does not know, in
// every message of every call: everything works as before.
func TestFutureFields(t *testing.T) {
	t.Parallel()
	for _, side := range []string{"host", "plugin"} {
		t.Run(side, func(t *testing.T) {
			t.Parallel()
			newer := &future{}
			host, theirs := newer, (*future)(nil)
			if side == "plugin" {
				host, theirs = nil, newer
			}
			backend := connect(t, pair(t, host, theirs, serve(t, pb.Kind_KIND_BACKEND, waiter{fake.NewEngine().Backend()})))
			useBackend(t, backend.Backend())
			workspace := connect(t, pair(t, host, theirs, serve(t, pb.Kind_KIND_WORKSPACE, folder{})))
			useWorkspace(t, workspace.Workspace())
			newer.saw(t, pb.Plugin_ServiceDesc)
			newer.saw(t, pb.Backend_ServiceDesc)
			newer.saw(t, pb.Workspace_ServiceDesc)
		})
	}
}

// waiter is a backend whose spawns wait for something without end.
type waiter struct{ *fake.Backend }

func (waiter) Progress(_ context.Context, _ string, each func(string) error) error {
	return each("waiting")
}

// useBackend makes every call of a backend.
func useBackend(t *testing.T, b *client.Backend) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	must := func(what string, err error) {
		t.Helper()
		if err != nil {
			t.Fatalf("%s: %v", what, err)
		}
	}
	spec := swarm.Spec{
		ID: "id-1", Name: "worker", Command: []string{"echo"}, Stdin: true,
		Kill: swarm.KillOptions{Grace: time.Second, Force: true}, Local: &swarm.Local{RunDir: t.TempDir()},
	}
	must("CheckSpawn", b.CheckSpawn(ctx, swarm.SpawnCheck{Spec: spec}))
	h, err := b.Spawn(ctx, spec)
	must("Spawn", err)
	found, err := b.Find(ctx, swarm.Lookup{ID: spec.ID, Local: spec.Local})
	must("Find", err)
	if string(found.Data) != string(h.Data) {
		t.Errorf("found %q, spawned %q", found.Data, h.Data)
	}
	st, err := b.Status(ctx, h)
	must("Status", err)
	if st.State != swarm.StateRunning {
		t.Errorf("status %+v", st)
	}
	if _, err := b.Status(ctx, swarm.Handle{Version: 9, Data: []byte("x")}); !errors.Is(err, swarm.ErrInvalidHandle) {
		t.Errorf("Status of a bad handle: %v", err)
	}
	_, err = b.Input(ctx, h, swarm.Input{Data: []byte("hello"), Enter: true})
	must("Input", err)
	_, err = b.Screen(ctx, h, swarm.ScreenOptions{})
	must("Screen", err)
	_, err = b.ScreenBatch(ctx, []swarm.Handle{h}, swarm.ScreenOptions{})
	must("ScreenBatch", err)
	_, err = b.Attach(ctx, h, swarm.AttachOptions{})
	must("Attach", err)
	must("Resize", b.Resize(ctx, h, 80, 24))
	_, err = b.Exec(ctx, h, swarm.ExecOptions{Command: []string{"true"}})
	must("Exec", err)
	_, err = b.Copy(ctx, h, swarm.CopyOptions{Path: "."})
	must("Copy", err)
	_, err = b.Forward(ctx, h, swarm.ForwardOptions{Port: 80})
	must("Forward", err)
	measured, err := b.Stats(ctx, []swarm.Handle{h})
	must("Stats", err)
	if measured[0].Err != nil || measured[0].Stats.Memory == nil {
		t.Errorf("stats %+v", measured)
	}
	listed := 0
	must("SetLimits", b.SetLimits(ctx, h, swarm.Limits{Memory: 1 << 30}))
	must("SetPaused", b.SetPaused(ctx, h, true))
	must("SetPaused", b.SetPaused(ctx, h, false))
	progress := ""
	must("Progress", b.Progress(ctx, spec.ID, func(text string) error { progress = text; return nil }))
	if progress != "waiting" {
		t.Errorf("Progress says %q", progress)
	}
	must("List", b.List(ctx, func(swarm.Listed) error { listed++; return nil }))
	if listed != 1 {
		t.Errorf("%d workers are listed", listed)
	}
	must("Complete", b.Complete(ctx, h, "done", swarm.KillOptions{Grace: time.Minute}))
	_, err = b.Kill(ctx, h, swarm.KillOptions{Signal: "SIGKILL", Force: true})
	must("Kill", err)
	see := func(now swarm.Status) error {
		st = now
		return nil
	}
	must("Watch", b.Watch(ctx, h, see))
	if st.State != swarm.StateExited || st.Completion == nil || st.Completion.Summary != "done" {
		t.Errorf("status %+v", st)
	}
	var lines []string
	must("Output", b.Output(ctx, h, swarm.OutputOptions{}, func(o swarm.Output) error {
		lines = append(lines, string(o.Data))
		return nil
	}))
	if len(lines) != 2 || lines[1] != "got hello" {
		t.Errorf("output %q", lines)
	}
	spec.ID, spec.Command = "id-2", []string{"trap"}
	spec.Local = &swarm.Local{RunDir: t.TempDir()}
	second, err := b.Spawn(ctx, spec)
	must("Spawn", err)
	must("Signal", b.Signal(ctx, second, swarm.SignalOptions{Signal: "SIGUSR1"}))
	if err = b.Watch(ctx, second, see); err != nil || st.Exit == nil || st.Exit.Code != 7 {
		t.Errorf("after the signal: %+v, %v", st, err)
	}
	_, err = b.Sweep(ctx, []swarm.Handle{h}, nil)
	must("Sweep", err)
}

// folder is a workspace plugin that makes nothing.
type folder struct{}

func (folder) Create(_ context.Context, s swarm.WorkspaceSpec) (swarm.WorkspaceRef, error) {
	return swarm.WorkspaceRef{ID: s.ID, Path: "/made"}, nil
}

func (folder) CheckCreate(_ context.Context, c swarm.WorkspaceCheck) error {
	if c.Removed == nil {
		return swarm.ErrInvalidSpec
	}
	return nil
}

func (folder) Inspect(context.Context, swarm.WorkspaceRef, swarm.RemoveOptions) (swarm.WorkspaceState, error) {
	return swarm.WorkspaceState{Kept: &swarm.Kept{Reason: "dirty"}}, nil
}

func (folder) Remove(context.Context, swarm.WorkspaceRef, swarm.RemoveOptions) (swarm.RemoveResult, error) {
	return swarm.RemoveResult{Rescues: []swarm.Rescue{{Ref: "refs/saved"}}}, nil
}

func (folder) FindWorkspace(_ context.Context, s swarm.WorkspaceSpec) (swarm.WorkspaceRef, error) {
	return swarm.WorkspaceRef{ID: s.ID, Path: "/made"}, nil
}

func (folder) Rescue(_ context.Context, r swarm.RescueRequest) ([]swarm.SavedWork, error) {
	return []swarm.SavedWork{{Ref: r.Ref, Base: r.Base}}, nil
}

func (folder) Diff(context.Context, swarm.WorkspaceRef, swarm.DiffOptions) (swarm.Diff, error) {
	return swarm.Diff{Files: []swarm.FileChange{{Path: "a", Added: 1, Removed: -1}}}, nil
}

// useWorkspace makes every call of a workspace plugin.
func useWorkspace(t *testing.T, w *client.Workspace) {
	t.Helper()
	spec := swarm.WorkspaceSpec{ID: "id-1", Base: "/base"}
	ref, err := w.Create(t.Context(), spec)
	if err != nil || ref.Path != "/made" {
		t.Errorf("Create: %+v, %v", ref, err)
	}
	if err := w.CheckCreate(t.Context(), swarm.WorkspaceCheck{Spec: spec}); !errors.Is(err, swarm.ErrInvalidSpec) {
		t.Errorf("CheckCreate: %v", err)
	}
	if err := w.CheckCreate(t.Context(), swarm.WorkspaceCheck{Spec: spec, Removed: &ref}); err != nil {
		t.Errorf("CheckCreate in place of another: %v", err)
	}
	if s, err := w.Inspect(t.Context(), ref, swarm.RemoveOptions{}); err != nil || s.Kept == nil || s.Kept.Reason != "dirty" {
		t.Errorf("Inspect: %+v, %v", s, err)
	}
	if r, err := w.Remove(t.Context(), ref, swarm.RemoveOptions{}); err != nil || len(r.Rescues) != 1 {
		t.Errorf("Remove: %+v, %v", r, err)
	}
	if found, err := w.FindWorkspace(t.Context(), spec); err != nil || found.Path != ref.Path {
		t.Errorf("FindWorkspace: %+v, %v", found, err)
	}
	if works, err := w.Rescue(t.Context(), swarm.RescueRequest{Base: "/base", Ref: "refs/saved"}); err != nil || len(works) != 1 || works[0].Ref != "refs/saved" {
		t.Errorf("Rescue: %+v, %v", works, err)
	}
	if d, err := w.Diff(t.Context(), ref, swarm.DiffOptions{}); err != nil || len(d.Files) != 1 || d.Files[0].Removed != -1 {
		t.Errorf("Diff: %+v, %v", d, err)
	}
}

// older is a plugin of the first release: it serves what every backend has to.
type older struct {
	pb.UnimplementedPluginServer
	pb.UnimplementedBackendServer
	describe *pb.DescribeResponse
	status   *pb.StatusResult
}

func (o *older) register(g *grpc.Server) {
	pb.RegisterPluginServer(g, o)
	pb.RegisterBackendServer(g, o)
}

func (o *older) Describe(context.Context, *pb.DescribeRequest) (*pb.DescribeResponse, error) {
	return o.describe, nil
}

func (o *older) Status(context.Context, *pb.StatusRequest) (*pb.StatusResponse, error) {
	return &pb.StatusResponse{Results: []*pb.StatusResult{o.status}}, nil
}

func described(kind pb.Kind, caps ...string) *pb.DescribeResponse {
	return &pb.DescribeResponse{Name: "test", Kind: kind, ContractVersion: swarm.ContractVersion, Capabilities: caps}
}

// TestFutureCalls asks a plugin for calls that it has never heard of.
func TestFutureCalls(t *testing.T) {
	t.Parallel()
	o := &older{describe: described(pb.Kind_KIND_BACKEND), status: &pb.StatusResult{Status: &pb.WorkerStatus{State: pb.State_STATE_RUNNING}}}
	c, err := client.Connect(t.Context(), pair(t, nil, nil, o.register))
	if err != nil {
		t.Fatal(err)
	}
	b, h := c.Backend(), swarm.Handle{Version: 1, Data: []byte("x")}
	for name, call := range map[string]func() error{
		"CheckSpawn": func() error {
			return b.CheckSpawn(t.Context(), swarm.SpawnCheck{Spec: swarm.Spec{ID: "a", Command: []string{"b"}}})
		},
		"Find":   func() error { _, err := b.Find(t.Context(), swarm.Lookup{ID: "a"}); return err },
		"Output": func() error { return b.Output(t.Context(), h, swarm.OutputOptions{}, nil) },
		"Watch":  func() error { return b.Watch(t.Context(), h, nil) },
		"Input":  func() error { _, err := b.Input(t.Context(), h, swarm.Input{}); return err },
		"Signal": func() error { return b.Signal(t.Context(), h, swarm.SignalOptions{}) },
		"Screen": func() error { _, err := b.Screen(t.Context(), h, swarm.ScreenOptions{}); return err },
		"Screens": func() error {
			_, err := b.ScreenBatch(t.Context(), []swarm.Handle{h}, swarm.ScreenOptions{})
			return err
		},
		"Attach": func() error { _, err := b.Attach(t.Context(), h, swarm.AttachOptions{}); return err },
		"Exec": func() error {
			_, err := b.Exec(t.Context(), h, swarm.ExecOptions{Command: []string{"true"}})
			return err
		},
		"Copy":      func() error { _, err := b.Copy(t.Context(), h, swarm.CopyOptions{Path: "."}); return err },
		"Forward":   func() error { _, err := b.Forward(t.Context(), h, swarm.ForwardOptions{Port: 80}); return err },
		"Complete":  func() error { return b.Complete(t.Context(), h, "", swarm.KillOptions{}) },
		"List":      func() error { return b.List(t.Context(), nil) },
		"Stats":     func() error { _, err := b.Stats(t.Context(), []swarm.Handle{h}); return err },
		"SetLimits": func() error { return b.SetLimits(t.Context(), h, swarm.Limits{PIDs: 1}) },
		"SetPaused": func() error { return b.SetPaused(t.Context(), h, true) },
		"Resize":    func() error { return b.Resize(t.Context(), h, 80, 24) },
		"Progress":  func() error { return b.Progress(t.Context(), "a", nil) },
		"Sweep":     func() error { _, err := b.Sweep(t.Context(), nil, nil); return err },
	} {
		if err := call(); !errors.Is(err, swarm.ErrUnsupported) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if st, err := b.Status(t.Context(), h); err != nil || st.State != swarm.StateRunning {
		t.Errorf("Status: %+v, %v", st, err)
	}
}

// TestFutureValues has a plugin answer with values that this release does not know.
func TestFutureValues(t *testing.T) {
	t.Parallel()
	const unknown = 99
	o := &older{describe: described(unknown, "watch", "teleport")}
	c, err := client.Connect(t.Context(), pair(t, nil, nil, o.register))
	if err != nil {
		t.Fatal(err)
	}
	if c.Backend() != nil || c.Workspace() != nil || c.Info().Kind != "" {
		t.Errorf("a plugin of an unknown kind is %+v", c.Info())
	}
	if !c.Info().Has("teleport") || !c.Info().Has(swarm.CapWatch) {
		t.Errorf("capabilities %v", c.Info().Capabilities)
	}

	o = &older{describe: described(pb.Kind_KIND_BACKEND)}
	c, err = client.Connect(t.Context(), pair(t, nil, nil, o.register))
	if err != nil {
		t.Fatal(err)
	}
	h := swarm.Handle{Version: 1, Data: []byte("x")}
	o.status = &pb.StatusResult{Status: &pb.WorkerStatus{State: unknown}}
	if st, err := c.Backend().Status(t.Context(), h); err != nil || st.State != swarm.StateUnknown {
		t.Errorf("an unknown state: %+v, %v", st, err)
	}
	o.status = &pb.StatusResult{Status: &pb.WorkerStatus{State: pb.State_STATE_EXITED, Exit: &pb.Exit{Cause: "abducted"}}}
	if st, err := c.Backend().Status(t.Context(), h); err != nil || st.Exit == nil || st.Exit.Cause != "abducted" {
		t.Errorf("an unknown cause: %+v, %v", st, err)
	}
	o.status = &pb.StatusResult{Error: &pb.Error{Message: "gone fishing", Reasons: []string{"FISHING", "NOT_FOUND"}}}
	if _, err := c.Backend().Status(t.Context(), h); !errors.Is(err, swarm.ErrNotFound) || err.Error() != "gone fishing" {
		t.Errorf("an unknown reason: %v", err)
	}
}

// TestFutureRequests has a host ask with values that this release does not know.
func TestFutureRequests(t *testing.T) {
	t.Parallel()
	const unknown = 99
	engine := fake.NewEngine()
	conn := pair(t, nil, nil, serve(t, pb.Kind_KIND_BACKEND, engine.Backend()))
	if _, err := client.Connect(t.Context(), conn); err != nil {
		t.Fatal(err)
	}
	client := pb.NewBackendClient(conn)
	spawned, err := client.Spawn(t.Context(), &pb.SpawnRequest{
		Id: "id-1", Name: "worker", Command: [][]byte{[]byte("true")}, Local: &pb.Local{},
		Restart: &pb.Restart{When: "sometimes"}, Kill: &pb.KillOptions{Mode: unknown},
	})
	if err != nil {
		t.Fatal(err)
	}
	h := swarm.Handle{Version: spawned.GetHandle().GetVersion(), Data: spawned.GetHandle().GetData()}
	var st swarm.Status
	err = engine.Backend().Watch(t.Context(), h, func(now swarm.Status) error {
		st = now
		return nil
	})
	if err != nil || st.State != swarm.StateExited || st.Restarts != 0 {
		t.Errorf("an unknown restart policy: %+v, %v", st, err)
	}
	_, err = client.Input(t.Context(), &pb.InputRequest{Handle: spawned.GetHandle(), Kind: unknown, Data: []byte("x")})
	if reasons := reasonsOf(t, err); len(reasons) != 1 || reasons[0] != "INVALID_SPEC" {
		t.Errorf("an unknown kind of input: %v", err)
	}
}
