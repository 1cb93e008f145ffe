package tmux

import (
	"context"
	"crypto/rand"
	"errors"
	"strconv"
	"strings"

	"github.com/swarmhost/swarm/shared/shim"
	"github.com/swarmhost/swarm/shared/swarm"
)

// longestLook is the size of the commands that capture many screens at once: a client
// passes them on in one message of at most 16 KiB. The commands for 100 windows fit.
const longestLook = 15 << 10

// ScreenBatch captures the visible screens of all workers of a tmux server with one
// command.
func (b *Backend) ScreenBatch(ctx context.Context, raws []swarm.Handle, o swarm.ScreenOptions) ([]swarm.ScreenResult, error) {
	results := make([]swarm.ScreenResult, len(raws))
	if o.Lines > 0 {
		for i, raw := range raws {
			results[i].Screen, results[i].Err = b.Screen(ctx, raw, o)
		}
		return results, nil
	}
	machine := new(shim.Look)
	looks := make(map[string][]*look) // by socket
	for i, raw := range raws {
		r := &results[i]
		h, err := decode(raw)
		var st swarm.Status
		if err == nil {
			st, err = machine.Status(h.Dir, h.ID)
		}
		switch {
		case err != nil:
			r.Err = err
		case st.State == swarm.StateRunning && h.Window != "":
			looks[h.Socket] = append(looks[h.Socket], &look{handle: h, into: r})
		default:
			r.Screen, r.Err = h.taken(0)
		}
	}
	ctx, cancel := limited(ctx, lookLimit)
	defer cancel()
	for _, windows := range looks {
		lookAt(ctx, windows)
	}
	return results, nil
}

type look struct {
	handle
	into *swarm.ScreenResult
}

// lookAt captures windows of one server. tmux stops at the first command whose window is
// gone, so the rest is repeated without that window.
func lookAt(ctx context.Context, windows []*look) {
	for len(windows) > 0 {
		// Nothing that a worker writes can be taken for the mark between two screens.
		mark := rand.Text()[:16] + ":"
		n, commands := fitting(len(windows), longestLook, func(i int) [][]string {
			return windows[i].commands(mark + strconv.Itoa(i))
		})
		out, err := windows[0].server().run(ctx, commands...)
		_, refused := errors.AsType[failure](err)
		if err != nil && !refused {
			for _, w := range windows {
				w.into.Err = err
			}
			return
		}
		done := 0
		for ; done < n; done++ {
			screen, rest, ok := strings.Cut(out, mark+strconv.Itoa(done)+"\n")
			if !ok {
				break
			}
			windows[done].set(screen)
			out = rest
		}
		if done < n {
			windows[done].set("")
			done++
		}
		windows = windows[done:]
	}
}

// commands capture the window if it is the worker's, and print the mark. Their short
// names let 100 of them fit into one message.
func (w *look) commands(mark string) [][]string {
	return [][]string{
		{"if", "-F", "-t", w.Window, w.ours(), "capturep -pJ -t " + w.Pane},
		{"display", "-p", mark},
	}
}

// set takes what tmux printed of a window, which is nothing if it is gone: an empty
// screen has empty lines.
func (w *look) set(screen string) {
	if screen == "" {
		w.into.Screen, w.into.Err = w.taken(0)
		return
	}
	w.into.Screen = swarm.Screen{Lines: trimmed(screen)}
}
