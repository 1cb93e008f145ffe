package swarm_test

import (
	"context"
	"errors"
	"math"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/swarmhost/swarm/shared/swarm"
)

func TestValidName(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]bool{
		"a": true, "0": true, "w1": true, "v1.2": true, "A_b-c.d": true,
		strings.Repeat("a", 64): true,
		"":                      false, ".": false, "-x": false, "_x": false, "a b": false, "a/b": false,
		"a:b": false, "a\n": false, "é": false, "..": false, strings.Repeat("a", 65): false,
	} {
		if got := swarm.ValidName(name); got != want {
			t.Errorf("ValidName(%q) = %v, want %v", name, got, want)
		}
	}
}

func TestParseSignal(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"SIGTERM": "SIGTERM", "term": "SIGTERM", "Int": "SIGINT", "9": "SIGKILL", "sigusr1": "SIGUSR1",
		"34": "SIGRTMIN", "64": "SIGRTMIN+30", "37": "SIGRTMIN+3", "RTMIN": "SIGRTMIN", "sigrtmin": "SIGRTMIN", "SIGRTMIN+0": "SIGRTMIN", "rtmin+3": "SIGRTMIN+3",
		"SIGRTMAX": "SIGRTMIN+30", "RTMAX-1": "SIGRTMIN+29", "rtmax-30": "SIGRTMIN", "SIGIOT": "SIGABRT", "cld": "SIGCHLD", "POLL": "SIGIO",
		strconv.Itoa(int(syscall.SIGUSR1)): "SIGUSR1", strconv.Itoa(int(syscall.SIGWINCH)): "SIGWINCH",
	} {
		got, err := swarm.ParseSignal(in)
		if err != nil || got != want {
			t.Errorf("ParseSignal(%q) = %q, %v, want %q", in, got, err, want)
		}
	}
	for _, in := range []string{"", "SIG", "0", "-9", "99", "TERM ", "SIGSIGTERM", "32", "33", "65", "034", "+34", "RTMIN+31", "RTMIN-1", "RTMAX+1", "RTMAX-31", "RTMIN+", "RTMIN+03", "RT", "SIG9", "9.0"} {
		if got, err := swarm.ParseSignal(in); !errors.Is(err, swarm.ErrInvalidSpec) {
			t.Errorf("ParseSignal(%q) = %q, %v, want ErrInvalidSpec", in, got, err)
		}
	}
}

func TestEnviron(t *testing.T) {
	t.Parallel()
	spec := swarm.Spec{
		Env:   []string{"A=2", "C=3", "broken", "=x", "D=a=b"},
		Local: &swarm.Local{HostEnv: []string{"A=1", "B=1", "A=0"}},
	}
	want := []string{"A=2", "B=1", "C=3", "D=a=b"}
	if diff := cmp.Diff(want, spec.Environ()); diff != "" {
		t.Error(diff)
	}
	spec.Local = nil
	if diff := cmp.Diff([]string{"A=2", "C=3", "D=a=b"}, spec.Environ()); diff != "" {
		t.Error("without Local:", diff)
	}
}

type watcher struct{ swarm.Backend }

func (watcher) Watch(context.Context, swarm.Handle, func(swarm.Status) error) error { return nil }

func TestCapabilitiesOf(t *testing.T) {
	t.Parallel()
	if got := swarm.CapabilitiesOf(struct{ swarm.Backend }{}); got != nil {
		t.Errorf("a backend without capabilities has %v", got)
	}
	if diff := cmp.Diff([]swarm.Capability{swarm.CapWatch}, swarm.CapabilitiesOf(watcher{})); diff != "" {
		t.Error(diff)
	}
}

// capable is a watcher that lists its capabilities.
type capable struct {
	watcher
	list []swarm.Capability
}

func (c capable) Capabilities() []swarm.Capability { return c.list }

// A plugin that passes its calls on has the capabilities that it lists, and lists none that it lacks.
func TestCapable(t *testing.T) {
	t.Parallel()
	if got := swarm.CapabilitiesOf(capable{}); got != nil {
		t.Errorf("one that lists nothing has %v", got)
	}
	list := []swarm.Capability{swarm.CapWatch, swarm.CapStdin, swarm.CapPause, "later"}
	c := capable{list: list}
	if diff := cmp.Diff(list, swarm.CapabilitiesOf(c)); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]swarm.Capability{swarm.CapPause}, swarm.Unimplemented(c)); diff != "" {
		t.Error(diff)
	}
	if got := swarm.Unimplemented(watcher{}); got != nil {
		t.Errorf("one that lists nothing lacks %v", got)
	}
}

func TestStateString(t *testing.T) {
	t.Parallel()
	for s, want := range map[swarm.State]string{
		swarm.StateRunning: "running", swarm.StateExited: "exited", swarm.StateLost: "lost", swarm.StatePending: "pending",
		swarm.StateUnknown: "unknown", 99: "unknown",
	} {
		if got := s.String(); got != want {
			t.Errorf("State(%d) = %q, want %q", s, got, want)
		}
	}
}

func TestLimits(t *testing.T) {
	t.Parallel()
	full := swarm.Limits{Memory: 1 << 30, CPUs: 1.5, PIDs: 500, Nice: 10, IOWeight: 50, BestEffort: true}
	if err := full.Check(); err != nil || len(full.Needs()) != 5 || full.IsZero() {
		t.Errorf("%+v: %v, needs %v", full, err, full.Needs())
	}
	none := swarm.Limits{BestEffort: true}
	if err := none.Check(); err != nil || len(none.Needs()) != 0 || !none.IsZero() {
		t.Errorf("%+v: %v, needs %v", none, err, none.Needs())
	}
	for _, bad := range []swarm.Limits{
		{Memory: -1},
		{Memory: 4096},
		{CPUs: -1},
		{CPUs: 0.001},
		{CPUs: math.NaN()},
		{CPUs: math.Inf(1)},
		{PIDs: -1},
		{Nice: -21},
		{Nice: 20},
		{IOWeight: -1},
		{IOWeight: 10001},
	} {
		if err := bad.Check(); !errors.Is(err, swarm.ErrInvalidSpec) {
			t.Errorf("%+v: %v", bad, err)
		}
	}
}
