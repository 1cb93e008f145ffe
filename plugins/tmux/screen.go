package tmux

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/swarmhost/swarm/shared/safefile"
	"github.com/swarmhost/swarm/shared/screen"
	"github.com/swarmhost/swarm/shared/shim"
	"github.com/swarmhost/swarm/shared/shim/rundir"
	"github.com/swarmhost/swarm/shared/swarm"
)

const history = 1000

// A last screen is the visible part, this line, and all kept lines including the visible
// ones.
func divider(id string) string { return "swarm: all lines of " + id + ":" }

func captureAll(id, pane string) [][]string {
	return [][]string{
		{"capture-pane", "-p", "-J", "-t", pane},
		{"display-message", "-p", "-t", pane, divider(id)},
		{"capture-pane", "-p", "-J", "-t", pane, "-S", "-" + strconv.Itoa(history)},
	}
}

// Screen returns the current content of the window, or the last one.
func (b *Backend) Screen(ctx context.Context, raw swarm.Handle, o swarm.ScreenOptions) (swarm.Screen, error) {
	h, err := b.handle(ctx, raw)
	if err != nil {
		return swarm.Screen{}, err
	}
	st, err := shim.Status(h.Dir, h.ID)
	if err != nil {
		return swarm.Screen{}, err
	}
	if st.State == swarm.StateRunning {
		s, err := b.visible(ctx, h, o)
		if _, refused := errors.AsType[failure](err); !refused {
			return s, err
		}
		// The worker has ended since, or the window was closed.
	}
	return h.taken(o.Lines)
}

// visible captures the screen of a worker that runs. Rows that the terminal
// wrapped are put together again, so fewer lines may come than rows were asked
// for; then all rows are looked at.
func (b *Backend) visible(ctx context.Context, h handle, o swarm.ScreenOptions) (swarm.Screen, error) {
	if h.Pane == "" {
		return swarm.Screen{}, failure{text: "the pane is not known"}
	}
	starts := []string{"0"} // the first visible one
	if o.Lines > 0 {
		starts = []string{"-" + strconv.Itoa(o.Lines), "-"}
	}
	capture := []string{"capture-pane", "-p", "-J"}
	if o.Styles {
		capture = append(capture, "-e")
	}
	var s swarm.Screen
	for _, start := range starts {
		out, err := b.queries.ask(ctx, h.server(), h.ifOurs(slices.Concat(capture, []string{"-S", start, "-t", h.Pane})))
		if err != nil {
			return swarm.Screen{}, err
		}
		if out == "" {
			return swarm.Screen{}, failure{text: "the pane is another's"}
		}
		// One row more, since the first one may be the rest of a wrapped line.
		if s = screenOf(out, o.Styles); len(s.Lines) > o.Lines {
			break
		}
	}
	s.Lines, s.Styled = lastOf(s.Lines, o.Lines), lastOf(s.Styled, o.Lines)
	return s, nil
}

// screenOf returns the screen of which tmux printed the text, with styles if it was asked for
// them.
func screenOf(text string, styles bool) swarm.Screen {
	if !styles {
		return swarm.Screen{Lines: trimmed(text)}
	}
	s := swarm.Screen{Styled: screen.Styled(text)}
	for _, line := range s.Styled {
		s.Lines = append(s.Lines, strings.TrimRight(screen.Plain(line), " "))
	}
	s.Lines = withoutEmptyEnd(s.Lines)
	s.Styled = s.Styled[:len(s.Lines)]
	return s
}

// taken returns the last screen of a worker without a window.
func (h handle) taken(n int) (swarm.Screen, error) {
	b, err := safefile.Read(filepath.Join(h.Dir, rundir.ScreenFile), rundir.MaxScreen)
	if errors.Is(err, fs.ErrNotExist) {
		err = fmt.Errorf("%w: the screen of the worker: its window is gone", swarm.ErrNotFound)
	}
	if err != nil {
		return swarm.Screen{}, err
	}
	visible, all, _ := strings.Cut(string(b), divider(h.ID)+"\n")
	if n == 0 {
		return swarm.Screen{Lines: trimmed(visible), Taken: true}, nil
	}
	return swarm.Screen{Lines: lastOf(trimmed(all), n), Taken: true}, nil
}

// keep writes the last screen of a worker whose window was closed, unless its shim has done
// so; the shim saw more of it.
func (h handle) keep(shown string) error {
	if shown == "" {
		return nil
	}
	f, err := os.CreateTemp(h.Dir, "."+rundir.ScreenFile+"-")
	if err != nil {
		return err
	}
	defer func() { _ = os.Remove(f.Name()) }()
	_, err = f.WriteString(shown[:min(len(shown), rundir.MaxScreen)])
	if err := errors.Join(err, f.Close()); err != nil {
		return err
	}
	err = os.Link(f.Name(), filepath.Join(h.Dir, rundir.ScreenFile))
	if errors.Is(err, fs.ErrExist) {
		return nil
	}
	return err
}

