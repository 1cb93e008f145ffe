// Package verbs is the command line of swarm-shim: it does for plugins in other languages, and for
// scripts, what [github.com/swarmhost/swarm/shared/shim] does for plugins in Go. swarm-shim replaces
// its process by this program, so that the shims themselves stay small.
package verbs

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"

	"github.com/spf13/pflag"
	"golang.org/x/sys/unix"

	"github.com/swarmhost/swarm/plugins/process"
	"github.com/swarmhost/swarm/shared/plugin/calls"
	"github.com/swarmhost/swarm/shared/safetext"
	"github.com/swarmhost/swarm/shared/swarm"
)

// The exit codes. docs/shim.md documents them.
const (
	exitDone   = 0
	exitFailed = 1
	exitUsage  = 2
)

// A verb is a call of the contract.
type verb struct {
	// method is the call.
	method string
	// args are what follows the flags; "" for a verb that takes its message only from its standard
	// input.
	args string
	// help says what the verb does.
	help string
}

// verbs are the verbs by their names.
var verbs = map[string]verb{
	"start":    {"Spawn", "DIR -- COMMAND...", "start a worker and return once it runs"},
	"status":   {"Status", "DIR...", "print how workers are"},
	"kill":     {"Kill", "DIR...", "end workers and everything that they started"},
	"signal":   {"Signal", "DIR SIGNAL", "send a worker a signal that is not meant to end it"},
	"send":     {"Input", "DIR", "give a worker its standard input as input"},
	"logs":     {"Output", "DIR", "print what a worker wrote"},
	"wait":     {"Watch", "DIR...", "wait until workers no longer run, and print how they are then"},
	"watch":    {"Watch", "DIR...", "print how workers are, now and after each change, until they no longer run"},
	"check":    {"CheckSpawn", "", "check whether a worker could be started"},
	"find":     {"Find", "", "find the worker whose start was interrupted"},
	"complete": {"Complete", "", "record that a worker is done"},
	"limits":   {"SetLimits", "", "change the limits of a worker"},
	"pause":    {"SetPaused", "", "stop the processes of a worker, or let them continue"},
	"stats":    {"Stats", "", "measure what workers use"},
}

// Run carries out a verb with its arguments, and returns the exit code.
func Run(args []string, in io.Reader, out, errs io.Writer) int {
	if len(args) == 0 || args[0] == "help" || args[0] == "--help" || args[0] == "-h" {
		usage(out)
		return exitDone
	}
	v, known := verbs[args[0]]
	if !known {
		fmt.Fprintf(errs, "swarm-shim: error: there is no verb '%s'; 'swarm-shim help' lists them\n", args[0])
		return exitUsage
	}
	c := command{name: args[0], verb: v, in: in, out: out}
	switch err := c.parse(args[1:], errs); {
	case errors.Is(err, pflag.ErrHelp):
		return exitDone
	case err != nil:
		fmt.Fprintf(errs, "swarm-shim: error: %v\n", err)
		return exitUsage
	}
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP)
	defer stop()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	go awaitReader(out, cancel)
	err := c.run(ctx)
	switch {
	case err != nil && c.json:
		fmt.Fprintf(out, `{"error":%s}`+"\n", calls.Error(err))
	case err != nil:
		fmt.Fprintf(safetext.Writer(errs), "swarm-shim: error: %v\n", err)
	}
	if err != nil || c.failed {
		return exitFailed
	}
	return exitDone
}

// run makes the call.
func (c *command) run(ctx context.Context) error {
	request, err := c.message()
	if err != nil {
		return fmt.Errorf("%w: %w", swarm.ErrInvalidSpec, err)
	}
	b := shims{process.New(slog.New(slog.DiscardHandler))}
	return calls.Do(swarm.WithRunDirs(ctx, c.runDirs), "shim", b, c.verb.method, request, c.print)
}

// shims is the backend of which a verb makes a call. Its handles are those of the process backend.
type shims struct{ *process.Backend }

// Spawn starts a worker. Its options are those of the plugin that has this program start it.
func (b shims) Spawn(ctx context.Context, spec swarm.Spec) (swarm.Handle, error) {
	spec.Options = nil
	return b.Backend.Spawn(ctx, spec)
}

// CheckSpawn ignores the options, as Spawn does.
func (b shims) CheckSpawn(ctx context.Context, check swarm.SpawnCheck) error {
	check.Spec.Options = nil
	return b.Backend.CheckSpawn(ctx, check)
}

// awaitReader calls cancel once the pipe or socket that the answers go to has no reader any more: a call
// does not outlive the plugin that made it. Node.js gives the programs that it starts sockets.
func awaitReader(out io.Writer, cancel func()) {
	f, ok := out.(*os.File)
	if !ok {
		return
	}
	if info, err := f.Stat(); err != nil || info.Mode()&(os.ModeNamedPipe|os.ModeSocket) == 0 {
		return
	}
	for {
		// No event is requested: the kernel reports the end of the reader all the same.
		polled := []unix.PollFd{{Fd: int32(f.Fd())}}
		if _, err := unix.Poll(polled, -1); err != nil && !errors.Is(err, unix.EINTR) {
			return
		}
		if polled[0].Revents&(unix.POLLERR|unix.POLLHUP) != 0 {
			cancel()
			return
		}
	}
}

func usage(out io.Writer) {
	var b strings.Builder
	b.WriteString("usage: swarm-shim VERB [FLAGS] [ARGUMENTS]\n\n" +
		"A run directory DIR is where a shim keeps one worker; its name is the id of the worker.\n\n")
	for _, name := range slices.Sorted(maps.Keys(verbs)) {
		fmt.Fprintf(&b, "  %-8s  %s\n", name, verbs[name].help)
	}
	b.WriteString("\n--json prints the answers of the plugin contract as JSON, one on each line.\n" +
		"--request reads the request of the contract as JSON from the standard input.\n" +
		"'swarm-shim VERB --help' lists the flags of a verb.\n" +
		"Exit codes: 0 done, 1 failed, 2 wrong usage.\n")
	_, _ = io.WriteString(out, b.String())
}
