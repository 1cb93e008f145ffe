package backendtest

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/swarmhost/swarm/shared/plugin/plugintest/harness"
	"github.com/swarmhost/swarm/shared/plugin/plugintest/script"
	"github.com/swarmhost/swarm/shared/swarm"
)

func inputCases() []testCase {
	return []testCase{
		newCase("input-arrives", scope{needs: swarm.CapInput, also: swarm.CapStdin},
			"Input gives the worker the data unchanged, and Enter submits it",
			func(k *kit) {
				w := k.echo()
				for _, line := range []string{"hello", "-x --long", `$HOME "a' \ ; # é 世`, "  blanks  ", ""} {
					w.send(swarm.Input{Data: []byte(line), Enter: true})
					w.wantLine("got " + line)
				}
			}),
		newCase("input-in-parts", scope{needs: swarm.CapInput, also: swarm.CapStdin},
			"Input without Enter submits nothing: the next input continues the line",
			func(k *kit) {
				w := k.echo()
				w.send(swarm.Input{Data: []byte("one ")})
				w.send(swarm.Input{Data: []byte("two")})
				w.send(swarm.Input{Enter: true})
				w.wantLine("got one two")
			}),
		newCase("input-of-many-lines", scope{needs: swarm.CapInput, also: swarm.CapStdin},
			"Input of many lines arrives whole and in order",
			func(k *kit) {
				w := k.echo()
				lines := make([]string, 20)
				for i := range lines {
					lines[i] = fmt.Sprintf("%d %s", i, strings.Repeat("x", 1000))
				}
				w.send(swarm.Input{Data: []byte(strings.Join(lines, "\n")), Enter: true})
				for _, line := range lines {
					w.wantLine("got " + line)
				}
			}),
		newCase("input-is-not-mixed", scope{needs: swarm.CapInput, also: swarm.CapStdin},
			"inputs that are given at the same time arrive one after the other",
			func(k *kit) {
				const senders, lines = 8, 10
				w := k.echo()
				errs := make([]error, senders)
				harness.Together(senders, func(i int) {
					_, errs[i] = w.input(swarm.Input{Data: []byte(numbered(i, lines)), Enter: true})
				})
				k.Must("Input", errors.Join(errs...))
				arrived := make(map[int]bool)
				for range senders {
					sender := w.readInput(lines)
					if arrived[sender] {
						k.Fatal("the input of sender %d arrived twice", sender)
					}
					arrived[sender] = true
				}
			}),
		newCase("input-ends", scope{needs: swarm.CapInput, also: swarm.CapStdin},
			"InputEOF ends the input of the worker, which keeps running",
			func(k *kit) {
				w := k.echo()
				w.send(swarm.Input{Kind: swarm.InputEOF})
				w.wantLine("eof")
				w.wantState(swarm.StateRunning, "the worker")
			}),
		newCase("input-interrupts", scope{needs: swarm.CapInput},
			"InputInterrupt interrupts the worker; its reaction, even an exit, is its own",
			func(k *kit) {
				w := k.ready(script.Interrupt)
				w.send(swarm.Input{Kind: swarm.InputInterrupt})
				w.wantLine("interrupted")
				k.wantExit(w.ended(), swarm.Exit{Code: 5, Cause: swarm.CauseExited})
			}),
		newCase("input-without-stdin", scope{needs: swarm.CapInput},
			"Input for a worker that was spawned without Stdin arrives or is ErrInvalidSpec",
			func(k *kit) {
				w := k.ready(script.Echo)
				_, err := w.input(swarm.Input{Data: []byte("x"), Enter: true})
				if err == nil {
					w.wantLine("got x")
					return
				}
				k.WantErr("Input", err, swarm.ErrInvalidSpec)
			}),
		newCase("input-too-large", scope{needs: swarm.CapInput, also: swarm.CapStdin},
			"Input of more than MaxInput bytes is ErrInvalidSpec, and no part of it arrives",
			func(k *kit) {
				w := k.echo()
				w.refuses(swarm.Input{Data: []byte(strings.Repeat("line\n", swarm.MaxInput/4))}, swarm.ErrInvalidSpec)
				w.send(swarm.Input{Data: []byte("small"), Enter: true})
				w.wantLine("got small")
			}),
		newCase("input-enter-after", scope{needs: swarm.CapInput, also: swarm.CapStdin},
			"Input with EnterAfter out of range is ErrInvalidSpec and does not arrive; within the range it is submitted",
			func(k *kit) {
				w := k.echo()
				for _, after := range []time.Duration{-1, swarm.MaxEnterAfter + 1} {
					w.refuses(swarm.Input{Data: []byte("x"), Enter: true, EnterAfter: after}, swarm.ErrInvalidSpec)
				}
				w.send(swarm.Input{Data: []byte("y"), Enter: true, EnterAfter: 10 * time.Millisecond})
				w.wantLine("got y")
			}),
		newCase("input-keys", scope{needs: swarm.CapInput, also: swarm.CapStdin},
			"InputKeys presses keys on the worker's terminal, or is ErrInvalidSpec without a terminal; it never types text",
			func(k *kit) {
				w := k.echo()
				w.refuses(swarm.Input{Kind: swarm.InputKeys, Data: []byte("x NoSuchKey Enter")}, swarm.ErrInvalidSpec)
				_, err := w.input(swarm.Input{Kind: swarm.InputKeys, Data: []byte("h i Enter")})
				if err == nil {
					w.wantLine("got hi")
					return
				}
				k.WantErr("Input", err, swarm.ErrInvalidSpec)
				w.send(swarm.Input{Data: []byte("text"), Enter: true})
				w.wantLine("got text")
			}),
		newCase("input-of-an-unknown-kind", scope{needs: swarm.CapInput, also: swarm.CapStdin},
			"Input of a kind that the backend does not know is ErrInvalidSpec, not text",
			func(k *kit) {
				w := k.echo()
				w.refuses(swarm.Input{Kind: 99, Data: []byte("x"), Enter: true}, swarm.ErrInvalidSpec)
			}),
		newCase("input-after-the-end", scope{needs: swarm.CapInput, also: swarm.CapStdin},
			"Input for a worker that has ended is ErrNotFound",
			func(k *kit) {
				w := k.echo()
				w.kill(gentle())
				for _, in := range []swarm.Input{
					{Data: []byte("x"), Enter: true},
					{Kind: swarm.InputInterrupt},
					{Kind: swarm.InputEOF},
					{Kind: swarm.InputKeys, Data: []byte("x")},
				} {
					w.refuses(in, swarm.ErrNotFound)
				}
			}),
	}
}

