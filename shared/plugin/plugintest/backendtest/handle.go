package backendtest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/swarmhost/swarm/shared/plugin/plugintest/script"
	"github.com/swarmhost/swarm/shared/swarm"
)

func handleCases() []testCase {
	return []testCase{
		{
			name: "handle-unknown-version",
			rule: "a handle of a version that the backend does not know is ErrInvalidHandle",
			run: func(k *kit) {
				w := k.ready(script.Sleep)
				h := swarm.Handle{Version: w.handle.Version + 1000, Data: w.handle.Data}
				_, err := k.Status(k.ctx, h)
				k.wantErr("Status", err, swarm.ErrInvalidHandle)
				_, err = k.Kill(k.ctx, h, gentle())
				k.wantErr("Kill", err, swarm.ErrInvalidHandle)
				if st := w.status(); st.State != swarm.StateRunning {
					k.broken("the worker of the same data is %s", st.State)
				}
			},
		},
		{
			name: "handle-garbage",
			rule: "a handle that can't be read is ErrInvalidHandle and harms nothing",
			run: func(k *kit) {
				w := k.ready(script.Sleep)
				for _, data := range garbage() {
					h := swarm.Handle{Version: w.handle.Version, Data: data}
					_, err := k.Status(k.ctx, h)
					k.wantErr(fmt.Sprintf("Status of %d bytes %.20q", len(data), data), err, swarm.ErrInvalidHandle)
					_, err = k.Kill(k.ctx, h, gentle())
					k.wantErr(fmt.Sprintf("Kill of %d bytes %.20q", len(data), data), err, swarm.ErrInvalidHandle)
				}
				if st := w.status(); st.State != swarm.StateRunning {
					k.broken("a worker is %s after others were killed", st.State)
				}
			},
		},
		{
			name: "handle-damaged",
			rule: "a handle that was cut off names no worker, ends none, and never panics",
			run: func(k *kit) {
				w := k.ready(script.Sleep)
				for n := range len(w.handle.Data) {
					cut := swarm.Handle{Version: w.handle.Version, Data: w.handle.Data[:n]}
					if st, err := k.Status(k.ctx, cut); err == nil && (st.State == swarm.StateRunning || st.State == swarm.StateExited) {
						k.broken("Status of the first %d bytes: %+v", n, st)
					}
					_, _ = k.Kill(k.ctx, cut, gentle()) // whatever it says
				}
				if st := w.status(); st.State != swarm.StateRunning {
					k.broken("the worker is %s", st.State)
				}
			},
		},
		{
			name: "handle-outlives-the-plugin",
			rule: "a handle works in a new process of the plugin: a plugin holds no state",
			run: func(k *kit) {
				w := k.ready(script.Sleep)
				fresh := k.open(k.T)
				if st := k.statusOf(fresh, w.handle); st.State != swarm.StateRunning {
					k.broken("a new process says that the worker is %s", st.State)
				}
				if _, err := fresh.Kill(k.ctx, w.handle, gentle()); err != nil {
					k.broken("Kill by a new process: %v", err)
				}
				if st := k.statusOf(k.open(k.T), w.handle); st.State != swarm.StateExited {
					k.broken("another one says that the killed worker is %s", st.State)
				}
			},
		},
	}
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
	return []testCase{{
		name: "handle-older-versions",
		rule: "a backend reads every version of its handles that it ever wrote",
		run: func(k *kit) {
			now := k.spawn(script.Sleep).handle.Version
			for v := uint32(1); v < now; v++ {
				if !slices.ContainsFunc(k.settings.handles, func(h swarm.Handle) bool { return h.Version == v }) {
					k.broken("handles are of version %d now, and none of version %d is there to check", now, v)
				}
			}
			for _, h := range k.settings.handles {
				ctx, cancel := k.limited()
				_, err := k.Status(ctx, h)
				// Whether there still is such a worker does not matter.
				if errors.Is(err, swarm.ErrInvalidHandle) || errors.Is(err, context.DeadlineExceeded) {
					k.broken("Status of one of version %d: %v", h.Version, err)
				}
				cancel()
			}
		},
	}}
}

func badHandle() swarm.Handle {
	return swarm.Handle{Version: 1, Data: []byte("plugintest: not a handle")}
}
