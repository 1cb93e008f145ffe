package launch

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/swarmhost/swarm/host/catalog"
	"github.com/swarmhost/swarm/host/reattach"
	"github.com/swarmhost/swarm/shared/machinetest"
	"github.com/swarmhost/swarm/shared/plugin/client"
	"github.com/swarmhost/swarm/shared/swarm"
)

// debugged is a plugin under a "debugger", which prints a banner first.
type debugged struct {
	pid      int
	out, err log
	stop     context.CancelFunc
	ready    chan int
	done     chan error
}

// debugPlugin runs the test plugin under a script, and returns once hosts use it.
func debugPlugin(t *testing.T, o Options, script string) *debugged {
	t.Helper()
	d := startDebugger(t, o, "sh", "-c", script, testPlugin)
	d.awaitReady(t)
	return d
}

func startDebugger(t *testing.T, o Options, command ...string) *debugged {
	t.Helper()
	ctx, stop := context.WithCancel(t.Context())
	d := &debugged{stop: stop, done: make(chan error, 1), ready: make(chan int, 1)}
	go func() {
		d.done <- Debug(ctx, DebugSession{
			Options: o, Entry: entry("serve"), Command: command,
			Stdout: &d.out, Stderr: &d.err, Ready: func(pid int) { d.ready <- pid },
		})
	}()
	t.Cleanup(func() { stop(); <-d.done }) //nolint:errcheck // the tests say what they expect
	return d
}

func (d *debugged) awaitReady(t *testing.T) {
	t.Helper()
	select {
	case d.pid = <-d.ready:
	case err := <-d.done:
		d.done <- err
		t.Fatalf("%v\n%s%s", err, d.out.String(), d.err.String())
	}
}

// Delve stops in Spawn for as long as a person likes, and the call returns after that.
func TestBreakpointInSpawn(t *testing.T) {
	t.Parallel()
	dlv := machinetest.Delve(t)
	program := filepath.Join(t.TempDir(), "swarm-plugin-test")
	build := exec.Command("go", "build", "-trimpath", "-tags", "grpcnotrace", "-gcflags", "-N -l", "-o", program, "./testdata/plugin")
	if text, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, text)
	}
	o := options(t)
	o.Env = append(o.Env, "HOME="+t.TempDir())
	d := startDebugger(t, o, dlv, "exec", "--headless", "--listen", "127.0.0.1:0", program, "--", "serve")
	var address string
	eventually(t, "the debugger listens", bound, func() bool {
		_, after, found := strings.Cut(d.out.String(), "API server listening at: ")
		line, _, whole := strings.Cut(after, "\n")
		address = line
		return found && whole
	})
	person := exec.Command(dlv, "connect", address)
	person.Env = o.Env
	var shown log
	person.Stdout, person.Stderr = &shown, &shown
	keys, err := person.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := person.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = person.Process.Kill(); _ = person.Wait() })
	press := func(line string) {
		if _, err := io.WriteString(keys, line+"\n"); err != nil {
			t.Error(err)
		}
	}
	press("break main.(*backend).Spawn")
	press("continue")
	d.awaitReady(t)

	s := New(o)
	t.Cleanup(s.Close)
	c := get(t, s, entry("serve"))
	spawned := make(chan error, 1)
	go func() {
		_, err := c.Backend().Spawn(t.Context(), swarm.Spec{ID: "x", Name: "dawn", Command: []string{"true"}, Dir: "/"})
		spawned <- err
	}()
	eventually(t, "the breakpoint is hit", bound, func() bool {
		return strings.Contains(shown.String(), "main.(*backend).Spawn() ") && strings.Contains(shown.String(), "(hits ")
	})
	press("print spec.Name")
	eventually(t, "the value is shown", bound, func() bool { return strings.Contains(shown.String(), `"dawn"`) })
	select {
	case err := <-spawned:
		t.Errorf("the call returned at the breakpoint: %v", err)
	default:
	}
	press("continue")
	if err := <-spawned; err != nil {
		t.Error(err)
	}
	d.stop()
	<-d.done //nolint:errcheck // it was stopped
	d.done <- nil
	eventually(t, "the plugin has ended", bound, func() bool { return !alive(d.pid) })
}

// answerer returns the process that answers.
func answerer(t *testing.T, c *client.Client) int {
	t.Helper()
	s, err := c.Backend().Status(t.Context(), swarm.Handle{Version: 1, Data: []byte("x")})
	if err != nil {
		t.Fatal(err)
	}
	return s.PID
}

