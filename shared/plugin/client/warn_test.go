package client

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/swarmhost/swarm/shared/swarm"
)

// TestWarnings: what a plugin warns of reaches the caller of the same call, for each worker of a
// batch by itself, in order, bounded in number and length, and not after the call.
func TestWarnings(t *testing.T) {
	t.Parallel()
	var late context.Context
	b := backendOf(t, stub{
		spawn: func(ctx context.Context, _ swarm.Spec) (swarm.Handle, error) {
			late = ctx //nolint:fatcontext // a call that has returned is what is tested
			swarm.Warn(ctx, "one\nline")
			swarm.Warn(ctx, strings.Repeat("x", 1<<20))
			for i := range 100 {
				swarm.Warn(ctx, fmt.Sprint(i))
			}
			return swarm.Handle{Version: 1}, nil
		},
		kill: func(ctx context.Context, h swarm.Handle, _ swarm.KillOptions) (swarm.KillResult, error) {
			swarm.Warn(ctx, "kill of "+string(h.Data))
			if string(h.Data) == "b" {
				return swarm.KillResult{}, swarm.ErrUnavailable
			}
			return swarm.KillResult{Status: swarm.Status{State: swarm.StateLost}}, nil
		},
	})
	var got []string
	ctx := swarm.WithWarnings(t.Context(), func(text string) { got = append(got, text) })
	if _, err := b.Spawn(ctx, aSpec(t)); err != nil {
		t.Fatal(err)
	}
	if len(got) != swarm.MaxWarnings || got[0] != `one\nline` || len(got[1]) > 8<<10 || got[2] != "0" {
		t.Errorf("%d warnings, the first %q", len(got), got[0])
	}
	swarm.Warn(late, "late")
	if _, err := b.Spawn(t.Context(), aSpec(t)); err != nil {
		t.Errorf("Spawn without a reader of warnings: %v", err)
	}

	var mu sync.Mutex
	of := map[string][]string{}
	var items []KillItem
	for _, name := range []string{"a", "b"} {
		items = append(items, KillItem{Handle: swarm.Handle{Version: 1, Data: []byte(name)}, Warn: func(text string) {
			mu.Lock()
			defer mu.Unlock()
			of[name] = append(of[name], text)
		}})
	}
	err := b.KillBatch(t.Context(), items, func(i int, _ swarm.KillResult, err error) {
		if (i == 1) != errors.Is(err, swarm.ErrUnavailable) {
			t.Errorf("kill %d: %v", i, err)
		}
	})
	if diff := cmp.Diff(map[string][]string{"a": {"kill of a"}, "b": {"kill of b"}}, of); err != nil || diff != "" {
		t.Errorf("KillBatch: %v, warnings (-want +got)\n%s", err, diff)
	}
}
