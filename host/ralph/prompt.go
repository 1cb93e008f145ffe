package ralph

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"regexp"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"github.com/swarmhost/swarm/host/deliver"
	"github.com/swarmhost/swarm/host/profile"
	"github.com/swarmhost/swarm/host/ready"
	"github.com/swarmhost/swarm/shared/pty"
	"github.com/swarmhost/swarm/shared/swarm"
)

// ReadPrompt reads a prompt file as it is pasted: without the newlines at its end,
// which would be keys. The error is an [ErrPrompt].
func ReadPrompt(path string) ([]byte, error) {
	fail := func(err error, format string, args ...any) ([]byte, error) {
		return nil, &failure{kind: ErrPrompt, text: fmt.Sprintf(format, args...), cause: err}
	}
	b, err := readRegular(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return fail(err, "prompt file not found: %s", path)
	case err != nil:
		return fail(err, "cannot read prompt file: %v", err)
	case len(b) > swarm.MaxInput:
		return fail(nil, "prompt file too large: %s has more than the %d bytes that can be given", path, swarm.MaxInput)
	}
	b = bytes.ReplaceAll(b, []byte("\r\n"), []byte("\n"))
	return bytes.TrimRight(b, "\n"), nil
}

// readRegular reads a regular file up to a limit. Other files may have no end, or block the
// loop: a FIFO is opened without waiting for a writer.
func readRegular(path string) ([]byte, error) {
	f, err := os.OpenFile(path, os.O_RDONLY|unix.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, &fs.PathError{Op: "read", Path: path, Err: errors.New("not a regular file")}
	}
	return io.ReadAll(io.LimitReader(f, swarm.MaxInput+1))
}

// How long an agent must have written nothing to be taken for ready.
const (
	// silent is for an agent that has written nothing at all.
	silent = 2 * time.Second
	// unsure is for an agent without a known prompt on its screen, sure for one with a
	// known prompt.
	unsure = time.Second
	sure   = 200 * time.Millisecond
	// settled is the time after the prompt at which its output counts as complete.
	settled = 500 * time.Millisecond
	// readyLimit is the time after which an agent gets its prompt even if it never stops
	// writing.
	readyLimit = 30 * time.Second
)

// readiness decides when an agent can be given its prompt.
type readiness struct {
	pattern *regexp.Regexp
	// waiting says that the prompt has not been given.
	waiting bool
	// looked says that the last output was checked and shows no known prompt.
	looked bool
}

// calm is called when nothing was written for a moment, with the lines that the agent
// shows. It returns how much longer nothing must be written; 0: the agent is ready.
func (r *readiness) calm(lines []string) time.Duration {
	switch {
	case r.pattern != nil && !r.pattern.MatchString(strings.Join(lines, "\n")):
		// The pattern says what to wait for.
		return readyLimit
	case r.pattern != nil, r.looked, len(lines) == 0, ready.Lines(lines):
		return 0
	default:
		r.looked = true
		return unsure - sure
	}
}

// question returns the dialog on the agent's screen that a person must answer, or "".
func (r *readiness) question(lines []string) string {
	if r.pattern != nil {
		return ""
	}
	return ready.Question(lines)
}

// promptLimit is how long an agent with a profile may take to show its prompt.
const promptLimit = 2 * time.Minute

// paste gives a text to the agent; to one with a profile at its prompt alone.
func (it *iteration) paste(ctx context.Context, text []byte) error {
	if it.profile == nil {
		return it.agent.paste(ctx, text)
	}
	a := deliver.Agent{Name: it.Name, Profile: it.profile, Terminal: (*window)(it), Timeout: promptLimit}
	return a.Text(ctx, string(text), true)
}

// window is the terminal of the agent, for the goroutine that gives the prompt.
type window iteration

// Screen asks the goroutine of the loop, which alone has the screen.
func (w *window) Screen(ctx context.Context) (profile.Screen, error) {
	shown := make(chan profile.Screen, 1)
	select {
	case w.looks <- shown:
	case <-ctx.Done():
		return profile.Screen{}, context.Cause(ctx)
	}
	select {
	case s := <-shown:
		return s, nil
	case <-ctx.Done():
		return profile.Screen{}, context.Cause(ctx)
	}
}

func (w *window) Input(ctx context.Context, in swarm.Input) (swarm.InputResult, error) {
	if in.Kind != swarm.InputText {
		return swarm.InputResult{}, fmt.Errorf("%w: an input of kind %s", swarm.ErrInvalidSpec, in.Kind)
	}
	w.agent.input.Lock()
	defer w.agent.input.Unlock()
	if in.Enter {
		w.entered.CompareAndSwap(0, time.Now().UnixNano())
	}
	return swarm.InputResult{}, w.agent.terminal.Give(ctx, in.Data, pty.GiveOptions{
		Enter: in.Enter, EnterAfter: in.EnterAfter, PasteOnly: in.PasteOnly,
	})
}
