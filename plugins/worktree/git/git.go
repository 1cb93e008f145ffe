// Package git runs git in such a way that neither a user's settings nor a repository, which a worker
// may have written, changes its answers or makes it run other programs.
//
// Hooks, fsmonitor and automatic maintenance are off in every call, and the GIT_ variables of the
// caller are not passed on, except those that only say where configuration and programs are. It is
// imported by the packages of plugins/worktree alone.
package git

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/swarmhost/swarm/plugins/worktree/confine"
	"github.com/swarmhost/swarm/shared/environ"
	"github.com/swarmhost/swarm/shared/swarm"
)

// Git runs git. It is a value: At, With and Set return changed copies.
type Git struct {
	// Bin is the program.
	Bin string
	dir string
	env []string
	// more are settings on top of the usual ones.
	more []string
	// Common is the directory that working trees share, of the repository to which writing
	// calls are confined; unfiltered says that they run no filters.
	Common     string
	unfiltered bool
	// Before is called before each start, and Unconfined says that no call is confined, for tests.
	Before     func(args []string)
	Unconfined bool
}

type Error struct {
	verb   string
	Code   int
	stderr string
}

func (e *Error) Error() string {
	text := ""
	for line := range strings.Lines(e.stderr) {
		// Hints follow the error; the first fatal or error line says what is wrong.
		line = strings.TrimSpace(line)
		if strings.HasPrefix(line, "fatal: ") || strings.HasPrefix(line, "error: ") {
			_, text, _ = strings.Cut(line, ": ")
			break
		}
		text = line
	}
	if text == "" {
		text = fmt.Sprintf("exit status %d", e.Code)
	}
	return "git " + e.verb + ": " + text
}

// settings make git independent of what a user or a repository configured,
// wherever it could hide a change, run a program of theirs, or leave a process
// behind.
var settings = []string{
	"core.hooksPath=/dev/null",
	"core.fsmonitor=false",
	"core.untrackedCache=false",
	"core.checkStat=default",
	"core.trustctime=true",
	"core.splitIndex=false",
	// On a file system that knows upper case it would hide a file from git.
	"core.ignoreCase=false",
	"core.ignoreStat=false",
	"core.safecrlf=false",
	"gc.auto=0",
	"maintenance.auto=false",
	"submodule.recurse=false",
	"status.showUntrackedFiles=normal",
	// A comparison would write the index, also through a symbolic link.
	"diff.autoRefreshIndex=false",
	// A clone can hold a directory that is laid out as a repository, with a
	// configuration that names programs.
	"safe.bareRepository=explicit",
	// They run gpg.program, and read .mailmap, which may be any file.
	"log.showSignature=false",
	"log.mailmap=false",
	// The contents of a rescue have to be on the disk before the worktree goes.
	"core.fsync=all",
	"core.fsyncMethod=fsync",
}

// passedOn are the variables of git that a call inherits: they say where things
// are and how to reach them. None of them says which repository to work on.
var passedOn = []string{
	"GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM", "GIT_CONFIG_NOSYSTEM",
	"GIT_EXEC_PATH", "GIT_CEILING_DIRECTORIES", "GIT_DISCOVERY_ACROSS_FILESYSTEM",
	"GIT_SSH", "GIT_SSH_COMMAND", // a partial clone fetches what it checks out
}

// At returns g for another working directory.
func (g Git) At(dir string) Git {
	g.dir = dir
	return g
}

// With returns g with more variables.
func (g Git) With(env ...string) Git {
	g.env = append(slices.Clip(g.env), env...)
	return g
}

// Set returns g with one more setting.
func (g Git) Set(setting string) Git {
	g.more = append(slices.Clip(g.more), setting)
	return g
}

func (g Git) environ() []string {
	env := environ.Without(os.Environ(), func(name string) bool {
		switch name {
		case "PWD", "OLDPWD", "LC_ALL", "LANGUAGE": // git trusts PWD to name its working directory
			return true
		}
		return strings.HasPrefix(name, "GIT_") && !slices.Contains(passedOn, name)
	})
	env = append(env, "LC_ALL=C", "GIT_OPTIONAL_LOCKS=0", "GIT_TERMINAL_PROMPT=0", "GIT_LITERAL_PATHSPECS=1")
	return append(env, g.env...)
}

// Run returns what git writes.
func (g Git) Run(ctx context.Context, args ...string) (string, error) {
	return g.Feed(ctx, nil, args...)
}

// Feed is Run with input.
func (g Git) Feed(ctx context.Context, stdin io.Reader, args ...string) (string, error) {
	var stdout bytes.Buffer
	err := g.pipe(ctx, stdin, &stdout, args...)
	if err != nil {
		return "", err
	}
	return stdout.String(), nil
}

// Read is Feed for output of any size, which use reads while git runs.
func (g Git) Read(ctx context.Context, stdin io.Reader, use func(io.Reader) error, args ...string) error {
	r, w := io.Pipe()
	used := make(chan error, 1)
	go func() {
		err := use(r)
		if err == nil {
			_, err = io.Copy(io.Discard, r)
		}
		_ = r.CloseWithError(cmp.Or(err, io.ErrClosedPipe)) // git ends
		used <- err
	}()
	err := g.pipe(ctx, stdin, w, args...)
	_ = w.CloseWithError(cmp.Or(err, io.EOF))
	if used := <-used; used != nil {
		return used
	}
	return err
}

