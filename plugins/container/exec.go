package container

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/moby/moby/client"

	"github.com/swarmhost/swarm/plugins/container/members"
	"github.com/swarmhost/swarm/plugins/container/watchdog"
	"github.com/swarmhost/swarm/shared/errtext"
	"github.com/swarmhost/swarm/shared/proc"
	"github.com/swarmhost/swarm/shared/safetext"
	"github.com/swarmhost/swarm/shared/sleep"
	"github.com/swarmhost/swarm/shared/swarm"
)

// ExecVerb is the first argument of the program that [Backend.Exec] returns, the plugin's own, which then calls
// [ExecMain].
const ExecVerb = "exec-command"

// Exit codes if the command did not run, as shells have them, and the one of a process that SIGKILL ended.
const (
	exitFailed   = 125
	exitNoStart  = 126
	exitNotFound = 127
	exitKilled   = signalBase + int(syscall.SIGKILL)
)

// Exec returns the plugin itself, which has the engine run the command, and a watchdog that ends the command with
// the program, see package watchdog.
func (b *Backend) Exec(ctx context.Context, h swarm.Handle, o swarm.ExecOptions) (swarm.Program, error) {
	if err := o.Check(); err != nil {
		return swarm.Program{}, err
	}
	asked := swarm.Spec{Command: o.Command, Dir: o.Dir}
	if err := asked.CheckUTF8("the container engine", o.Env); err != nil {
		return swarm.Program{}, err
	}
	r, e, err := b.open(ctx, h)
	if err != nil {
		return swarm.Program{}, err
	}
	s, err := e.inspect(ctx, r)
	if err != nil {
		return swarm.Program{}, err
	}
	if err := s.mayExec(r.Container); err != nil {
		return swarm.Program{}, err
	}
	own, err := os.Executable()
	if err != nil {
		return swarm.Program{}, err
	}
	x := execution{r: r, o: o}
	return swarm.Program{Command: append([]string{own, ExecVerb}, x.args()...)}, nil
}

// mayExec returns why a container can't run a command now. No engine signals a command, so a command whose
// processes can't be signalled from here would outlive its caller.
func (s state) mayExec(container string) error {
	switch {
	case s.created:
		return fmt.Errorf("%w: the worker has not started yet", swarm.ErrUnavailable)
	case !s.running:
		return errEnded()
	case s.paused:
		return fmt.Errorf("%w: the worker is paused; resume it first", swarm.ErrUnavailable)
	case s.pid <= 0 || !members.Is(s.pid, container):
		return fmt.Errorf("%w: %w, so the command could not be ended with swarm", swarm.ErrUnavailable, members.ErrNotHere)
	}
	first, err := proc.Identify(s.pid)
	if err == nil {
		err = first.Signal(0)
	}
	switch {
	case errors.Is(err, proc.ErrGone):
		return errEnded()
	case errors.Is(err, syscall.EPERM):
		return fmt.Errorf("%w: the processes of the container belong to another user, so the command could not be ended with swarm", swarm.ErrPermission)
	}
	return err
}

// execution is a command to run in a container.
type execution struct {
	r ref
	o swarm.ExecOptions
}

// args returns the arguments of the program that runs the command, after [ExecVerb].
func (x execution) args() []string {
	args := []string{x.r.Socket, x.r.Container, x.r.Worker, strconv.FormatBool(x.o.TTY), x.o.Dir, strconv.Itoa(len(x.o.Env))}
	return slices.Concat(args, x.o.Env, x.o.Command)
}

func parseExecution(args []string) (execution, error) {
	bad := errors.New("expected a socket, a container, its worker, whether there is a terminal, a directory, variables and a command")
	if len(args) < 7 {
		return execution{}, bad
	}
	tty, err := strconv.ParseBool(args[3])
	vars, err2 := strconv.Atoi(args[5])
	rest := args[6:]
	if err != nil || err2 != nil || vars < 0 || vars >= len(rest) {
		return execution{}, bad
	}
	return execution{
		r: ref{Socket: args[0], Container: args[1], Worker: args[2]},
		o: swarm.ExecOptions{TTY: tty, Dir: args[4], Env: rest[:vars], Command: rest[vars:]},
	}, nil
}

