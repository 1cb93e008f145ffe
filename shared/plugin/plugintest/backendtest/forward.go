package backendtest

import (
	"bufio"
	"context"
	"errors"
	"io"
	"net"
	"os/exec"
	"strconv"
	"strings"
	"time"

	"github.com/swarmhost/swarm/shared/plugin/plugintest/harness"
	"github.com/swarmhost/swarm/shared/plugin/plugintest/script"
	"github.com/swarmhost/swarm/shared/swarm"
)

func forwardCases() []testCase {
	needs := scope{needs: swarm.CapForward}
	return []testCase{
		newCase("forward-both-ways", needs,
			"the program of Forward sends what it reads to the port, and writes what the port sends, as soon as it arrives",
			func(k *kit) {
				if w, port := k.listener(); port != 0 {
					w.connect(port).wantEcho("ping")
				}
			}),
		newCase("forward-several", needs,
			"the program of Forward can run several times at once, and each run is a connection of its own",
			func(k *kit) {
				if w, port := k.listener(); port != 0 {
					first, second := w.connect(port), w.connect(port)
					first.wantEcho("one")
					second.wantEcho("two")
					first.wantEcho("three")
				}
			}),
		newCase("forward-half-closed", needs,
			"the end of the standard input of the program of Forward ends that direction alone, and the program exits with 0 after both have ended",
			func(k *kit) {
				if w, port := k.listener(); port != 0 {
					cmd := w.connection(port)
					cmd.Stdin = strings.NewReader("a\x00b\r\n")
					if out, errs, code := w.ran(cmd); out != "a\x00b\r\nend" || code != 0 {
						k.Broken("it wrote %q and %q, exit code %d", out, errs, code)
					}
				}
			}),
		newCase("forward-refused", needs,
			"if no program listens on the port, the program of Forward writes a line to its standard error and does not exit with 0",
			func(k *kit) {
				w := k.ready(script.Sleep)
				out, errs, code := w.ran(w.connection(k.freePort()))
				if code == 0 || out != "" || strings.TrimSpace(errs) == "" || strings.Count(errs, "\n") > 1 {
					k.Broken("it wrote %q and %q, exit code %d", out, errs, code)
				}
			}),
		newCase("forward-to-no-port", needs,
			"Forward to a port that is not from 1 to 65535 is ErrInvalidSpec",
			func(k *kit) {
				w := k.ready(script.Sleep)
				ctx, cancel := w.limited()
				defer cancel()
				for _, port := range []int{-1, 0, swarm.MaxPort + 1} {
					_, err := w.Backend.(swarm.Forwarder).Forward(ctx, w.handle, swarm.ForwardOptions{Port: port})
					w.WantErr("Forward to "+strconv.Itoa(port), err, swarm.ErrInvalidSpec)
				}
			}),
	}
}

// freePort returns a port on which no program of this machine listens.
func (k *kit) freePort() int {
	k.Helper()
	l, err := (&net.ListenConfig{}).Listen(k.Ctx, "tcp", "127.0.0.1:0")
	k.Must("listen", err)
	_, port, err := net.SplitHostPort(l.Addr().String())
	k.Must("listen", errors.Join(err, l.Close()))
	n, err := strconv.Atoi(port)
	k.Must("listen", err)
	return n
}

// listener starts a worker and returns the port on which it listens once it does; 0 if its surroundings have no
// program that listens.
func (k *kit) listener() (*worker, int) {
	k.Helper()
	port := k.freePort()
	w := k.spawn(script.Listen, script.ValueVar+"="+strconv.Itoa(port))
	if word := w.readLine(); word != "ready" {
		k.Logf("not tested: a worker finds no program that listens (perl, or nc of busybox)")
		return w, 0
	}
	var errs string
	code := 0
	if !harness.ComesTrue(k.Ctx, func() bool {
		_, errs, code = w.ran(w.connection(port))
		return code == 0
	}) {
		k.Fatal("the worker listens, but the program of Forward exits with %d and writes %q", code, errs)
	}
	return w, port
}

// connection returns the program of Forward, as a host would start it.
func (w *worker) connection(port int) *exec.Cmd {
	w.Helper()
	ctx, cancel := w.limited()
	defer cancel()
	p, err := w.Backend.(swarm.Forwarder).Forward(ctx, w.handle, swarm.ForwardOptions{Port: port})
	w.Must("Forward", err)
	return w.command(p)
}

// connected is a program of Forward that runs.
type connected struct {
	*worker
	in  io.Writer
	out *bufio.Reader
	cut context.CancelFunc
}

func (w *worker) connect(port int) connected {
	w.Helper()
	cmd := w.connection(port)
	in, inErr := cmd.StdinPipe()
	out, outErr := cmd.StdoutPipe()
	w.Must("start of the program", errors.Join(inErr, outErr, cmd.Start()))
	c := connected{w, in, bufio.NewReader(out), func() { _ = out.Close() }}
	w.Cleanup(func() {
		_, _ = in.Close(), cmd.Process.Kill()
		c.cut()
		_ = cmd.Wait()
	})
	return c
}

// wantEcho sends a line and expects it back.
func (c connected) wantEcho(line string) {
	c.Helper()
	limit := time.AfterFunc(patience, c.cut)
	defer limit.Stop()
	_, err := io.WriteString(c.in, line+"\n")
	c.Must("write to the program", err)
	if got, err := c.out.ReadString('\n'); got != line+"\n" {
		c.Broken("after %q it wrote %q: %v", line, got, err)
	}
}
