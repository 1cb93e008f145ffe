package wire

import (
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/durationpb"

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
	case swarm.InputKind:
		v.Set(reflect.ValueOf(swarm.InputEOF))
		return
	case swarm.ToolRight:
		v.Set(reflect.ValueOf(swarm.RightMember))
		return
	case swarm.RestartWhen:
		v.Set(reflect.ValueOf(swarm.RestartAlways))
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
	case reflect.Float64:
		v.SetFloat(float64(*n) / 2)
	case reflect.Uint8, reflect.Uint32, reflect.Uint64:
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
	crosses(t, SpawnCheck, FromSpawnCheck)
	crosses(t, Lookup, FromLookup)
	crosses(t, Handle, FromHandle)
	crosses(t, KillOptions, FromKillOptions)
	crosses(t, WorkerStatus, FromWorkerStatus)
	crosses(t, KillResult, FromKillResult)
	crosses(t, Output, FromOutput)
	crosses(t, Screen, FromScreen)
	crosses(t, Stats, FromStats)
	crosses(t, Attachment, FromAttachment)
	crosses(t, Program, FromProgram)
	crosses(t,
		func(o swarm.ExecOptions) *pb.ExecRequest { return ExecRequest(swarm.Handle{}, o) },
		func(r *pb.ExecRequest) swarm.ExecOptions { _, o := FromExecRequest(r); return o })
	crosses(t,
		func(o swarm.CopyOptions) *pb.CopyRequest { return CopyRequest(swarm.Handle{}, o) },
		func(r *pb.CopyRequest) swarm.CopyOptions { _, o := FromCopyRequest(r); return o })
	crosses(t,
		func(o swarm.ForwardOptions) *pb.ForwardRequest { return ForwardRequest(swarm.Handle{}, o) },
		func(r *pb.ForwardRequest) swarm.ForwardOptions { _, o := FromForwardRequest(r); return o })
	crosses(t,
		func(in swarm.Input) *pb.InputRequest { r, _ := InputRequest(swarm.Handle{}, in); return r },
		func(r *pb.InputRequest) swarm.Input { _, in, _ := FromInputRequest(r); return in })
	crosses(t,
		func(o swarm.SignalOptions) *pb.SignalRequest { return SignalRequest(swarm.Handle{}, o) },
		func(r *pb.SignalRequest) swarm.SignalOptions { _, o := FromSignalRequest(r); return o })
	crosses(t,
		func(o swarm.AttachOptions) *pb.AttachRequest { return AttachRequest(swarm.Handle{}, o) },
		func(r *pb.AttachRequest) swarm.AttachOptions { _, o := FromAttachRequest(r); return o })
	crosses(t,
		func(o swarm.KillOptions) *pb.CompleteRequest { return CompleteRequest(swarm.Handle{}, "done", o) },
		func(r *pb.CompleteRequest) swarm.KillOptions { _, _, o := FromCompleteRequest(r); return o })
	crosses(t, WorkspaceSpec, FromWorkspaceSpec)
	crosses(t, WorkspaceCheck, FromWorkspaceCheck)
	crosses(t, WorkspaceRef, FromWorkspaceRef)
	crosses(t, WorkspaceState, FromWorkspaceState)
	crosses(t, RescueRequest, FromRescueRequest)
	crosses(t, SavedWork, FromSavedWork)
	crosses(t, Diff, FromDiff)
	crosses(t, func(o swarm.DiffOptions) *pb.DiffRequest { return DiffRequest(swarm.WorkspaceRef{}, o) }, FromDiffRequest)
	crosses(t, Tool, FromTool)
	crosses(t, ToolCall, FromToolCall)
	crosses(t, Event, FromEvent)
	crosses(t, RemoveOptions, FromRemoveOptions)
	crosses(t, RemoveResult, FromRemoveResult)
	crosses(t,
		func(o swarm.OutputOptions) *pb.OutputRequest { return OutputRequest(swarm.Handle{}, o) },
		func(r *pb.OutputRequest) swarm.OutputOptions { _, o := FromOutputRequest(r); return o })
}