// wholeLimit bounds a command that is not cut short when its caller gives up.
const wholeLimit = 30 * time.Second

// RunWhole runs a short command that is never cut short: a git that is ended in the middle
// leaves children behind that continue to write.
func (g Git) RunWhole(ctx context.Context, args ...string) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), wholeLimit)
	defer cancel()
	_, err := g.Run(ctx, args...)
	return err
}

// argv returns the arguments of a call, with all settings.
func (g Git) argv(args []string) []string {
	argv := make([]string, 0, 2*(len(settings)+len(g.more))+len(args))
	for _, s := range slices.Concat(settings, g.more) {
		argv = append(argv, "-c", s)
	}
	return append(argv, args...)
}

// ForUser returns a command that the user's terminal is to run, the variables that it needs, and
// the names of those that it must not inherit.
func (g Git) ForUser(args ...string) (command, env, unset []string) {
	for _, entry := range os.Environ() {
		if name, _, _ := strings.Cut(entry, "="); strings.HasPrefix(name, "GIT_") && !slices.Contains(passedOn, name) {
			unset = append(unset, name)
		}
	}
	command = append([]string{g.Bin, "-C", g.dir}, g.argv(args)...)
	return command, append(slices.Clone(g.env), "GIT_OPTIONAL_LOCKS=0"), unset
}

// pipe runs git, from stdin to stdout.
func (g Git) pipe(ctx context.Context, stdin io.Reader, stdout io.Writer, args ...string) error {
	cmd := exec.CommandContext(ctx, g.Bin, g.argv(args)...)
	cmd.Dir, cmd.Env = g.dir, g.environ()
	// On SIGTERM git removes its lock files and a worktree that is half made. The git
	// processes that it started must do so too: they would continue, and hold locks.
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGTERM) }
	cmd.WaitDelay = cancelLimit
	var stderr bytes.Buffer
	cmd.Stdin, cmd.Stdout, cmd.Stderr = stdin, stdout, &stderr
	if g.Before != nil {
		g.Before(args)
	}
	var err error
	if where := g.writes(args); where != nil {
		err = confine.Start(cmd, where)
	} else {
		err = cmd.Start()
	}
	if err == nil {
		err = cmd.Wait()
	}
	if err == nil {
		return nil
	}
	if ctx.Err() != nil {
		if cmd.Process != nil {
			awaitGroup(cmd.Process.Pid)
		}
		return fmt.Errorf("git %s: %w", args[0], ctx.Err())
	}
	if exit, ok := errors.AsType[*exec.ExitError](err); ok {
		return &Error{verb: args[0], Code: exit.ExitCode(), stderr: stderr.String()}
	}
	if isMissing(g.Bin, err) {
		return fmt.Errorf("%w: git is not installed: install it with your system's package manager, as in apt install git or brew install git",
			swarm.ErrUnavailable)
	}
	return fmt.Errorf("git %s: %w", args[0], err)
}

const (
	// cancelLimit is how long git may take to end after a SIGTERM.
	cancelLimit = 10 * time.Second
	// groupLimit is how long the commands that it started may outlive it. A command that
	// has ended counts until its parent has waited for it, which takes the first process of
	// some containers a while.
	groupLimit = 2 * time.Second
)

// awaitGroup returns when no process of a group is left. The leader has ended: what
// still runs are commands that git started.
func awaitGroup(group int) {
	tick := time.NewTicker(2 * time.Millisecond)
	defer tick.Stop()
	limit := time.After(groupLimit)
	for syscall.Kill(-group, 0) == nil {
		select {
		case <-tick.C:
		case <-limit:
			return
		}
	}
}

// isMissing reports whether err says that there is no program bin. A missing working
// directory gives the same error.
func isMissing(bin string, err error) bool {
	if errors.Is(err, exec.ErrNotFound) {
		return true
	}
	_, there := os.Stat(bin)
	return errors.Is(err, fs.ErrNotExist) && filepath.IsAbs(bin) && errors.Is(there, fs.ErrNotExist)
}

// Line is Run for an answer of one line.
func (g Git) Line(ctx context.Context, args ...string) (string, error) {
	out, err := g.Run(ctx, args...)
	return strings.TrimSuffix(out, "\n"), err
}

// Paths asks rev-parse for several paths at once, one for each option.
func (g Git) Paths(ctx context.Context, options ...string) ([]string, error) {
	ask := func(options ...string) (string, error) {
		return g.Line(ctx, append([]string{"rev-parse", "--path-format=absolute"}, options...)...)
	}
	out, err := ask(options...)
	if err != nil {
		return nil, err
	}
	if answers := strings.Split(out, "\n"); len(answers) == len(options) {
		return answers, nil
	}
	// A path has a line break in it.
	answers := make([]string, len(options))
	for i, option := range options {
		if answers[i], err = ask(option); err != nil {
			return nil, err
		}
	}
	return answers, nil
}

// List is Run for an answer of NUL-terminated fields.
func (g Git) List(ctx context.Context, args ...string) ([]string, error) {
	out, err := g.Run(ctx, args...)
	return Fields(out), err
}

// Ask is Run for a question that git answers with exit code 0 or 1.
func (g Git) Ask(ctx context.Context, args ...string) (bool, error) {
	_, err := g.Run(ctx, args...)
	if failed, ok := errors.AsType[*Error](err); ok && failed.Code == 1 {
		return false, nil
	}
	return err == nil, err
}
