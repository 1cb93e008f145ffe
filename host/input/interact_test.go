package input_test

import (
	"errors"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/swarmhost/swarm/host/backend"
	"github.com/swarmhost/swarm/host/hosttest"
	"github.com/swarmhost/swarm/host/input"
	"github.com/swarmhost/swarm/host/spawn"
	"github.com/swarmhost/swarm/host/store"
	"github.com/swarmhost/swarm/host/worker"
	"github.com/swarmhost/swarm/shared/swarm"
)

// sent returns the outcomes in short: names, "?" for what is pending, errors.
func sent(outcomes []input.Outcome) []string {
	out := []string{}
	for _, o := range outcomes {
		switch {
		case o.Err != nil:
			out = append(out, o.Err.Error())
		case o.Pending:
			out = append(out, o.Worker.Name+"?")
		default:
			out = append(out, o.Worker.Name)
		}
	}
	return out
}

func TestSend(t *testing.T) {
	t.Parallel()
	r := hosttest.New(t)
	r.Announce("one", swarm.CapInput, swarm.CapStdin)
	r.MustSpawn(t, "a", "one", func(q *spawn.Request) { q.Stdin, q.Tags = true, []string{"x"} })
	r.MustSpawn(t, "deaf", "one")
	r.MustSpawn(t, "terminal", "one", func(q *spawn.Request) {
		q.Options, q.Tags = map[string]string{swarm.OptionTTY: "true"}, []string{"t"}
	})
	r.MustSpawn(t, "far", "two", func(q *spawn.Request) { q.Tags = []string{"x"} })
	r.MustSpawn(t, "ended", "one", func(q *spawn.Request) { q.Stdin = true })
	r.One.End(t, "ended", swarm.Exit{})
	r.MustSpawn(t, "slow", "one", func(q *spawn.Request) { q.Stdin = true })
	r.One.OnInput = func(w hosttest.Worker, in swarm.Input) (swarm.InputResult, error) {
		switch {
		case strings.HasPrefix(string(in.Data), "long"):
			return swarm.InputResult{}, swarm.ErrInvalidSpec
		case w.Spec.Name == "slow":
			return swarm.InputResult{Pending: true}, nil
		}
		return swarm.InputResult{}, nil
	}
	for _, c := range []struct {
		what string
		sel  worker.Selection
		in   swarm.Input
		want []string
	}{
		{"one", worker.Selection{Names: []string{"a"}}, swarm.Input{Data: []byte("x"), Enter: true}, []string{"a"}},
		{"all", worker.Selection{All: true}, swarm.Input{Data: []byte("x")}, []string{"a", "terminal", "slow?"}},
		{"on a terminal", worker.Selection{Tag: "t"}, swarm.Input{}, []string{"terminal"}},
		{"tag", worker.Selection{Tag: "x"}, swarm.Input{}, []string{"a"}},
		{"interrupt needs no input", worker.Selection{All: true}, swarm.Input{Kind: swarm.InputInterrupt}, []string{"a", "deaf", "terminal", "slow?"}},
		{"each by name", worker.Selection{Names: []string{"ended", "far", "deaf", "a"}}, swarm.Input{}, []string{
			"worker 'ended' is not running",
			"backend 'two' does not support input",
			"worker 'deaf' has no input to send to: it was spawned without --stdin",
			"a",
		}},
		{"refused", worker.Selection{Names: []string{"a"}}, swarm.Input{Data: []byte("long")}, []string{"cannot send to 'a': invalid request"}},
		{"refused among all", worker.Selection{All: true}, swarm.Input{Data: []byte("long")}, []string{
			"cannot send to 'a': invalid request", "cannot send to 'terminal': invalid request", "cannot send to 'slow': invalid request",
		}},
		{"no worker", worker.Selection{Tag: "none"}, swarm.Input{}, []string{}},
	} {
		outcomes, err := r.Input().Send(t.Context(), c.sel, c.in)
		if err != nil {
			t.Errorf("%s: %v", c.what, err)
		}
		if diff := cmp.Diff(c.want, sent(outcomes)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", c.what, diff)
		}
	}
}

func TestSendRefuses(t *testing.T) {
	t.Parallel()
	r := hosttest.New(t)
	r.Announce("one", swarm.CapInput)
	r.MustSpawn(t, "a", "one")
	for _, c := range []struct {
		sel  worker.Selection
		in   swarm.Input
		want error
	}{
		{worker.Selection{}, swarm.Input{}, worker.ErrNoSelection},
		{worker.Selection{Names: []string{"a", "ghost"}}, swarm.Input{Data: []byte("x")}, store.ErrNotFound},
		{worker.Selection{All: true}, swarm.Input{Data: make([]byte, swarm.MaxInput+1)}, swarm.ErrInvalidSpec},
	} {
		if _, err := r.Input().Send(t.Context(), c.sel, c.in); !errors.Is(err, c.want) {
			t.Errorf("%+v: %v, want %v", c.sel, err, c.want)
		}
	}
	if len(r.One.Inputs) > 0 {
		t.Errorf("a worker was sent %q", r.One.Inputs)
	}
}