// ExecMain runs a command in a container and returns its exit code. Its arguments are those of the program that
// [Backend.Exec] returns, after [ExecVerb]; the standard streams are those of this process.
func ExecMain(args []string) int {
	x, err := parseExecution(args)
	code := exitFailed
	if err == nil {
		code, err = x.run()
	}
	if err != nil {
		fmt.Fprintln(safetext.Writer(os.Stderr), "swarm: error: cannot exec:", errorText(err))
	}
	return code
}

func errorText(err error) string {
	return errtext.Without(err, swarm.ErrUnavailable, swarm.ErrNotFound, swarm.ErrPermission, swarm.ErrInvalidSpec)
}

// run returns the exit code, and the reason if the command did not run.
func (x execution) run() (int, error) {
	b := &Backend{engines: make(map[string]*engine), log: slog.New(slog.DiscardHandler)}
	e, err := b.at(x.r.Socket)
	if err != nil {
		return exitFailed, err
	}
	ctx, cancel := context.WithTimeout(context.Background(), engineLimit)
	defer cancel()
	s, err := e.inspect(ctx, x.r)
	if err == nil {
		err = s.mayExec(x.r.Container)
	}
	if err != nil {
		return exitFailed, err
	}
	t, err := openTerminal(x.o.TTY)
	if err != nil {
		return exitFailed, err
	}
	dog, err := watchdog.Start(watchdog.Container{Socket: x.r.Socket, Container: x.r.Container, Init: s.pid, Grace: s.grace})
	if err != nil {
		return exitFailed, err
	}
	code := exitFailed
	p, err := x.start(ctx, e, s, dog, t.size())
	if err == nil {
		code, err = p.finish(t)
	}
	not, didNot := errors.AsType[*notRun](err)
	if didNot {
		code = not.code
	}
	if didNot || err == nil {
		dog.Release() // else it ends what may run
	}
	return code, err
}

// noEscape are keys that no person types: Docker leaves a terminal when these are typed, in place of Ctrl-P Ctrl-Q, the
// first of which it would hold back. Podman reports other keys in a form that no client of Docker can read.
const noEscape = "ctrl-@,ctrl-^,ctrl-@,ctrl-_,ctrl-@"

// start has the engine run the command. A [notRun] says that it did not; after another error it may run.
func (x execution) start(ctx context.Context, e *engine, s state, dog *watchdog.Watchdog, size client.ConsoleSize) (*session, error) {
	dir := x.o.Dir
	if !path.IsAbs(dir) {
		dir = path.Join("/", s.workdir, dir)
	}
	podman, _, err := e.version(ctx)
	if err != nil {
		return nil, &notRun{errorText(err), exitFailed}
	}
	o := client.ExecCreateOptions{
		AttachStdin: true, AttachStdout: true, AttachStderr: true, TTY: x.o.TTY, ConsoleSize: size,
		Env: x.o.Env, WorkingDir: dir, Cmd: x.o.Command,
	}
	if x.o.TTY && !podman {
		o.DetachKeys = noEscape
	}
	made, err := e.ExecCreate(ctx, x.r.Container, o)
	if err == nil {
		err = dog.Exec(made.ID)
	}
	if err != nil {
		return nil, &notRun{errorText(e.explain(ctx, "run a command in the container", err)), exitFailed}
	}
	conn, err := e.ExecAttach(ctx, made.ID, client.ExecAttachOptions{TTY: x.o.TTY, ConsoleSize: size})
	if err != nil {
		return nil, x.refused(err.Error(), e.explain(ctx, "run a command in the container", err))
	}
	p := &session{e: e, x: x, exec: made.ID, conn: conn.HijackedResponse, spoke: make(chan struct{})}
	go func() {
		defer close(p.spoke)
		_, _ = conn.Reader.Peek(1)
	}()
	if err := p.await(ctx); err != nil || p.main.PID == 0 {
		return p, err
	}
	return p, dog.First(p.main)
}

// notRun says why a command did not run, with the exit code for that.
type notRun struct {
	text string
	code int
}

func (e *notRun) Error() string { return e.text }

// refused returns a [notRun] for the text of a runtime about a command that it can't run, or else an error as it is.
func (x execution) refused(text string, other error) error {
	lower := strings.ToLower(text)
	switch {
	case !strings.Contains(lower, "oci ") && !strings.Contains(lower, "crun") && !strings.Contains(lower, "runc"):
		return other
	case strings.Contains(lower, "chdir"):
		return &notRun{"no such directory in the container, or no right to it: " + plain(errors.New(text)), exitNoStart}
	case strings.Contains(lower, "executable file") && strings.Contains(lower, "not found"), strings.Contains(lower, "no such file or directory"):
		return &notRun{"command not found: " + x.o.Command[0], exitNotFound}
	}
	return &notRun{plain(errors.New(text)), exitNoStart}
}

