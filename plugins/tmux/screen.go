package tmux

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/swarmhost/swarm/shared/safefile"
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
	h, err := decode(raw)
	if err != nil {
		return swarm.Screen{}, err
	}
	st, err := shim.Status(h.Dir, h.ID)
	if err != nil {
		return swarm.Screen{}, err
	}
	if st.State == swarm.StateRunning {
		lines, err := h.visible(ctx, o.Lines)
		if _, refused := errors.AsType[failure](err); !refused {
			return swarm.Screen{Lines: lines}, err
		}
		// The worker has ended since, or the window was closed.
	}
	return h.taken(o.Lines)
}

// visible captures the screen of a worker that runs. Rows that the terminal
// wrapped are put together again, so fewer lines may come than rows were asked
// for; then all rows are looked at.
func (h handle) visible(ctx context.Context, n int) ([]string, error) {
	if h.Window == "" {
		return nil, failure{text: "the window is not known"}
	}
	ctx, cancel := limited(ctx, lookLimit)
	defer cancel()
	starts := []string{"0"} // the first visible one
	if n > 0 {
		starts = []string{"-" + strconv.Itoa(n), "-"}
	}
	var lines []string
	for _, start := range starts {
		out, err := h.server().run(ctx, h.ifOurs([]string{"capture-pane", "-p", "-J", "-S", start, "-t", h.Pane}))
		if err != nil {
			return nil, err
		}
		if out == "" {
			return nil, failure{text: "the window is another's"}
		}
		// One row more, since the first one may be the rest of a wrapped line.
		if lines = trimmed(out); len(lines) > n {
			break
		}
	}
	return lastOf(lines, n), nil
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
func (h handle) keep(screen string) error {
	if screen == "" {
		return nil
	}
	f, err := os.CreateTemp(h.Dir, "."+rundir.ScreenFile+"-")
	if err != nil {
		return err
	}
	defer func() { _ = os.Remove(f.Name()) }()
	_, err = f.WriteString(screen[:min(len(screen), rundir.MaxScreen)])
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
	for len(lines) > 0 && lines[len(lines)-1] == "" {
		lines = lines[:len(lines)-1]
	}
	return lines
}

// lastOf returns the last n lines; all for 0.
func lastOf(lines []string, n int) []string {
	if n <= 0 {
		return lines
	}
	return slices.Clone(lines[max(0, len(lines)-n):])
}
