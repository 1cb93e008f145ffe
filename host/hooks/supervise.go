package hooks

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"time"

	"github.com/swarmhost/swarm/shared/errtext"
	"github.com/swarmhost/swarm/shared/proc"
	"github.com/swarmhost/swarm/shared/safefile"
	"github.com/swarmhost/swarm/shared/safetext"
)

// Verb is the verb of swarm that calls [Supervise].
const Verb = "run-hook"

const (
	// grace is how long a command may take to end after SIGTERM.
	grace = 2 * time.Second
	// outputLimit is how much output of one run is kept.
	outputLimit = 64 << 10
	// logLimit is the size from which a log is put aside before the next run.
	logLimit = 1 << 20
	// drainLimit is how long the output of processes that left the session is waited for.
	drainLimit = 200 * time.Millisecond
	// callLimit bounds a call.
	callLimit = 1 << 20
)

// Call is a command that is to be run.
type Call struct {
	// Command is a program and its arguments; Dir is where it runs.
	Command []string `json:"command"`
	Dir     string   `json:"dir"`
	// Input is what it reads.
	Input []byte `json:"input"`
	// Timeout is how long it may run.
	Timeout time.Duration `json:"timeout"`
	// Log is the file for its output; empty: none.
	Log string `json:"log,omitempty"`
	// Title is a line that says in the log what is run.
	Title string `json:"title,omitempty"`
}

// Result says how a run ended.
type Result struct {
	// Failure is empty after success, else what went wrong in a few words.
	Failure string `json:"failure"`
}

// Supervise reads a [Call] from in, runs it, and writes the [Result] to out. It is called by
// a process of its own that leads a session, and in whose environment the command is run.
//
// The command has ended when its main process has ended, its time has run out, or ctx has ended.
// Everything that is left in the session is then killed. A process that has left the session
// lives on: a worker that the command has spawned, for example.
func Supervise(ctx context.Context, in io.Reader, out io.Writer) error {
	var c Call
	if err := json.NewDecoder(io.LimitReader(in, callLimit)).Decode(&c); err != nil {
		return fmt.Errorf("read the call of a hook: %w", err)
	}
	if len(c.Command) == 0 {
		return errors.New("the call of a hook names no command")
	}
	return json.NewEncoder(out).Encode(Result{Failure: c.run(ctx)})
}

// run runs the command and returns what went wrong; empty if nothing did.
func (c *Call) run(ctx context.Context) (failure string) {
	log, err := c.openLog()
	if err != nil {
		return "its log can't be written: " + errtext.Cause(err).Error()
	}
	defer log.Close()
	begun := time.Now()
	fmt.Fprintf(log, "%s %s\n", stamp(begun), safetext.Line(c.Title))
	defer func() {
		how := cmp.Or(failure, "done")
		fmt.Fprintf(log, "%s %s (%s)\n", stamp(time.Now()), how, time.Since(begun).Round(time.Millisecond))
	}()
	return c.execute(ctx, log)
}

func stamp(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05Z") }

func (c *Call) openLog() (*os.File, error) {
	if c.Log == "" {
		return os.OpenFile(os.DevNull, os.O_WRONLY, 0)
	}
	if err := os.MkdirAll(filepath.Dir(c.Log), 0o700); err != nil {
		return nil, err
	}
	if info, err := os.Lstat(c.Log); err == nil && info.Size() >= logLimit {
		if err := os.Rename(c.Log, c.Log+".1"); err != nil {
			return nil, err
		}
	}
	return safefile.Append(c.Log)
}

func (c *Call) execute(ctx context.Context, log io.Writer) (failure string) {
	output, hooksOutput, err := os.Pipe()
	if err != nil {
		return err.Error()
	}
	defer output.Close()
	hooksInput, input, err := os.Pipe()
	if err != nil {
		_ = hooksOutput.Close()
		return err.Error()
	}
	defer input.Close()
	cmd := exec.CommandContext(context.WithoutCancel(ctx), c.Command[0], c.Command[1:]...)
	cmd.Dir = c.Dir
	cmd.Stdin, cmd.Stdout, cmd.Stderr = hooksInput, hooksOutput, hooksOutput
	err = cmd.Start()
	_, _ = hooksInput.Close(), hooksOutput.Close()
	if err != nil {
		return "cannot be started: " + errtext.Cause(err).Error()
	}
	go func() {
		_, _ = input.Write(c.Input) // a command need not read it
		_ = input.Close()
	}()
	drained := make(chan struct{})
	go func() {
		defer close(drained)
		keep(log, output)
	}()
	ended := make(chan string, 1)
	go func() {
		how := ""
		if err := cmd.Wait(); err != nil {
			how = errtext.Cause(err).Error()
		}
		ended <- how
	}()
	failure = c.await(ctx, ended)
	sweep(syscall.SIGKILL)
	select {
	case <-drained:
	case <-time.After(drainLimit):
	}
	return failure
}

// await waits until the command has ended, which says what went wrong, and ends it when its
// time ends.
func (c *Call) await(ctx context.Context, ended <-chan string) (failure string) {
	select {
	case failure = <-ended:
		return failure
	case <-time.After(c.Timeout):
		failure = fmt.Sprintf("it did not end within %s", c.Timeout)
	case <-ctx.Done():
		failure = "interrupted"
	}
	sweep(syscall.SIGTERM)
	select {
	case <-ended:
	case <-time.After(grace):
	}
	return failure
}

// sweep signals all other processes of the session of this one. It repeats SIGKILL until
// none is left, since processes may fork meanwhile.
func sweep(sig syscall.Signal) {
	self, err := proc.Self()
	if err != nil || self.Session != self.PID {
		return // it leads no session: nothing in it is known to be ours
	}
	for range 100 {
		others, err := proc.Find(func(p proc.Process) bool { return p.Session == self.Session && p.PID != self.PID })
		if err != nil || len(others) == 0 {
			return
		}
		for _, p := range others {
			_ = p.Signal(sig) // it may have ended
		}
		if sig != syscall.SIGKILL {
			return
		}
		time.Sleep(time.Millisecond) // the kernel needs a moment to end them
	}
}

// keep writes the output of a run to its log, up to a limit; the rest is read and dropped.
func keep(log io.Writer, output io.Reader) {
	w := &lineWriter{to: safetext.Writer(log)}
	_, _ = io.Copy(w, io.LimitReader(output, outputLimit))
	w.end()
	if dropped, _ := io.Copy(io.Discard, output); dropped > 0 {
		fmt.Fprintf(log, "(%d more bytes of output are dropped)\n", dropped)
	}
}

type lineWriter struct {
	to   io.Writer
	open bool
}

func (w *lineWriter) Write(p []byte) (int, error) {
	if len(p) > 0 {
		w.open = p[len(p)-1] != '\n'
	}
	return w.to.Write(p)
}

func (w *lineWriter) end() {
	if w.open {
		_, _ = w.to.Write([]byte("\n"))
	}
}