// All hosts use a debugged plugin, until its debugger ends; none of them ends it.
func TestHostsUseADebuggedPlugin(t *testing.T) {
	t.Parallel()
	o := options(t)
	d := debugPlugin(t, o, `echo "listening at 127.0.0.1:40"; printf "(dbg) "; "$0" serve`)
	var mu sync.Mutex
	var notices []string
	o.Notice = func(text string) { mu.Lock(); defer mu.Unlock(); notices = append(notices, text) }
	other := entry("exits") // which is not run
	other.SHA256 = strings.Repeat("0", 64)
	for range 2 {
		s := New(o)
		c := get(t, s, other)
		if got := answerer(t, c); got != d.pid || !c.IsDebugged() {
			t.Errorf("process %d answers, want %d", got, d.pid)
		}
		if err := s.Died(t.Context(), c); err != nil {
			t.Error(err)
		}
		s.Close()
		if _, err := c.Backend().Status(t.Context(), swarm.Handle{Version: 1}); !errors.Is(err, client.ErrPluginGone) {
			t.Errorf("after the end of the host: %v", err)
		}
	}
	if !alive(d.pid) {
		t.Error("a host has ended it")
	}
	if len(notices) != 2 || !strings.HasPrefix(notices[0], "plugin 'test' is being debugged by pid ") {
		t.Errorf("%q", notices)
	}
	eventually(t, "what it prints is shown", bound, func() bool {
		return strings.HasPrefix(d.out.String(), "listening at 127.0.0.1:40\n(dbg) ") && strings.Contains(d.out.String(), "printed while serving") &&
			strings.Contains(d.err.String(), "logged by the plugin")
	})

	again := DebugSession{Options: o, Entry: entry("serve"), Command: []string{testPlugin, "serve"}, Stdout: io.Discard, Stderr: io.Discard}
	if err := Debug(t.Context(), again); err == nil || !strings.Contains(err.Error(), "is being debugged already, by pid ") {
		t.Errorf("a second debugger: %v", err)
	}

	d.stop()
	err := <-d.done
	d.done <- err
	if !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	eventually(t, "the plugin has ended", bound, func() bool { return !alive(d.pid) })
	if left, err := reattach.Find(o.Dir, "test"); left != nil || err != nil {
		t.Errorf("%v, %v", left, err)
	}
	s := New(o)
	t.Cleanup(s.Close)
	if c := get(t, s, entry("serve")); answerer(t, c) == d.pid || c.IsDebugged() {
		t.Error("it is still used")
	}
}

// A call during which a debugged plugin ends says so, and the next one starts the usual plugin.
func TestDebuggedPluginEndsInACall(t *testing.T) {
	t.Parallel()
	o := options(t)
	d := debugPlugin(t, o, `"$0" serve`)
	s := New(o)
	t.Cleanup(s.Close)
	c := get(t, s, entry("serve"))
	_, err := c.Backend().Status(t.Context(), swarm.Handle{Version: 1, Data: []byte("crash")})
	if want := (*DebuggedError)(nil); !errors.As(err, &want) || !errors.Is(err, client.ErrPluginGone) {
		t.Errorf("%v", err)
	}
	again, err := s.Restart(t.Context(), entry("serve"), c)
	if err != nil || answerer(t, again) == d.pid {
		t.Errorf("%v", err)
	}
	if err := <-d.done; err == nil || !strings.Contains(err.Error(), "signal: killed") && !strings.Contains(err.Error(), "exit status 137") {
		t.Errorf("Debug returned %v", err)
	}
	d.done <- nil
}

// A plugin that its debugger has stopped ends with the session, and so does one whose host is killed.
func TestStoppedPluginEndsWithItsDebugger(t *testing.T) {
	t.Parallel()
	d := debugPlugin(t, options(t), `"$0" serve`)
	if err := syscall.Kill(d.pid, syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	d.stop()
	err := <-d.done
	d.done <- err
	eventually(t, "it has ended", bound, func() bool { return !alive(d.pid) })
}

func TestDebugOfWhatServesNothing(t *testing.T) {
	t.Parallel()
	for script, want := range map[string]string{
		`echo hello; exit 3`:                 "plugin 'test'",
		`echo "1|7|unix|/x|grpc"; sleep 600`: "speaks version 7 of the plugin protocol",
	} {
		err := Debug(t.Context(), DebugSession{
			Options: options(t), Entry: entry("serve"), Command: []string{"sh", "-c", script}, Stdout: io.Discard, Stderr: io.Discard,
		})
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", script, err)
		}
	}
	err := Debug(t.Context(), DebugSession{
		Options: options(t), Entry: entry("serve"), Command: []string{"/no/such/debugger"}, Stdout: io.Discard, Stderr: io.Discard,
	})
	if !errors.Is(err, os.ErrNotExist) {
		t.Errorf("%v", err)
	}
	err = Debug(t.Context(), DebugSession{
		Options: options(t), Entry: catalog.Entry{Name: "other"}, Command: []string{testPlugin, "serve"}, Stdout: io.Discard, Stderr: io.Discard,
	})
	if _, ok := errors.AsType[*catalog.NameError](err); !ok {
		t.Errorf("%v", err)
	}
}

// The handshake is found wherever a debugger's own text is, however it arrives.
func TestHandshakeAmongOtherText(t *testing.T) {
	t.Parallel()
	const line = "1|1|unix|/tmp/p/plugin4711|grpc"
	for text, shown := range map[string]string{
		line + "\n":                          "",
		"banner\n" + line + "\r\nmore":       "banner\nmore",
		"(dlv) " + line + "\nmore\n":         "(dlv) more\n",
		"at 127.0.0.1:4040\n" + line + "\n":  "at 127.0.0.1:4040\n",
		"12|3 of 4|5\n" + line + "\n1|1|x\n": "12|3 of 4|5\n1|1|x\n",
	} {
		for size := range 8 {
			var out bytes.Buffer
			h := &handshakes{from: &pieces{text, size + 1}, shown: &out}
			got, err := io.ReadAll(h)
			if err != nil || string(got) != line+"\n" || out.String() != shown || h.line() != line {
				t.Errorf("%q in pieces of %d: %q, shown %q, %v", text, size+1, got, out.String(), err)
			}
		}
	}
	// A prompt is shown although its line has no end.
	var out bytes.Buffer
	h := &handshakes{shown: &out}
	h.take([]byte("Type help\n(dlv) "))
	if out.String() != "Type help\n(dlv) " {
		t.Errorf("%q", out.String())
	}
}

type pieces struct {
	text string
	size int
}

func (p *pieces) Read(b []byte) (int, error) {
	n := copy(b, p.text[:min(p.size, len(p.text))])
	if p.text = p.text[n:]; n == 0 {
		return 0, io.EOF
	}
	return n, nil
}