// session is a command that the engine runs, or has run.
type session struct {
	e    *engine
	x    execution
	exec string // the engine's id
	conn client.HijackedResponse
	// spoke is closed when something can be read from the engine, or its end.
	spoke chan struct{}
	// main is the first process; the zero value if the command ended at once.
	main proc.Identity
}

// await waits until the command runs, and notes its first process, or until it has ended.
func (p *session) await(ctx context.Context) error {
	for {
		// Looked at before the engine is asked: a command that has an output was started.
		spoke := false
		select {
		case <-p.spoke:
			spoke = true
		default:
		}
		got, err := p.e.ExecInspect(ctx, p.exec, client.ExecInspectOptions{})
		switch {
		case err != nil:
			return p.e.explain(ctx, "look at the command", err)
		case got.Running:
			p.main, _ = watchdog.FirstProcess(got.PID, p.x.r.Container)
		case spoke:
			return nil
		}
		if p.main.PID > 0 {
			return nil
		}
		if err := sleep.For(ctx, commandPoll); err != nil {
			return p.e.explain(ctx, "wait for the command", err)
		}
	}
}

// finish passes the streams on until the command has ended, and returns its exit code. A [notRun] says that the engine
// could not run it; after another error its end is unknown.
func (p *session) finish(t *terminal) (int, error) {
	ctx := context.Background()
	out := &commandOutput{conn: p.conn}
	defer p.conn.Close()
	if p.main.PID == 0 {
		out.expire()
		<-p.spoke
		code, err := p.exitCode(ctx)
		if err != nil {
			return code, err
		}
		return code, p.x.short(code, p.x.o.TTY, out)
	}
	t.begin(ctx, p)
	defer t.restore()
	go func() {
		_, _ = io.Copy(p.conn.Conn, os.Stdin) // after the end of the command there is nothing to pass it to
		_ = p.conn.CloseWrite()
	}()
	go func() {
		_ = proc.AwaitEnd(ctx, p.main)
		out.expire()
	}()
	<-p.spoke
	if err := out.copy(p.x.o.TTY, os.Stdout, os.Stderr); err != nil {
		return exitFailed, err
	}
	return p.exitCode(ctx)
}

// short passes the output of a command on that has ended at once. Engines write there why they could not run it.
func (x execution) short(code int, tty bool, out *commandOutput) error {
	if code != exitNoStart && code != exitNotFound {
		return out.copy(tty, os.Stdout, os.Stderr)
	}
	var stdout, stderr bytes.Buffer
	if err := out.copy(tty, &stdout, &stderr); err != nil {
		return err
	}
	if err := x.refused(stdout.String()+stderr.String(), nil); err != nil {
		return err
	}
	_, err := stdout.WriteTo(os.Stdout)
	_, err2 := stderr.WriteTo(os.Stderr)
	return errors.Join(err, err2)
}

// leftLimit is how long a command may run without its terminal.
const leftLimit = 5 * time.Second

// exitCode waits until the command has ended, and the engine knows how. SIGKILL ended it if its container ended.
func (p *session) exitCode(ctx context.Context) (int, error) {
	for {
		got, err := p.e.ExecInspect(ctx, p.exec, client.ExecInspectOptions{})
		switch {
		case err != nil:
			s, lookErr := p.e.inspect(ctx, p.x.r)
			if errors.Is(lookErr, swarm.ErrNotFound) || lookErr == nil && !s.running {
				return exitKilled, nil
			}
			return exitFailed, p.e.explain(ctx, "ask how the command ended", err)
		case !got.Running:
			return got.ExitCode, nil
		}
		// It may have closed its output before. A terminal without output may have been left by the keys for that.
		limited, cancel := ctx, context.CancelFunc(func() {})
		if p.x.o.TTY {
			limited, cancel = context.WithTimeout(ctx, leftLimit)
		}
		err = proc.AwaitEnd(limited, p.main)
		cancel()
		if err != nil {
			return exitFailed, fmt.Errorf("%w: the engine has left the terminal of the command", swarm.ErrUnavailable)
		}
		time.Sleep(findPoll)
	}
}
