package backendtest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/swarmhost/swarm/shared/plugin/client"
	"github.com/swarmhost/swarm/shared/plugin/plugintest/script"
	"github.com/swarmhost/swarm/shared/swarm"
)

func handleCases() []testCase {
	return []testCase{
		newCase("handle-unknown-version", scope{},
			"a handle of a version that the backend does not know is ErrInvalidHandle",
			func(k *kit) {
				w := k.ready(script.Sleep)
				h := swarm.Handle{Version: w.handle.Version + 1000, Data: w.handle.Data}
				k.invalid(h, "that handle")
				w.wantState(swarm.StateRunning, "the worker of the same data")
			}),
		newCase("handle-garbage", scope{},
			"a handle that can't be read is ErrInvalidHandle and harms nothing",
			func(k *kit) {
				w := k.ready(script.Sleep)
				for _, data := range garbage() {
					h := swarm.Handle{Version: w.handle.Version, Data: data}
					k.invalid(h, fmt.Sprintf("%d bytes %.20q", len(data), data))
				}
				w.wantState(swarm.StateRunning, "after others were killed, a worker")
			}),
		newCase("handle-damaged", scope{},
			"a truncated handle names no worker, kills none, and never causes a panic",
			func(k *kit) {
				w := k.ready(script.Sleep)
				var cuts []swarm.Handle
				for n := range len(w.handle.Data) {
					cuts = append(cuts, swarm.Handle{Version: w.handle.Version, Data: w.handle.Data[:n]})
				}
				for n, r := range k.statusAndKill(cuts) {
					if r.Err == nil && (r.Status.State == swarm.StateRunning || r.Status.State == swarm.StateExited) {
						k.Broken("Status of the first %d bytes: %+v", n, r.Status)
					}
				}
				w.wantState(swarm.StateRunning, "the worker")
			}),
		newCase("handle-outlives-the-plugin", scope{},
			"a handle works in a new process of the plugin: a plugin holds no state",
			func(k *kit) {
				w := k.ready(script.Sleep)
				fresh := k.open(k.T)
				if st := k.statusOf(fresh, w.handle); st.State != swarm.StateRunning {
					k.Broken("in a new process, the state of the worker is %s", st.State)
				}
				_, err := fresh.Kill(k.Ctx, w.handle, gentle())
				k.Check("Kill by a new process", err)
				if st := k.statusOf(k.open(k.T), w.handle); st.State != swarm.StateExited {
					k.Broken("in another process, the state of the killed worker is %s", st.State)
				}
			}),
	}
}

// statusAndKill returns the statuses of handles, and then kills with each of them, with any result. A
// plugin gets all handles in one call if it can answer that: it may start a program for each call.
func (k *kit) statusAndKill(hs []swarm.Handle) []swarm.StatusResult {
	if plugin, ok := k.Backend.(*client.Backend); ok {
		items := make([]client.KillItem, len(hs))
		for i, h := range hs {
			items[i] = client.KillItem{Handle: h, Options: gentle()}
		}
		results, err := plugin.StatusBatch(k.Ctx, hs)
		if err == nil && plugin.KillBatch(k.Ctx, items, func(int, swarm.KillResult, error) {}) == nil {
			return results
		}
	}
	results := make([]swarm.StatusResult, len(hs))
	for i, h := range hs {
		results[i].Status, results[i].Err = k.Status(k.Ctx, h)
		_, _ = k.Kill(k.Ctx, h, gentle())
	}
	return results
}

func (k *kit) invalid(h swarm.Handle, what string) {
	k.Helper()
	_, err := k.Status(k.Ctx, h)
	k.WantErr("Status of "+what, err, swarm.ErrInvalidHandle)
	_, err = k.Kill(k.Ctx, h, gentle())
	k.WantErr("Kill of "+what, err, swarm.ErrInvalidHandle)
}

func garbage() [][]byte {
	return [][]byte{
		nil,
		{0},
		badHandle().Data,
		[]byte("{}"),
		[]byte("null"),
		[]byte(`{"pid":-1,"id":"../../..","start":1e400}`),
		[]byte("../../../../etc/passwd"),
		{0xff, 0xfe, 0, 0, 0x80},
		bytes.Repeat([]byte{'['}, swarm.MaxHandle),
		bytes.Repeat([]byte{0xff}, swarm.MaxHandle),
	}
}

func olderCases() []testCase {
	return []testCase{newCase("handle-older-versions", scope{},
		"a backend reads every handle version that it ever wrote",
		func(k *kit) {
			now := k.spawn(script.Sleep).handle.Version
			for v := uint32(1); v < now; v++ {
				if !slices.ContainsFunc(k.settings.Handles, func(h swarm.Handle) bool { return h.Version == v }) {
					k.Broken("handles have version %d now, and there is no handle of version %d to check", now, v)
				}
			}
			for _, h := range k.settings.Handles {
				ctx, cancel := k.limited()
				_, err := k.Status(ctx, h)
				// The worker need not exist.
				if errors.Is(err, swarm.ErrInvalidHandle) || errors.Is(err, context.DeadlineExceeded) {
					k.Broken("Status of a handle of version %d: %v", h.Version, err)
				}
				cancel()
			}
		})}
}

func badHandle() swarm.Handle {
	return swarm.Handle{Version: 1, Data: []byte("plugintest: not a handle")}
}