func TestListedCross(t *testing.T) {
	t.Parallel()
	var full swarm.Listed
	n := 0
	fill(reflect.ValueOf(&full).Elem(), &n)
	want := full
	want.Spec.Env, want.Spec.Owner, want.Spec.Local = nil, nil, nil
	if diff := cmp.Diff(want, FromListed(Listed(full))); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	// An older plugin's SDK may send what it must not.
	if diff := cmp.Diff(want.Spec, FromListed(&pb.ListResponse{Spec: Spec(full.Spec)}).Spec); diff != "" {
		t.Errorf("a secret got through (-want +got):\n%s", diff)
	}
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
	// Invalid UTF-8 is replaced in text, or the message could not be sent at all.
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
	if r := fromRestart(&pb.Restart{When: "on-full-moon"}); r.When != swarm.RestartNo {
		t.Errorf("an unknown restart policy: %+v", r)
	}
	if _, in, err := FromInputRequest(&pb.InputRequest{Kind: 99}); !errors.Is(err, swarm.ErrInvalidSpec) {
		t.Errorf("an unknown kind of input: %+v, %v", in, err)
	}
	caps := FromCapabilities([]string{"watch", "fly"})
	if diff := cmp.Diff([]swarm.Capability{swarm.CapWatch, "fly"}, caps); diff != "" {
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

func TestWhatIsTooMuchIsCut(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("é", swarm.MaxSummary)
	_, summary, _ := FromCompleteRequest(CompleteRequest(swarm.Handle{}, "x"+long, swarm.KillOptions{}))
	if want := "x" + long[:swarm.MaxSummary-2]; summary != want {
		t.Errorf("a summary of %d bytes, want %d", len(summary), len(want))
	}
	var st swarm.Status
	for i := range 3 * swarm.MaxRestarts {
		st.LastRestarts = append(st.LastRestarts, swarm.Restarted{Number: i + 1})
	}
	got := FromWorkerStatus(WorkerStatus(st)).LastRestarts
	if diff := cmp.Diff(st.LastRestarts[2*swarm.MaxRestarts:], got); diff != "" {
		t.Errorf("restarts (-want +got):\n%s", diff)
	}
	large := swarm.Input{Data: make([]byte, swarm.MaxInput+1)}
	if _, err := InputRequest(swarm.Handle{}, large); !errors.Is(err, swarm.ErrInvalidSpec) {
		t.Errorf("an input that is too large: %v", err)
	}
	if _, _, err := FromInputRequest(&pb.InputRequest{Data: large.Data}); !errors.Is(err, swarm.ErrInvalidSpec) {
		t.Errorf("a request that is too large: %v", err)
	}
	for _, after := range []time.Duration{-1, swarm.MaxEnterAfter + 1} {
		if _, err := InputRequest(swarm.Handle{}, swarm.Input{EnterAfter: after}); !errors.Is(err, swarm.ErrInvalidSpec) {
			t.Errorf("Enter %v after the text: %v", after, err)
		}
		if _, _, err := FromInputRequest(&pb.InputRequest{EnterAfter: durationpb.New(after)}); !errors.Is(err, swarm.ErrInvalidSpec) {
			t.Errorf("a request with Enter %v after the text: %v", after, err)
		}
	}
	if _, err := InputRequest(swarm.Handle{}, swarm.Input{Kind: 99}); !errors.Is(err, swarm.ErrInvalidSpec) {
		t.Errorf("an unknown kind: %v", err)
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
		again(t, data, Screen, FromScreen)
		again(t, data, ScreenResult, FromScreenResult)
		again(t, data, Stats, FromStats)
		again(t, data, StatsResult, FromStatsResult)
		again(t, data, Attachment, FromAttachment)
		again(t, data, Program, FromProgram)
		again(t, data, WorkspaceSpec, FromWorkspaceSpec)
		again(t, data, WorkspaceRef, FromWorkspaceRef)
		again(t, data, WorkspaceState, FromWorkspaceState)
		again(t, data, RescueRequest, FromRescueRequest)
		again(t, data, SavedWork, FromSavedWork)
		again(t, data, Diff, FromDiff)
		again(t, data, RemoveResult, FromRemoveResult)
		again(t, data, Error, FromError)
		var out pb.OutputRequest
		if proto.Unmarshal(data, &out) == nil {
			FromOutputRequest(&out)
		}
		var in pb.InputRequest
		if proto.Unmarshal(data, &in) == nil {
			_, _, _ = FromInputRequest(&in)
		}
		var done pb.CompleteRequest
		if proto.Unmarshal(data, &done) == nil {
			if _, summary, _ := FromCompleteRequest(&done); len(summary) > swarm.MaxSummary || !utf8.ValidString(summary) {
				t.Errorf("a summary of %d bytes: %q", len(summary), summary)
			}
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
