package pty_test

import (
	"bytes"
	"context"
	"errors"
	"os"
	"os/exec"
	"os/signal"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/swarmhost/swarm/shared/pty"
)

// A shell starts background jobs with SIGINT ignored, which the programs here would
// inherit. A caught signal is not inherited.
func TestMain(m *testing.M) {
	if signal.Ignored(os.Interrupt) {
		signal.Notify(make(chan os.Signal, 1), os.Interrupt)
	}
	os.Exit(m.Run())
}

// program is a shell script on a terminal of its own.
type program struct {
	*pty.Terminal
	t    *testing.T
	done chan struct{}

	mu   sync.Mutex
	seen bytes.Buffer
}

func run(t *testing.T, script string) *program {
	t.Helper()
	return start(t, "sh", "-c", script)
}

func start(t *testing.T, command ...string) *program {
	t.Helper()
	term, err := pty.Open()
	if err != nil {
		t.Fatal(err)
	}
	p := &program{Terminal: term, t: t, done: make(chan struct{})}
	cmd := exec.CommandContext(t.Context(), command[0], command[1:]...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = term.Inner, term.Inner, term.Inner
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	cmd.Env = append(os.Environ(), "PS1=$ ", "HISTFILE=", "INPUTRC=/dev/null", "TERM=xterm", "LC_ALL=C")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	watched := make(chan struct{})
	go func() {
		defer close(watched)
		p.watch()
	}()
	go func() {
		defer close(p.done)
		_ = cmd.Wait()
	}()
	t.Cleanup(func() {
		_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
		<-p.done
		term.Inner.Close()
		<-watched
		term.Close()
	})
	return p
}

func (p *program) watch() {
	buf := make([]byte, 4096)
	for {
		n, err := p.Master.Read(buf)
		p.Saw(buf[:n])
		p.mu.Lock()
		p.seen.Write(buf[:n])
		p.mu.Unlock()
		if err != nil {
			return
		}
	}
}

// shows waits for a text in the output and returns all of that.
func (p *program) shows(text string) string {
	p.t.Helper()
	tick := time.NewTicker(2 * time.Millisecond)
	defer tick.Stop()
	limit := time.After(20 * time.Second)
	for {
		p.mu.Lock()
		all := p.seen.String()
		p.mu.Unlock()
		if strings.Contains(all, text) {
			return all
		}
		select {
		case <-tick.C:
		case <-limit:
			p.t.Fatalf("does not show %q, but %q", text, all)
		}
	}
}

// give gives a text and expects that it is read.
func (p *program) give(text string, enter bool) {
	p.t.Helper()
	ctx, cancel := context.WithTimeout(p.t.Context(), 20*time.Second)
	defer cancel()
	late := func() { p.t.Error("not read in time") }
	if err := p.Give(ctx, []byte(text), pty.GiveOptions{Enter: enter, Late: late}); err != nil {
		p.t.Fatal(err)
	}
}

// refuses expects that a text is refused with that in the reason.
func (p *program) refuses(text, reason string) {
	p.t.Helper()
	err := p.Give(p.t.Context(), []byte(text), pty.GiveOptions{Enter: true})
	var refused pty.Refused
	if !errors.As(err, &refused) || !strings.Contains(err.Error(), reason) {
		p.t.Errorf("%.20q: error %v, want one with %q", text, err, reason)
	}
}

// output returns what a file holds once it has that many bytes.
func (p *program) output(file string, size int) string {
	p.t.Helper()
	tick := time.NewTicker(2 * time.Millisecond)
	defer tick.Stop()
	limit := time.After(20 * time.Second)
	for {
		b, err := os.ReadFile(file)
		if err == nil && len(b) >= size {
			return string(b)
		}
		select {
		case <-tick.C:
		case <-limit:
			p.t.Fatalf("%d bytes of %d, %v", len(b), size, err)
		}
	}
}
