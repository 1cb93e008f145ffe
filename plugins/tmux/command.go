package tmux

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"time"

	"github.com/swarmhost/swarm/shared/environ"
	"github.com/swarmhost/swarm/shared/swarm"
)

// abandonedLimit is how long to wait for the end of a tmux that was killed because it did
// not answer.
const abandonedLimit = 200 * time.Millisecond

// server is a tmux server, running or not: by the path of its socket or, before
// that is known, by the name that users give to tmux -L.
type server struct {
	label, socket string
	// env is the environment to run tmux in, nil for this process's own. A server
	// that tmux starts keeps it.
	env []string
}

type failure struct{ text string }

func (f failure) Error() string { return "tmux: " + f.text }

// run is the one place that runs tmux. It returns what tmux wrote, also with an
// error, for a list of commands may have been carried out in part. The error is
// a failure if tmux refused, else [swarm.ErrUnavailable] or the context's.
//
// Arguments are given as they are: run keeps tmux from taking a semicolon at the
// end of one for the end of a command.
func (s server) run(ctx context.Context, commands ...[]string) (string, error) {
	// -u: names come in UTF-8, whatever the locale of a client.
	args := []string{"-u"}
	switch {
	case s.socket != "":
		args = append(args, "-S", s.socket)
	case s.label != "":
		args = append(args, "-L", s.label)
	}
	args = append(args, joined(commands)...)
	cmd := exec.CommandContext(ctx, "tmux", args...)
	// A server keeps the directory that it was started in busy.
	cmd.Dir = "/"
	cmd.Env = s.env
	if cmd.Env == nil {
		cmd.Env = os.Environ()
	}
	// Inside of tmux, TMUX would choose that server.
	cmd.Env = environ.Unset(cmd.Env, "TMUX", "TMUX_PANE")
	var out, said output
	ended := make(chan error, 1)
	go func() { ended <- run(cmd, &out, &said) }()
	var err error
	select {
	case err = <-ended:
	case <-ctx.Done():
		// A client that waits in the kernel can't be killed at once.
		given := time.NewTimer(abandonedLimit)
		defer given.Stop()
		select {
		case err = <-ended:
		case <-given.C:
			return "", context.Cause(ctx)
		}
	}
	return out.String(), refusal(ctx, err, said.String())
}

// ownPane is the target for the pane in which a program runs. By default tmux takes the
// pane that the session shows at that moment.
const ownPane = "$TMUX_PANE"

// asProgram returns commands as a program that another process runs inside tmux. It returns
// nil if tmux can't be found; the next run reports that with a better error. No argument
// holds a quote.
func asProgram(commands [][]string) []string {
	path, err := exec.LookPath("tmux")
	if err != nil {
		return nil
	}
	var script strings.Builder
	script.WriteString(`exec "$0" -u`)
	for _, arg := range joined(commands) {
		quote := "'"
		if arg == ownPane {
			quote = `"`
		}
		script.WriteString(" " + quote + arg + quote)
	}
	return []string{"/bin/sh", "-c", script.String(), path}
}

// joined returns commands as arguments of tmux.
func joined(commands [][]string) []string {
	var args []string
	for i, command := range commands {
		if i > 0 {
			args = append(args, ";")
		}
		for _, arg := range command {
			if before, ok := strings.CutSuffix(arg, ";"); ok {
				arg = before + `\;`
			}
			args = append(args, arg)
		}
	}
	return args
}

// longest is how many bytes of commands tmux is given at once: a client passes them on in one
// message of at most 16 KiB. The commands that capture 100 windows fit.
const longest = 15 << 10

// firstFit returns the commands of as many of n calls as tmux can be given at once, at least
// those of the first one, and how many calls these are.
func firstFit(n int, of func(i int) [][]string) (fit int, commands [][]string) {
	for size := 0; fit < n; fit++ {
		more := of(fit)
		for _, arg := range joined(more) {
			size += len(arg) + 1
		}
		if fit > 0 && size > longest {
			break
		}
		commands = append(commands, more...)
	}
	return fit, commands
}

// line returns commands as one line, which tmux reads as it reads its
// configuration. No argument holds a quote.
func line(commands [][]string) string {
	quoted := make([]string, len(commands))
	for i, command := range commands {
		quoted[i] = "'" + strings.Join(command, "' '") + "'"
	}
	return strings.Join(quoted, " ; ")
}

func refusal(ctx context.Context, err error, said string) error {
	var exit *exec.ExitError
	switch {
	case err == nil:
		return nil
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case errors.Is(err, exec.ErrNotFound):
		return fmt.Errorf("%w: tmux is not installed: install it with your system's package manager, as in apt install tmux or brew install tmux",
			swarm.ErrUnavailable)
	case errors.As(err, &exit):
		line, _, _ := strings.Cut(strings.TrimSpace(said), "\n")
		if line == "" {
			line = exit.String()
		}
		return failure{text: line}
	default:
		return fmt.Errorf("%w: run tmux: %w", swarm.ErrUnavailable, err)
	}
}