func TestResize(t *testing.T) {
	t.Parallel()
	r := hosttest.New(t)
	r.Announce("one", swarm.CapResize)
	r.MustSpawn(t, "a", "one")
	r.MustSpawn(t, "far", "two")
	r.MustSpawn(t, "ended", "one")
	r.One.End(t, "ended", swarm.Exit{})
	for name, want := range map[string]error{"a": nil, "far": swarm.ErrUnsupported, "ended": worker.ErrEnded, "ghost": store.ErrNotFound} {
		if _, err := r.Input().Resize(t.Context(), name, 100, 30); !errors.Is(err, want) {
			t.Errorf("%s: %v, want %v", name, err, want)
		}
	}
	if diff := cmp.Diff([][2]int{{100, 30}}, r.One.Sizes); diff != "" {
		t.Errorf("sizes (-want +got):\n%s", diff)
	}
}

func TestSignal(t *testing.T) {
	t.Parallel()
	r := hosttest.New(t)
	r.Announce("one", swarm.CapSignal)
	r.MustSpawn(t, "tree", "one")
	r.MustSpawn(t, "main", "one", func(q *spawn.Request) { q.Kill = &swarm.KillOptions{Mode: swarm.KillMain} })
	r.MustSpawn(t, "far", "two")
	r.MustSpawn(t, "ended", "one")
	r.One.End(t, "ended", swarm.Exit{})
	whole := swarm.KillTree
	for _, c := range []struct {
		name string
		req  input.SignalRequest
		want error
	}{
		{"tree", input.SignalRequest{Signal: "usr1"}, nil},
		{"main", input.SignalRequest{Signal: "SIGUSR2"}, nil},
		{"main", input.SignalRequest{Signal: "15", Mode: &whole}, nil},
		{"main", input.SignalRequest{Signal: "NONE"}, swarm.ErrInvalidSpec},
		{"far", input.SignalRequest{Signal: "HUP"}, swarm.ErrUnsupported},
		{"ended", input.SignalRequest{Signal: "HUP"}, worker.ErrEnded},
		{"ghost", input.SignalRequest{Signal: "HUP"}, store.ErrNotFound},
	} {
		if _, err := r.Input().Signal(t.Context(), c.name, c.req); !errors.Is(err, c.want) {
			t.Errorf("%s to %s: %v, want %v", c.req.Signal, c.name, err, c.want)
		}
	}
	want := []string{"tree SIGUSR1 tree", "main SIGUSR2 main", "main SIGTERM tree"}
	if diff := cmp.Diff(want, r.One.Signals); diff != "" {
		t.Errorf("sent (-want +got):\n%s", diff)
	}
}

func TestExec(t *testing.T) {
	t.Parallel()
	r := hosttest.New(t)
	r.Announce("one", swarm.CapExec)
	r.MustSpawn(t, "a", "one")
	r.MustSpawn(t, "far", "two")
	r.MustSpawn(t, "ended", "one")
	r.One.End(t, "ended", swarm.Exit{})
	sender := r.Input()
	sender.Env = []string{"TERM=dumb", "OTHER=1"}
	o := swarm.ExecOptions{Command: []string{"ls", "-l"}, Dir: "sub", Env: []string{"A=b"}}
	got, err := sender.Exec(t.Context(), "a", o)
	if diff := cmp.Diff(swarm.Program{Command: []string{"enter", "a", "ls", "-l"}}, got); err != nil || diff != "" {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
	if o.Shim = r.One.ExecOptions.Shim; filepath.Base(o.Shim) != backend.ShimName || !cmp.Equal(r.One.ExecOptions, o) {
		t.Errorf("the backend got %+v", r.One.ExecOptions)
	}
	o.TTY = true
	if _, err := sender.Exec(t.Context(), "a", o); err != nil || !slices.Equal(r.One.ExecOptions.Env, []string{"TERM=dumb", "A=b"}) {
		t.Errorf("on a terminal the backend got %+v, %v", r.One.ExecOptions, err)
	}
	for name, want := range map[string]error{"far": swarm.ErrUnsupported, "ended": worker.ErrEnded, "ghost": store.ErrNotFound} {
		if _, err := sender.Exec(t.Context(), name, o); !errors.Is(err, want) {
			t.Errorf("%s: %v, want %v", name, err, want)
		}
	}
	if _, err := sender.Exec(t.Context(), "a", swarm.ExecOptions{}); !errors.Is(err, swarm.ErrInvalidSpec) {
		t.Errorf("without a command: %v", err)
	}
}

func TestAttach(t *testing.T) {
	t.Parallel()
	r := hosttest.New(t)
	r.Announce("one", swarm.CapAttach)
	r.MustSpawn(t, "a", "one")
	r.MustSpawn(t, "far", "two")
	r.MustSpawn(t, "ended", "one")
	r.One.End(t, "ended", swarm.Exit{})
	got, err := r.Input().Attach(t.Context(), "a", false)
	want := swarm.Attachment{Command: []string{"connect", "a"}, Unset: []string{"TMUX"}}
	if diff := cmp.Diff(want, got); err != nil || diff != "" {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
	if !slices.Contains(r.One.AttachEnv, "HOME=/home/me") {
		t.Errorf("the backend does not know the caller: %q", r.One.AttachEnv)
	}
	for name, want := range map[string]error{"far": swarm.ErrUnsupported, "ended": worker.ErrEnded, "ghost": store.ErrNotFound} {
		if _, err := r.Input().Attach(t.Context(), name, false); !errors.Is(err, want) {
			t.Errorf("%s: %v, want %v", name, err, want)
		}
	}
}
