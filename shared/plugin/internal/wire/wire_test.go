package wire

import (
	"fmt"
	"reflect"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/proto"

	"github.com/swarmhost/swarm/shared/plugin/internal/pb"
	"github.com/swarmhost/swarm/shared/swarm"
)

// fill sets every field of v, however deep, to something that is not zero, so
// that a field which the contract gains and a conversion forgets is noticed.
func fill(v reflect.Value, n *int) {
	*n++
	switch v.Interface().(type) {
	case time.Time:
		v.Set(reflect.ValueOf(time.Unix(int64(1e9+*n), int64(*n)).UTC()))
		return
	case swarm.State:
		v.Set(reflect.ValueOf(swarm.StateExited))
		return
	case swarm.KillMode:
		v.Set(reflect.ValueOf(swarm.KillMain))
		return
	}
	switch v.Kind() {
	case reflect.Struct:
		for _, field := range v.Fields() {
			fill(field, n)
		}
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		fill(v.Elem(), n)
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 2, 2))
		fill(v.Index(0), n)
		fill(v.Index(1), n)
	case reflect.Map:
		v.Set(reflect.MakeMap(v.Type()))
		value := reflect.New(v.Type().Elem()).Elem()
		fill(value, n)
		v.SetMapIndex(reflect.ValueOf(fmt.Sprintf("key %d", *n)), value)
	case reflect.String:
		v.SetString(fmt.Sprintf("text %d", *n))
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Int, reflect.Int64:
		v.SetInt(int64(*n))
	case reflect.Uint8, reflect.Uint32:
		v.SetUint(uint64(*n % 256))
	default:
		panic("no value for " + v.Type().String())
	}
}

// crosses checks that a value comes back as it was, full and empty.
func crosses[V any, M proto.Message](t *testing.T, to func(V) M, from func(M) V) {
	t.Helper()
	var zero, full V
	n := 0
	fill(reflect.ValueOf(&full).Elem(), &n)
	for _, want := range []V{zero, full} {
		data, err := proto.Marshal(to(want))
		if err != nil {
			t.Fatalf("%T: %v", want, err)
		}
		m := to(zero)
		if err := proto.Unmarshal(data, m); err != nil {
			t.Fatalf("%T: %v", want, err)
		}
		if diff := cmp.Diff(want, from(m)); diff != "" {
			t.Errorf("%T (-sent +got):\n%s", want, diff)
		}
	}
}

func TestValuesCross(t *testing.T) {
	t.Parallel()
	crosses(t, Spec, FromSpec)
	crosses(t, Lookup, FromLookup)
	crosses(t, Handle, FromHandle)
	crosses(t, KillOptions, FromKillOptions)
	crosses(t, WorkerStatus, FromWorkerStatus)
	crosses(t, KillResult, FromKillResult)
	crosses(t, Output, FromOutput)
	crosses(t, WorkspaceSpec, FromWorkspaceSpec)
	crosses(t, WorkspaceRef, FromWorkspaceRef)
	crosses(t, WorkspaceState, FromWorkspaceState)
	crosses(t, RemoveOptions, FromRemoveOptions)
	crosses(t, RemoveResult, FromRemoveResult)
	crosses(t,
		func(o swarm.OutputOptions) *pb.OutputRequest { return OutputRequest(swarm.Handle{}, o) },
		func(r *pb.OutputRequest) swarm.OutputOptions { _, o := FromOutputRequest(r); return o })
}

func TestBytesThatAreNotText(t *testing.T) {
	t.Parallel()
	spec := swarm.Spec{
		Command: []string{"a\xff"}, Dir: "/\xfe", Env: []string{"LC=\xe4"},
		Local: &swarm.Local{RunDir: "/\xfd", HostEnv: []string{"X=\xfc"}},
	}
	data, err := proto.Marshal(Spec(spec))
	if err != nil {
		t.Fatal(err)
	}
	var m pb.SpawnRequest
	if err := proto.Unmarshal(data, &m); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(spec, FromSpec(&m)); diff != "" {
		t.Errorf("(-sent +got):\n%s", diff)
	}
	// What has to be text is mended, or the message could not be sent at all.
	st := swarm.Status{Survivors: []swarm.Process{{PID: 1, Name: "a\xff"}}, Where: swarm.Where{Parts: map[string]string{"k": "\xff"}}}
	if _, err := proto.Marshal(WorkerStatus(st)); err != nil {
		t.Error(err)
	}
}

