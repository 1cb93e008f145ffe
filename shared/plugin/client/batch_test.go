package client

import (
	"context"
	"errors"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"google.golang.org/grpc"

	"github.com/swarmhost/swarm/shared/plugin/internal/pb"
	"github.com/swarmhost/swarm/shared/plugin/internal/rpc"
	"github.com/swarmhost/swarm/shared/plugin/internal/wire"
	"github.com/swarmhost/swarm/shared/swarm"
)

// numbered returns handles that say their place.
func numbered(n int) []swarm.Handle {
	hs := make([]swarm.Handle, n)
	for i := range hs {
		hs[i] = swarm.Handle{Version: 1, Data: []byte(strconv.Itoa(i))}
	}
	return hs
}

// more than two batches.
const many = 2*swarm.MaxBatch + 3

func TestStatusOfMany(t *testing.T) {
	t.Parallel()
	var now, most atomic.Int64
	b := backendOf(t, stub{status: func(_ context.Context, h swarm.Handle) (swarm.Status, error) {
		for n := now.Add(1); ; {
			if old := most.Load(); n <= old || most.CompareAndSwap(old, n) {
				break
			}
		}
		defer now.Add(-1)
		return swarm.Status{State: swarm.StateRunning, Reason: string(h.Data)}, nil
	}})
	results, err := b.StatusBatch(t.Context(), numbered(many))
	if err != nil || len(results) != many {
		t.Fatalf("%d results, error %v", len(results), err)
	}
	for i, r := range results {
		if r.Err != nil || r.Status.Reason != strconv.Itoa(i) {
			t.Fatalf("place %d: %+v", i, r)
		}
	}
	if most.Load() > 32 {
		t.Errorf("%d at the same time", most.Load())
	}
}

