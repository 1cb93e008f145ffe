package backendtest

import (
	"cmp"
	"errors"
	"reflect"
	"slices"
	"strings"

	"github.com/swarmhost/swarm/shared/lazyregexp"
	"github.com/swarmhost/swarm/shared/plugin/plugintest/script"
	"github.com/swarmhost/swarm/shared/swarm"
)

func screenCases() []testCase {
	return []testCase{
		newCase("screen-shows-the-last-lines", scope{needs: swarm.CapScreen},
			"Screen returns the requested number of last lines, including those above the visible screen",
			func(k *kit) {
				w := k.page()
				for _, n := range []int{1, 3, 60} {
					w.wantScreen(n, pageLines(n), false)
				}
			}),
		newCase("screen-shows-what-is-visible", scope{needs: swarm.CapScreen},
			"Screen without a number of lines returns the visible screen, without trailing blanks and empty lines",
			func(k *kit) {
				w := k.page()
				s := w.screen(0)
				n := len(s.Lines)
				if n == 0 || n > len(pageLines(0)) || !slices.Equal(s.Lines, pageLines(n)) {
					k.Broken("got %d lines: %q", n, s.Lines)
				}
			}),
		newCase("screen-of-all", scope{needs: swarm.CapScreen},
			"Screen returns all lines if more were requested",
			func(k *kit) {
				w := k.page()
				s := w.screen(5000)
				// A worker that writes through the terminal has written "ready" before.
				lines := slices.DeleteFunc(s.Lines, func(l string) bool { return l == "ready" })
				if !slices.Equal(lines, pageLines(0)) {
					k.Broken("got %d lines: %q", len(lines), lines)
				}
			}),
		newCase("screen-after-the-end", scope{needs: swarm.CapScreen},
			"Screen of a worker that has ended returns what the terminal showed last, and reports it",
			func(k *kit) {
				w := k.finished(script.Lines)
				w.wantScreen(2, []string{"line 1000", "last"}, true)
			}),
		newCase("screen-after-a-kill", scope{needs: swarm.CapScreen},
			"Screen of a worker that was killed returns what the terminal showed last, and reports it",
			func(k *kit) {
				w := k.page()
				w.kill(gentle())
				w.wantScreen(5, pageLines(5), true)
			}),
		newCase("screen-with-styles", scope{needs: swarm.CapScreen},
			"Screen with Styles returns the same lines, and as Styled either none or each of them with SGR sequences alone",
			func(k *kit) {
				w := k.page()
				ctx, cancel := k.limited()
				defer cancel()
				s, err := k.Backend.(swarm.Screener).Screen(ctx, w.handle, swarm.ScreenOptions{Lines: 5, Styles: true})
				k.Must("Screen", err)
				if !slices.Equal(s.Lines, pageLines(5)) {
					k.Broken("the lines are %q", s.Lines)
				}
				if s.Styled == nil {
					return
				}
				var text []string
				for _, line := range s.Styled {
					text = append(text, sgr().ReplaceAllString(line, ""))
				}
				if !slices.Equal(text, s.Lines) {
					k.Broken("the lines are %q, with styles %q", s.Lines, s.Styled)
				}
			}),
		newCase("screen-size-and-cursor", scope{needs: swarm.CapScreen},
			"Screen returns the size of the terminal and the place of the cursor on it, or neither",
			func(k *kit) {
				w := k.page()
				s := w.screen(0)
				if s.Cursor != nil && s.Cursor.Column != 0 {
					// The newline behind the last line may still be on its way.
					k.until("the cursor is below the last line", func() bool {
						s = w.screen(0)
						return s.Cursor != nil && s.Cursor.Column == 0
					})
				}
				switch c := s.Cursor; {
				case (s.Columns > 0) != (s.Rows > 0) || s.Columns < 0 || s.Rows < 0:
					k.Broken("the terminal has %d columns and %d rows", s.Columns, s.Rows)
				case c == nil:
				case s.Columns == 0:
					k.Broken("the cursor is at %+v of a terminal whose size is not known", *c)
				case c.Column < 0 || c.Column > s.Columns || c.Row < 0 || c.Row >= s.Rows:
					k.Broken("the cursor is at %+v of %d columns and %d rows", *c, s.Columns, s.Rows)
				case c.Row != min(len(s.Lines), s.Rows-1):
					k.Broken("the cursor is at %+v below %d lines", *c, len(s.Lines))
				}
			}),
		newCase("screens-equal-singles", scope{needs: swarm.CapBatchScreen},
			"ScreenBatch returns for each handle, in order, what Screen would return",
			func(k *kit) {
				a, b, c := k.page(), k.spawn(script.Lines), k.page()
				b.ended()
				bad := swarm.Handle{Version: a.handle.Version, Data: badHandle().Data}
				hs := []swarm.Handle{a.handle, bad, b.handle, c.handle, a.handle}
				for _, lines := range []int{0, 4} {
					o := swarm.ScreenOptions{Lines: lines}
					results, err := k.Backend.(swarm.BatchScreener).ScreenBatch(k.Ctx, hs, o)
					if err != nil || len(results) != len(hs) {
						k.Fatal("%d results for %d handles, error %v", len(results), len(hs), err)
					}
					for i, h := range hs {
						s, err := k.Backend.(swarm.Screener).Screen(k.Ctx, h, o)
						got := results[i]
						if !reflect.DeepEqual(got.Screen, s) || kindOf(got.Err) != kindOf(err) {
							k.Broken("result %d: the batch has %+v, %v; Screen returns %+v, %v", i, got.Screen, got.Err, s, err)
						}
					}
				}
			}),
	}
}