func TestNewerPeers(t *testing.T) {
	t.Parallel()
	st := FromWorkerStatus(&pb.WorkerStatus{State: 99, Exit: &pb.Exit{Cause: "evicted"}, Reason: "why"})
	if diff := cmp.Diff(swarm.Status{Reason: "why"}, st); diff != "" {
		t.Errorf("an unknown state (-want +got):\n%s", diff)
	}
	if st := FromWorkerStatus(&pb.WorkerStatus{State: pb.State_STATE_EXITED}); st.State != swarm.StateUnknown || st.Reason == "" {
		t.Errorf("an end without an exit: %+v", st)
	}
	if st := FromWorkerStatus(nil); st.State != swarm.StateUnknown {
		t.Errorf("no status: %+v", st)
	}
	if e := fromExit(&pb.Exit{Cause: "evicted"}); e.Cause != "evicted" {
		t.Errorf("an unknown cause: %+v", e)
	}
	if o := FromKillOptions(&pb.KillOptions{Mode: 99}); o.Mode != swarm.KillTree {
		t.Errorf("an unknown mode: %+v", o)
	}
	caps := FromCapabilities([]string{"wait", "fly"})
	if diff := cmp.Diff([]swarm.Capability{swarm.CapWait, "fly"}, caps); diff != "" {
		t.Errorf("an unknown capability (-want +got):\n%s", diff)
	}
	// A field that is not known.
	data, err := proto.Marshal(Handle(swarm.Handle{Version: 1, Data: []byte("x")}))
	if err != nil {
		t.Fatal(err)
	}
	var h pb.Handle
	if err := proto.Unmarshal(append(data, 0xf8, 0x3f, 0x01), &h); err != nil || FromHandle(&h).Version != 1 {
		t.Errorf("an unknown field: %v, %v", &h, err)
	}
}

// FuzzConversions feeds every conversion with whatever a peer may send.
func FuzzConversions(f *testing.F) {
	n := 0
	var spec swarm.Spec
	var result swarm.KillResult
	fill(reflect.ValueOf(&spec).Elem(), &n)
	fill(reflect.ValueOf(&result).Elem(), &n)
	for _, m := range []proto.Message{Spec(spec), KillResult(result), &pb.Error{Message: "m", Reasons: []string{"EXISTS"}}} {
		data, err := proto.Marshal(m)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		again(t, data, Spec, FromSpec)
		again(t, data, Lookup, FromLookup)
		again(t, data, KillOptions, FromKillOptions)
		again(t, data, WorkerStatus, FromWorkerStatus)
		again(t, data, KillResult, FromKillResult)
		again(t, data, StatusResult, FromStatusResult)
		again(t, data, Output, FromOutput)
		again(t, data, WorkspaceSpec, FromWorkspaceSpec)
		again(t, data, WorkspaceRef, FromWorkspaceRef)
		again(t, data, WorkspaceState, FromWorkspaceState)
		again(t, data, RemoveResult, FromRemoveResult)
		again(t, data, Error, FromError)
		var out pb.OutputRequest
		if proto.Unmarshal(data, &out) == nil {
			FromOutputRequest(&out)
		}
	})
}

// again converts what was received and sends it on.
func again[V any, M interface {
	proto.Message
	*P
}, P any](t *testing.T, data []byte, to func(V) M, from func(M) V) {
	m := M(new(P))
	if proto.Unmarshal(data, m) != nil {
		return
	}
	if _, err := proto.Marshal(to(from(m))); err != nil {
		t.Errorf("%T can't be sent on: %v", m, err)
	}
}
