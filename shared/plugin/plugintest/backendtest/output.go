package backendtest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/swarmhost/swarm/shared/plugin/plugintest/script"
	"github.com/swarmhost/swarm/shared/swarm"
)

func outputCases() []testCase {
	return []testCase{
		newCase("output-is-complete", scope{needs: swarm.CapOutput},
			"the whole output can be read after the worker's end, in order, including a last line without a newline",
			func(k *kit) {
				w := k.finished(script.Lines)
				k.wantLines(w.output(swarm.OutputOptions{}), allLines())
			}),
		newCase("output-is-followed", scope{needs: swarm.CapOutput},
			"with Follow, Output returns once the worker has ended and its last output has been read",
			func(k *kit) {
				k.wantLines(k.spawn(script.Lines).output(swarm.OutputOptions{Follow: true}), allLines())
			}),
		newCase("output-tail", scope{needs: swarm.CapOutput},
			"Tail is the number of last lines to read",
			func(k *kit) {
				w := k.finished(script.Lines)
				lines := allLines()
				for _, n := range []int{0, 1, 10, 2000} {
					k.wantLines(w.output(swarm.OutputOptions{Tail: &n}), lines[len(lines)-min(n, len(lines)):])
				}
			}),
		newCase("output-since", scope{needs: swarm.CapOutput},
			"Since leaves out earlier output",
			func(k *kit) {
				w := k.finished(script.Lines)
				k.wantLines(w.output(swarm.OutputOptions{Since: time.Now().Add(time.Hour)}), nil)
				k.wantLines(w.output(swarm.OutputOptions{Since: time.Now().Add(-time.Hour)}), allLines())
			}),
		newCase("output-none-yet", scope{needs: swarm.CapOutput},
			"no output yet is not an error",
			func(k *kit) {
				w := k.finished(script.True)
				k.wantLines(w.output(swarm.OutputOptions{}), nil)
			}),
		newCase("output-callback-fails", scope{needs: swarm.CapOutput},
			"Output returns an error of its callback unchanged and does not call it again",
			func(k *kit) {
				w := k.finished(script.Lines)
				enough := errors.New("enough")
				calls := 0
				err := k.Backend.(swarm.Outputter).Output(k.Ctx, w.handle, swarm.OutputOptions{}, func(swarm.Output) error {
					calls++
					return enough
				})
				if err != enough || calls != 1 { //nolint:errorlint // as it is
					k.Broken("got the error %v after %d calls", err, calls)
				}
			}),
		newCase("output-cancelled", scope{needs: swarm.CapOutput},
			"Output that follows obeys its context",
			func(k *kit) {
				w := k.ready(script.Sleep)
				ctx, cancel := context.WithTimeout(k.Ctx, shortGrace)
				defer cancel()
				err := k.Backend.(swarm.Outputter).Output(ctx, w.handle, swarm.OutputOptions{Follow: true},
					func(swarm.Output) error { return nil })
				k.WantErr("Output", err, context.DeadlineExceeded)
			}),
	}
}

func allLines() []string {
	lines := make([]string, 0, 1001)
	for i := range 1000 {
		lines = append(lines, fmt.Sprintf("line %d", i+1))
	}
	return append(lines, "last")
}

// output reads lines of the worker, joined from their pieces. A terminal may
// have put a carriage return at their ends.
func (w *worker) output(o swarm.OutputOptions) []string {
	w.Helper()
	ctx, cancel := w.limited()
	defer cancel()
	var lines []string
	var line bytes.Buffer
	err := w.Backend.(swarm.Outputter).Output(ctx, w.handle, o, func(piece swarm.Output) error {
		if piece.Time.IsZero() || piece.Stream != swarm.Stdout {
			w.Broken("a piece has the time %v and the stream %q", piece.Time, piece.Stream)
		}
		line.Write(piece.Data)
		if !piece.Partial {
			lines = append(lines, strings.TrimSuffix(line.String(), "\r"))
			line.Reset()
		}
		return nil
	})
	w.Must(fmt.Sprintf("Output(%+v)", o), err)
	if line.Len() > 0 {
		lines = append(lines, line.String())
	}
	return lines
}

// wantLines checks lines and reports only the first difference.
func (k *kit) wantLines(got, want []string) {
	k.Helper()
	i := 0
	for i < min(len(got), len(want)) && got[i] == want[i] {
		i++
	}
	if i < max(len(got), len(want)) {
		k.Broken("got %d lines instead of %d; line %d is %q instead of %q", len(got), len(want), i+1,
			got[i:min(i+1, len(got))], want[i:min(i+1, len(want))])
	}
}
