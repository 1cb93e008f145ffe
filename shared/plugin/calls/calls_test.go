package calls_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/swarmhost/swarm/shared/plugin/calls"
	"github.com/swarmhost/swarm/shared/swarm"
)

// backend knows one worker, whose handle is its name.
type backend struct {
	spawned swarm.Spec
	// cancel is what a Spawn that hangs does first.
	cancel func()
}

func (b *backend) Spawn(ctx context.Context, spec swarm.Spec) (swarm.Handle, error) {
	b.spawned = spec
	switch spec.Command[0] {
	case "panic":
		panic("at once")
	case "hang":
		b.cancel()
		<-ctx.Done()
		return swarm.Handle{}, ctx.Err()
	}
	return swarm.Handle{Version: 1, Data: []byte("one")}, nil
}

func (*backend) Status(_ context.Context, h swarm.Handle) (swarm.Status, error) {
	if string(h.Data) != "one" {
		return swarm.Status{}, fmt.Errorf("%w: '%s'", swarm.ErrInvalidHandle, h.Data)
	}
	return swarm.Status{State: swarm.StateRunning, PID: 7}, nil
}

func (b *backend) Kill(ctx context.Context, h swarm.Handle, o swarm.KillOptions) (swarm.KillResult, error) {
	s, err := b.Status(ctx, h)
	s.Reason = swarm.RunDir(ctx, "one", "elsewhere")
	return swarm.KillResult{Status: s, Signal: o.Signal}, err
}

// do makes a call and returns its answers.
func do(ctx context.Context, t *testing.T, b swarm.Backend, method, request string) ([]string, error) {
	t.Helper()
	var answers []string
	err := calls.Do(ctx, "mine", b, method, []byte(request), func(line []byte) error {
		if !json.Valid(line) || strings.Contains(string(line), "\n") {
			t.Errorf("%s: not one line of JSON: %q", method, line)
		}
		answers = append(answers, string(line))
		return nil
	})
	return answers, err
}

func TestDo(t *testing.T) {
	t.Parallel()
	b := new(backend)
	dir := t.TempDir()
	spawn := func(command string) string {
		v, err := json.Marshal(map[string]any{
			"id": "one", "command": [][]byte{[]byte(command), {0xff}}, "kill": map[string]any{"grace": "1.5s"}, "local": map[string]any{"runDir": []byte(dir)},
		})
		if err != nil {
			t.Fatal(err)
		}
		return string(v)
	}
	const running = `"state":"STATE_RUNNING","pid":"7"`
	for _, test := range []struct {
		method, request, want string
		err                   error
	}{
		{"Spawn", spawn("run"), `{"handle":{"version":1,"data":"b25l"},"warnings":[]}`, nil},
		{"Spawn", spawn("panic"), "", errors.New("plugin 'mine' panicked in Spawn: at once")},
		{"Spawn", `{"id":"one","command":["eA=="]}`, "", swarm.ErrInvalidSpec}, // a local backend without a run directory
		{"Status", `{"handles":[{"version":1,"data":"b25l"}]}`, running, nil},
		{"Status", `{"handles":[{"data":"eA=="}]}`, `"reasons":["INVALID_HANDLE"]`, nil},
		{"Status", `{"handels":[]}`, "", swarm.ErrInvalidSpec},
		{"Status", `{`, "", swarm.ErrInvalidSpec},
		{"Kill", `{"items":[{"handle":{"version":1,"data":"b25l"},"options":{"signal":"SIGHUP"}}]}`, `"reason":"/now/one"`, nil},
		{"Watch", `{"handles":[]}`, "", swarm.ErrUnsupported},
		{"Dance", `{}`, "", swarm.ErrUnsupported},
	} {
		got, err := do(swarm.WithRunDirs(t.Context(), "/now"), t, b, test.method, test.request)
		switch {
		case test.err != nil && !errors.Is(err, test.err) && (err == nil || err.Error() != test.err.Error()):
			t.Errorf("%s %s: the error is %v", test.method, test.request, err)
		case test.err == nil && (err != nil || len(got) != 1 || !strings.Contains(got[0], test.want)):
			t.Errorf("%s %s: %s, %v", test.method, test.request, got, err)
		}
	}
	if diff := cmp.Diff([]string{"panic", "\xff"}, b.spawned.Command); diff != "" {
		t.Errorf("the command (-want +got):\n%s", diff)
	}
}

// TestSpawnThatIsCancelled leaves the mark by which a Find does not take its worker for one that runs.
func TestSpawnThatIsCancelled(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	request, err := json.Marshal(map[string]any{"id": "one", "command": [][]byte{[]byte("hang")}, "local": map[string]any{"runDir": []byte(dir)}})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	answers, err := do(ctx, t, &backend{cancel: cancel}, "Spawn", string(request))
	if !errors.Is(err, context.Canceled) || len(answers) > 0 {
		t.Errorf("%s, %v", answers, err)
	}
	if _, err := os.Lstat(filepath.Join(dir, "undone")); err != nil {
		t.Error(err)
	}
}

func TestError(t *testing.T) {
	t.Parallel()
	got := string(calls.Error(fmt.Errorf("%w: worker one", swarm.ErrNotFound)))
	if want := `{"message":"not found: worker one","reasons":["NOT_FOUND"]}`; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}
