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
	"github.com/swarmhost/swarm/shared/shim/client"
	"github.com/swarmhost/swarm/shared/shim/rundir"
	"github.com/swarmhost/swarm/shared/swarm"
)

const history = 1000

// A last screen is the visible part, this line, and all kept lines including the visible
// ones.
func divider(id string) string { return "swarm: all lines of " + id + ":" }

func captureAll(id, pane string) [][]string {
	return [][]string{
		{"capture-pane", "-p", "-e", "-J", "-t", pane},
		{"display-message", "-p", "-t", pane, divider(id)},
		{"capture-pane", "-p", "-e", "-J", "-t", pane, "-S", "-" + strconv.Itoa(history)},
	}
}

// Screen returns the current content of the window, or the last one.
func (b *Backend) Screen(ctx context.Context, raw swarm.Handle, o swarm.ScreenOptions) (swarm.Screen, error) {
	h, err := b.handle(ctx, raw)
	if err != nil {
		return swarm.Screen{}, err
	}
	st, err := client.Status(h.Dir, h.ID)
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
	return h.taken(o)
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
	var at string
	for _, start := range starts {
		out, err := b.queries.ask(ctx, h.server(), h.ifOurs(
			[]string{"display-message", "-p", "-t", h.Pane, cursorFormat},
			slices.Concat(capture, []string{"-S", start, "-t", h.Pane}),
		))
		if err != nil {
			return swarm.Screen{}, err
		}
		if out == "" {
			return swarm.Screen{}, failure{text: "the pane is another's"}
		}
		at, out, _ = strings.Cut(out, "\n")
		// One row more, since the first one may be the rest of a wrapped line.
		if s = screenOf(out, o.Styles); len(s.Lines) > o.Lines {
			break
		}
	}
	s.Lines, s.Styled = lastOf(s.Lines, o.Lines), lastOf(s.Styled, o.Lines)
	setCursor(&s, at)
	return s, nil
}

// cursorFormat makes the line that setCursor reads.
const cursorFormat = "#{pane_id}:#{pane_width}:#{pane_height}:#{cursor_x}:#{cursor_y}:#{cursor_flag}"

// setCursor sets the size and the cursor of a screen.
func setCursor(s *swarm.Screen, line string) {
	f := strings.Split(line, ":")
	if len(f) != 6 {
		return
	}
	var n [5]int
	for i, field := range f[1:] {
		var err error
		if n[i], err = strconv.Atoi(field); err != nil {
			return
		}
	}
	s.Columns, s.Rows, s.Cursor = n[0], n[1], &swarm.Cursor{Column: n[2], Row: n[3], Visible: n[4] != 0}
}

// screenOf returns the screen of which tmux printed the text: without blanks at the ends of lines,
// without empty lines at the end of all, and with styles only if they were asked for.
func screenOf(text string, styles bool) swarm.Screen {
	s := swarm.Screen{Styled: screen.Styled(text)}
	for _, line := range s.Styled {
		s.Lines = append(s.Lines, strings.TrimRight(screen.Plain(line), " "))
	}
	for len(s.Lines) > 0 && s.Lines[len(s.Lines)-1] == "" {
		s.Lines = s.Lines[:len(s.Lines)-1]
	}
	s.Styled = s.Styled[:len(s.Lines)]
	if !styles {
		s.Styled = nil
	}
	return s
}

// taken returns the last screen of a worker without a window.
func (h handle) taken(o swarm.ScreenOptions) (swarm.Screen, error) {
	b, err := safefile.Read(filepath.Join(h.Dir, rundir.ScreenFile), rundir.MaxScreen)
	if errors.Is(err, fs.ErrNotExist) {
		err = fmt.Errorf("%w: the screen of the worker: its window is gone", swarm.ErrNotFound)
	}
	if err != nil {
		return swarm.Screen{}, err
	}
	text, all, _ := strings.Cut(string(b), divider(h.ID)+"\n")
	if o.Lines > 0 {
		text = all
	}
	s := screenOf(text, o.Styles)
	s.Lines, s.Styled, s.Taken = lastOf(s.Lines, o.Lines), lastOf(s.Styled, o.Lines), true
	return s, nil
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
	machine := new(client.Look)
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
			r.Screen, r.Err = h.taken(o)
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
		n, commands := firstFit(len(windows), func(i int) [][]string { return windows[i].commands(i, mark, styles) })
		out, err := b.queries.ask(ctx, windows[0].server(), commands...)
		_, refused := errors.AsType[failure](err)
		if err != nil && !refused {
			for _, w := range windows {
				w.into.Err = err
			}
			return
		}
		at, out, _ := strings.Cut(out, mark+"\n")
		cursors := make(map[string]string) // by pane
		for line := range strings.Lines(at) {
			id, _, _ := strings.Cut(line, ":")
			cursors[id] = strings.TrimSuffix(line, "\n")
		}
		done := 0
		for ; done < n; done++ {
			text, rest, ok := strings.Cut(out, mark+strconv.Itoa(done)+"\n")
			if !ok {
				break
			}
			windows[done].set(text, cursors[windows[done].Pane], styles)
			out = rest
		}
		if done < n {
			windows[done].set("", "", styles)
			done++
		}
		windows = windows[done:]
	}
}

// commands capture the pane if it is the worker's, and print the mark with the number i. The first
// ones print the cursors of all panes, and the mark, before. Their short names let 100 of them fit
// into one message.
func (w *look) commands(i int, mark string, styles bool) (commands [][]string) {
	if i == 0 {
		commands = [][]string{{"list-panes", "-a", "-F", cursorFormat}, {"display", "-p", mark}}
	}
	capture := "capturep -pJ -t "
	if styles {
		capture = "capturep -peJ -t "
	}
	return append(commands,
		[]string{"if", "-F", "-t", w.Pane, w.ours(), capture + w.Pane},
		[]string{"display", "-p", mark + strconv.Itoa(i)},
	)
}

// set takes what tmux printed of a window, which is nothing if it is gone: an empty
// screen has empty lines.
func (w *look) set(text, cursor string, styles bool) {
	if text == "" {
		w.into.Screen, w.into.Err = w.taken(swarm.ScreenOptions{Styles: styles})
		return
	}
	w.into.Screen = screenOf(text, styles)
	setCursor(&w.into.Screen, cursor)
}
