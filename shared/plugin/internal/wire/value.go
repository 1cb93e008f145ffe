package wire

import (
	"strings"
	"time"

	"google.golang.org/protobuf/types/known/durationpb"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/swarmhost/swarm/shared/plugin/internal/pb"
	"github.com/swarmhost/swarm/shared/safetext"
	"github.com/swarmhost/swarm/shared/swarm"
)

// text makes a string valid UTF-8, as protobuf requires: the name of a process may hold any
// bytes.
func text(s string) string { return strings.ToValidUTF8(s, "\uFFFD") }

const (
	// maxLine bounds a text for one line, in bytes.
	maxLine = 4 << 10
	// maxMessage bounds the text of an error.
	maxMessage = 1 << 20
	// maxItems bounds lists of processes and warnings.
	maxItems = 10000
	// maxNames bounds the list of capabilities.
	maxNames = 256
)

// Line returns a text of the other side, cut if it is too long for one line.
func Line(s string) string { return shorten(s, maxLine) }

// shorten cuts a text and marks the cut.
func shorten(s string, n int) string {
	if len(s) <= n {
		return s
	}
	return safetext.Cut(s, n) + "…"
}

// some returns the first n of a list.
func some[T any](list []T, n int) []T { return list[:min(n, len(list))] }

// Texts converts texts for the wire, which takes UTF-8 only.
func Texts(in []string) []string { return texts(in) }

func texts(in []string) []string { return Convert(in, text) }

func textMap(in map[string]string) map[string]string {
	if len(in) == 0 {
		return nil
	}
	out := make(map[string]string, len(in))
	for k, v := range in {
		out[text(k)] = text(v)
	}
	return out
}

func byteses(in []string) [][]byte {
	return Convert(in, func(s string) []byte { return []byte(s) })
}

func strs(in [][]byte) []string {
	return Convert(in, func(b []byte) string { return string(b) })
}

// Convert converts each element of a list by f. An empty list is nil.
func Convert[A, B any](in []A, f func(A) B) []B {
	if len(in) == 0 {
		return nil
	}
	out := make([]B, len(in))
	for i, v := range in {
		out[i] = f(v)
	}
	return out
}

// moment keeps the zero time apart from 1970.
func moment(t time.Time) *timestamppb.Timestamp {
	if t.IsZero() {
		return nil
	}
	return timestamppb.New(t)
}

func fromMoment(t *timestamppb.Timestamp) time.Time {
	if t == nil {
		return time.Time{}
	}
	return t.AsTime()
}

// span is nil for none.
func span(d time.Duration) *durationpb.Duration {
	if d == 0 {
		return nil
	}
	return durationpb.New(d)
}

func number(n *int) *int64 {
	return given(n, func(n *int) *int64 { return new(int64(*n)) })
}

// fromNumber converts a number that may be missing.
func fromNumber[N int | int64](n int64, ok bool) *N {
	if !ok {
		return nil
	}
	return new(N(n))
}

// counted is fromNumber for a number that can't be negative.
func counted[N int | int64](n int64, ok bool) *N { return fromNumber[N](n, ok && n >= 0) }

// keyOf returns the key of a value in a table, and the zero key for a value that is not there.
func keyOf[K, V comparable](table map[K]V, value V) (key K, ok bool) {
	for k, v := range table {
		if v == value {
			return k, true
		}
	}
	return key, false
}

// given converts a value that may be missing.
func given[A, B any](v *A, f func(*A) *B) *B {
	if v == nil {
		return nil
	}
	return f(v)
}

// Handle converts a handle.
func Handle(h swarm.Handle) *pb.Handle {
	return &pb.Handle{Version: h.Version, Data: h.Data}
}

// FromHandle converts back.
func FromHandle(h *pb.Handle) swarm.Handle {
	return swarm.Handle{Version: h.GetVersion(), Data: h.GetData()}
}

// Handles converts handles.
func Handles(hs []swarm.Handle) []*pb.Handle { return Convert(hs, Handle) }

// FromHandles converts back.
func FromHandles(hs []*pb.Handle) []swarm.Handle { return Convert(hs, FromHandle) }

func process(p swarm.Process) *pb.Process {
	return &pb.Process{Pid: int64(p.PID), Name: text(p.Name), Started: moment(p.Started)}
}

func fromProcess(p *pb.Process) swarm.Process {
	return swarm.Process{PID: int(p.GetPid()), Name: Line(p.GetName()), Started: fromMoment(p.GetStarted())}
}