// TestKillOfMany: each kill waits until all have come.
func TestKillOfMany(t *testing.T) {
	t.Parallel()
	var all sync.WaitGroup
	all.Add(many)
	b := backendOf(t, stub{kill: func(_ context.Context, h swarm.Handle, o swarm.KillOptions) (swarm.KillResult, error) {
		all.Done()
		all.Wait()
		return swarm.KillResult{Signal: string(h.Data) + " " + o.Signal}, nil
	}})
	items := make([]KillItem, many)
	for i, h := range numbered(many) {
		items[i] = KillItem{Handle: h, Options: swarm.KillOptions{Signal: "S"}}
	}
	seen := make([]int, many)
	err := b.KillBatch(t.Context(), items, func(i int, r swarm.KillResult, err error) {
		seen[i]++
		if err != nil || r.Signal != strconv.Itoa(i)+" S" {
			t.Errorf("place %d: %+v, %v", i, r, err)
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	for i, n := range seen {
		if n != 1 {
			t.Fatalf("place %d was answered %d times", i, n)
		}
	}
}

// TestKillAnswersAsEachIsDone: a slow worker does not hold up the others.
func TestKillAnswersAsEachIsDone(t *testing.T) {
	t.Parallel()
	release := make(chan struct{})
	b := backendOf(t, stub{kill: func(_ context.Context, h swarm.Handle, _ swarm.KillOptions) (swarm.KillResult, error) {
		if string(h.Data) == "0" {
			<-release
		}
		return swarm.KillResult{}, nil
	}})
	var order []int
	err := b.KillBatch(t.Context(), []KillItem{{Handle: numbered(2)[0]}, {Handle: numbered(2)[1]}},
		func(i int, _ swarm.KillResult, _ error) {
			if order = append(order, i); i == 1 {
				close(release)
			}
		})
	if err != nil || len(order) != 2 || order[0] != 1 {
		t.Errorf("the order was %v, error %v", order, err)
	}
}

func TestBatchesAreLimited(t *testing.T) {
	t.Parallel()
	b := backendOf(t, stub{})
	req := &pb.StatusRequest{Handles: make([]*pb.Handle, swarm.MaxBatch+1)}
	for i := range req.GetHandles() {
		req.Handles[i] = &pb.Handle{Version: 1}
	}
	_, err := b.rpc.Status(t.Context(), req)
	if err == nil {
		t.Fatal("Status of too many has no error")
	}
	stream, err := b.rpc.Kill(t.Context(), &pb.KillRequest{Items: make([]*pb.KillItem, swarm.MaxBatch+1)})
	if err == nil {
		_, err = stream.Recv()
	}
	if err == nil {
		t.Fatal("Kill of too many has no error")
	}
	// An empty batch is allowed.
	if results, err := b.StatusBatch(t.Context(), nil); err != nil || len(results) != 0 {
		t.Errorf("Status of none: %v, %v", results, err)
	}
	if err := b.KillBatch(t.Context(), nil, nil); err != nil {
		t.Errorf("Kill of none: %v", err)
	}
}

// wrongPeer answers for the wrong workers.
type wrongPeer struct {
	pb.UnimplementedPluginServer
	pb.UnimplementedBackendServer
	indexes  []uint32
	contract uint32
	oldest   uint32
}

func (w wrongPeer) Describe(context.Context, *pb.DescribeRequest) (*pb.DescribeResponse, error) {
	return &pb.DescribeResponse{Name: "test", Kind: pb.Kind_KIND_BACKEND, ContractVersion: w.contract, OldestContractVersion: w.oldest}, nil
}

func (w wrongPeer) Status(context.Context, *pb.StatusRequest) (*pb.StatusResponse, error) {
	return &pb.StatusResponse{Results: make([]*pb.StatusResult, len(w.indexes))}, nil
}

func (w wrongPeer) Spawn(context.Context, *pb.SpawnRequest) (*pb.SpawnResponse, error) {
	return &pb.SpawnResponse{}, nil
}

func (w wrongPeer) Kill(_ *pb.KillRequest, stream grpc.ServerStreamingServer[pb.KillResponse]) error {
	for _, i := range w.indexes {
		if err := stream.Send(&pb.KillResponse{Index: i}); err != nil {
			return err
		}
	}
	return nil
}

func TestPeersThatAnswerWrongly(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		indexes []uint32
		ok      bool
	}{
		{nil, false},
		{[]uint32{0}, false},
		{[]uint32{0, 0, 5, 4294967295}, false},
		{[]uint32{1, 1, 0, 7}, true},
	} {
		w := wrongPeer{indexes: c.indexes, contract: swarm.ContractVersion}
		conn := serveInside(t, func(g *grpc.Server) {
			pb.RegisterPluginServer(g, w)
			pb.RegisterBackendServer(g, w)
		})
		far, err := Connect(t.Context(), conn)
		if err != nil {
			t.Fatal(err)
		}
		b := far.Backend()
		calls := 0
		err = b.KillBatch(t.Context(), make([]KillItem, 2), func(i int, _ swarm.KillResult, _ error) { calls++ })
		if (err == nil) != c.ok || calls > 2 {
			t.Errorf("%v: %d calls, error %v", c.indexes, calls, err)
		}
		if _, err := b.StatusBatch(t.Context(), make([]swarm.Handle, 3)); err == nil {
			t.Errorf("%v: a status for every worker out of %d", c.indexes, len(c.indexes))
		}
		if _, err := b.Spawn(t.Context(), aSpec(t)); !errors.Is(err, swarm.ErrInvalidHandle) {
			t.Errorf("an empty handle: %v", err)
		}
	}
}

// flooder answers every kill for one worker, without end.
type flooder struct {
	wrongPeer
	index uint32
}

func (f flooder) Kill(_ *pb.KillRequest, stream grpc.ServerStreamingServer[pb.KillResponse]) error {
	for {
		if err := stream.Send(&pb.KillResponse{Index: f.index}); err != nil {
			return err
		}
	}
}

// TestPeersThatFlood: a plugin that answers without end, and for no worker, is given up.
func TestPeersThatFlood(t *testing.T) {
	t.Parallel()
	for _, index := range []uint32{0, 7} {
		f := flooder{wrongPeer: wrongPeer{contract: swarm.ContractVersion}, index: index}
		conn := serveInside(t, func(g *grpc.Server) {
			pb.RegisterPluginServer(g, f)
			pb.RegisterBackendServer(g, f)
		})
		far, err := Connect(t.Context(), conn)
		if err != nil {
			t.Fatal(err)
		}
		calls := 0
		err = far.Backend().KillBatch(t.Context(), make([]KillItem, 2), func(int, swarm.KillResult, error) { calls++ })
		if !errors.Is(err, swarm.ErrUnavailable) || calls > 1 {
			t.Errorf("answers for %d: %d calls, error %v", index, calls, err)
		}
	}
}

// speaks is a host that speaks these versions of the contract.
func speaks(oldest, newest uint32) ConnectOption {
	return func(r *pb.DescribeRequest) { r.OldestContractVersion, r.ContractVersion = oldest, newest }
}

// TestContractVersions: a host and a plugin speak the newest version that both speak. Without one,
// the error says which side to update.
func TestContractVersions(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		host, plugin [2]uint32 // oldest, newest
		want         int       // 0: none in common
		text         string
	}{
		{host: [2]uint32{1, 1}, plugin: [2]uint32{1, 1}, want: 1},
		{host: [2]uint32{1, 2}, plugin: [2]uint32{1, 1}, want: 1}, // a newer host, a plugin of before
		{host: [2]uint32{1, 2}, plugin: [2]uint32{0, 1}, want: 1}, // it says nothing of older versions
		{host: [2]uint32{0, 1}, plugin: [2]uint32{1, 2}, want: 1},
		{host: [2]uint32{1, 2}, plugin: [2]uint32{1, 3}, want: 2},
		{host: [2]uint32{1, 1}, plugin: [2]uint32{0, 0}, text: "plugin 'test' speaks version 0 of the plugin contract, this swarm speaks version 1: update the plugin"},
		{host: [2]uint32{1, 1}, plugin: [2]uint32{0, 99}, text: "plugin 'test' speaks version 99 of the plugin contract, this swarm speaks version 1: update swarm"},
		{host: [2]uint32{2, 3}, plugin: [2]uint32{1, 1}, text: "plugin 'test' speaks version 1 of the plugin contract, this swarm speaks version 2: update the plugin"},
		{host: [2]uint32{1, 1}, plugin: [2]uint32{2, 3}, text: "plugin 'test' speaks version 2 of the plugin contract, this swarm speaks version 1: update swarm"},
	} {
		conn := serveInside(t, func(g *grpc.Server) {
			pb.RegisterPluginServer(g, wrongPeer{contract: test.plugin[1], oldest: test.plugin[0]})
		})
		c, err := Connect(t.Context(), conn, speaks(test.host[0], test.host[1]))
		switch e, ok := errors.AsType[*ContractError](err); {
		case test.want == 0 && (!ok || e.Error() != test.text):
			t.Errorf("host %v, plugin %v: %v, want %s", test.host, test.plugin, err, test.text)
		case test.want != 0 && (err != nil || c.Info().Contract != test.want):
			t.Errorf("host %v, plugin %v: %v, want version %d", test.host, test.plugin, err, test.want)
		}
	}
}

// TestContractOfTheSDK: the SDK is made ready for a host with which it has a version in common, and
// only then: a factory may have effects.
func TestContractOfTheSDK(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		host [2]uint32
		made bool
	}{{[2]uint32{1, 2}, true}, {[2]uint32{2, 2}, true}, {[2]uint32{3, 4}, false}} {
		made := false
		p := pluginOf(stub{})
		p.Contracts = wire.Contracts{Oldest: 1, Newest: 2}
		create := p.New
		p.New = func(ctx context.Context, config []byte) (any, error) {
			made = true
			return create(ctx, config)
		}
		conn := serveInside(t, func(g *grpc.Server) { rpc.New(p).Register(g) })
		_, err := Connect(t.Context(), conn, speaks(test.host[0], test.host[1]))
		if made != test.made || (err == nil) != test.made {
			t.Errorf("host %v: the factory was called: %v, error %v", test.host, made, err)
		}
	}
}