// trimmed returns the lines of a screen without blanks at their ends, and without
// empty ones at the end of all.
func trimmed(screen string) []string {
	lines := strings.Split(screen, "\n")
	for i, line := range lines {
		lines[i] = strings.TrimRight(line, " ")
	}
	return withoutEmptyEnd(lines)
}

func withoutEmptyEnd(lines []string) []string {
	for len(lines) > 0 && lines[len(lines)-1] == "" {
		lines = lines[:len(lines)-1]
	}
	return lines
}

// lastOf returns the last n lines; all for 0.
func lastOf(lines []string, n int) []string {
	if n <= 0 || lines == nil {
		return lines
	}
	return slices.Clone(lines[max(0, len(lines)-n):])
}

// ScreenBatch captures the visible screens of all workers of a tmux server with one
// command, and asks all servers concurrently.
func (b *Backend) ScreenBatch(ctx context.Context, raws []swarm.Handle, o swarm.ScreenOptions) ([]swarm.ScreenResult, error) {
	results := make([]swarm.ScreenResult, len(raws))
	if o.Lines > 0 {
		b.eachServer(raws, func(i int) { results[i].Screen, results[i].Err = b.Screen(ctx, raws[i], o) })
		return results, nil
	}
	machine := new(shim.Look)
	looks := make(map[string][]*look) // by socket
	for i, raw := range raws {
		r := &results[i]
		h, err := b.handle(ctx, raw)
		var st swarm.Status
		if err == nil {
			st, err = machine.Status(h.Dir, h.ID)
		}
		switch {
		case err != nil:
			r.Err = err
		case st.State == swarm.StateRunning && h.Pane != "":
			looks[h.Socket] = append(looks[h.Socket], &look{handle: h, into: r})
		default:
			r.Screen, r.Err = h.taken(0)
		}
	}
	var asked sync.WaitGroup
	defer asked.Wait()
	for _, windows := range looks {
		asked.Go(func() { b.lookAt(ctx, windows, o.Styles) })
	}
	return results, nil
}

// eachServer calls one with the index of each handle: in turn for the workers of a server, and
// concurrently for different servers.
func (b *Backend) eachServer(raws []swarm.Handle, one func(i int)) {
	workers := make(map[string][]int) // by socket
	for i, raw := range raws {
		h, _ := decode(raw) // one reports the error
		workers[h.Socket] = append(workers[h.Socket], i)
	}
	var asked sync.WaitGroup
	defer asked.Wait()
	for _, indexes := range workers {
		asked.Go(func() {
			for _, i := range indexes {
				one(i)
			}
		})
	}
}

type look struct {
	handle
	into *swarm.ScreenResult
}

// lookAt captures windows of one server. tmux stops at the first command whose window is
// gone, so the rest is repeated without that window.
func (b *Backend) lookAt(ctx context.Context, windows []*look, styles bool) {
	for len(windows) > 0 {
		// Nothing that a worker writes can be taken for the mark between two screens.
		mark := rand.Text()[:16] + ":"
		n, commands := firstFit(len(windows), func(i int) [][]string {
			return windows[i].commands(mark+strconv.Itoa(i), styles)
		})
		out, err := b.queries.ask(ctx, windows[0].server(), commands...)
		_, refused := errors.AsType[failure](err)
		if err != nil && !refused {
			for _, w := range windows {
				w.into.Err = err
			}
			return
		}
		done := 0
		for ; done < n; done++ {
			text, rest, ok := strings.Cut(out, mark+strconv.Itoa(done)+"\n")
			if !ok {
				break
			}
			windows[done].set(text, styles)
			out = rest
		}
		if done < n {
			windows[done].set("", styles)
			done++
		}
		windows = windows[done:]
	}
}

// commands capture the pane if it is the worker's, and print the mark. Their short
// names let 100 of them fit into one message.
func (w *look) commands(mark string, styles bool) [][]string {
	capture := "capturep -pJ -t "
	if styles {
		capture = "capturep -peJ -t "
	}
	return [][]string{
		{"if", "-F", "-t", w.Pane, w.ours(), capture + w.Pane},
		{"display", "-p", mark},
	}
}

// set takes what tmux printed of a window, which is nothing if it is gone: an empty
// screen has empty lines.
func (w *look) set(text string, styles bool) {
	if text == "" {
		w.into.Screen, w.into.Err = w.taken(0)
		return
	}
	w.into.Screen = screenOf(text, styles)
}