func (k *kit) echo() *worker {
	k.Helper()
	w := k.newSpec(script.Echo)
	w.spec.Stdin = true
	w.start()
	w.wantLine("ready")
	return w
}

// numbered returns the lines of one sender.
func numbered(sender, lines int) string {
	all := make([]string, lines)
	for i := range all {
		all[i] = fmt.Sprintf("%d %d", sender, i)
	}
	return strings.Join(all, "\n")
}

// readInput returns the sender of the next input that the worker reads, which must be whole.
func (w *worker) readInput(lines int) int {
	w.Helper()
	var sender, line int
	first := w.readLine()
	if _, err := fmt.Sscanf(first, "got %d %d", &sender, &line); err != nil || line != 0 {
		w.Fatal("an input begins with %q", first)
	}
	for i := 1; i < lines; i++ {
		w.wantLine(fmt.Sprintf("got %d %d", sender, i))
	}
	return sender
}

func (w *worker) input(in swarm.Input) (swarm.InputResult, error) {
	ctx, cancel := w.limited()
	defer cancel()
	return w.Backend.(swarm.Inputter).Input(ctx, w.handle, in)
}

func (w *worker) refuses(in swarm.Input, want error) {
	w.Helper()
	_, err := w.input(in)
	w.WantErr("Input of "+in.Kind.String(), err, want)
}

func (w *worker) send(in swarm.Input) {
	w.Helper()
	_, err := w.input(in)
	w.Must(fmt.Sprintf("Input(%s %.40q)", in.Kind, in.Data), err)
}

func (w *worker) wantLine(want string) {
	w.Helper()
	if got := w.readLine(); got != want {
		w.Fatal("the worker wrote %.80q instead of %.80q", got, want)
	}
}