// sweeper counts.
type sweeper struct{ stub }

func (sweeper) Sweep(_ context.Context, ended, running []swarm.Handle) ([]string, error) {
	for i, h := range running {
		if string(h.Data) != strconv.Itoa(i) {
			return nil, errors.New("the order was lost")
		}
	}
	return []string{strconv.Itoa(len(ended)), strconv.Itoa(len(running))}, nil
}

func TestSweepOfMany(t *testing.T) {
	t.Parallel()
	got, err := backendOf(t, sweeper{}).Sweep(t.Context(), numbered(3), numbered(many))
	if err != nil || len(got) != 2 || got[0] != "3" || got[1] != strconv.Itoa(many) {
		t.Errorf("got %v, %v", got, err)
	}
}

// TestStuckCallsObeyTheCaller: the caller's context ends the call on its side,
// whatever the plugin does.
func TestStuckCallsObeyTheCaller(t *testing.T) {
	t.Parallel()
	stuck := make(chan struct{})
	t.Cleanup(func() { close(stuck) })
	b := backendOf(t, stub{status: func(context.Context, swarm.Handle) (swarm.Status, error) {
		<-stuck
		return swarm.Status{}, nil
	}})
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	if _, err := b.Status(ctx, swarm.Handle{}); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("got %v", err)
	}
}