// sgr matches the sequences that a styled line may have.
var sgr = lazyregexp.New("\x1b\\[[0-9;:]*m")

// pageLines returns the last n lines of a [script.Page]; 0: all.
func pageLines(n int) []string {
	all := allLines()[:100]
	return all[len(all)-cmp.Or(n, len(all)):]
}

func (k *kit) page() *worker {
	k.Helper()
	w := k.spawn(script.Page)
	k.until("the screen shows the last line", func() bool {
		s, err := w.look(1)
		k.Must("Screen", err)
		return slices.Equal(s.Lines, pageLines(1))
	})
	return w
}

func (w *worker) look(lines int) (swarm.Screen, error) {
	ctx, cancel := w.limited()
	defer cancel()
	return w.Backend.(swarm.Screener).Screen(ctx, w.handle, swarm.ScreenOptions{Lines: lines})
}

func (w *worker) resize(columns, rows int) error {
	ctx, cancel := w.limited()
	defer cancel()
	return w.Backend.(swarm.Resizer).Resize(ctx, w.handle, columns, rows)
}

func (w *worker) screen(lines int) swarm.Screen {
	w.Helper()
	s, err := w.look(lines)
	w.Must("Screen", err)
	for _, line := range s.Lines {
		if strings.ContainsAny(line, "\x1b\r\n") || line != strings.TrimRight(line, " ") {
			w.Broken("a line is %q", line)
		}
	}
	return s
}

func (w *worker) wantScreen(lines int, want []string, taken bool) {
	w.Helper()
	if s := w.screen(lines); !slices.Equal(s.Lines, want) || s.Taken != taken {
		w.Broken("Screen of %d lines returned %q, taken %v", lines, s.Lines, s.Taken)
	}
}

func attachCases() []testCase {
	return []testCase{
		newCase("resize", scope{needs: swarm.CapResize, also: swarm.CapScreen},
			"the screen of a worker has the size of the last Resize when that returns, unless the worker is on no terminal",
			func(k *kit) {
				w := k.page()
				for _, size := range [][2]int{{100, 30}, {60, 10}, {60, 10}} {
					err := w.resize(size[0], size[1])
					if errors.Is(err, swarm.ErrInvalidSpec) {
						return
					}
					k.Must("Resize", err)
					if s := w.screen(0); s.Columns != size[0] || s.Rows != size[1] {
						k.Broken("after Resize to %d columns and %d rows it has %d and %d", size[0], size[1], s.Columns, s.Rows)
					}
				}
			}),
		newCase("resize-to-no-size", scope{needs: swarm.CapResize},
			"Resize to a size that no terminal has is ErrInvalidSpec",
			func(k *kit) {
				w := k.ready(script.Sleep)
				for _, size := range [][2]int{{0, 24}, {80, 0}, {-1, 24}, {80, swarm.MaxTerminal + 1}} {
					k.WantErr("Resize", w.resize(size[0], size[1]), swarm.ErrInvalidSpec)
				}
			}),
		newCase("attach-returns-a-command", scope{needs: swarm.CapAttach},
			"Attach returns a command and changes nothing",
			func(k *kit) {
				w := k.ready(script.Sleep)
				before := w.status()
				for range 2 {
					ctx, cancel := k.limited()
					a, err := k.Backend.(swarm.Attacher).Attach(ctx, w.handle, swarm.AttachOptions{})
					cancel()
					k.Must("Attach", err)
					if len(a.Command) == 0 || a.Command[0] == "" {
						k.Broken("the command is %q", a.Command)
					}
				}
				if after := w.status(); after.State != before.State || after.PID != before.PID {
					k.Broken("the worker was %+v and is %+v", before, after)
				}
			}),
	}
}
