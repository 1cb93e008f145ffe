package launch

import (
	"context"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/swarmhost/swarm/host/pluginlogs"
	"github.com/swarmhost/swarm/shared/plugin/client"
	"github.com/swarmhost/swarm/shared/pluginlog"
	"github.com/swarmhost/swarm/shared/proc"
)

type process struct {
	// path is the path by which it was started.
	path           string
	cmd            *exec.Cmd
	stdout, stderr *pipe
	// death is the write end of the death pipe. Nothing is ever written: the
	// plugin's end is at its end when this one is closed or its host is gone.
	death *os.File
	// started is closed when Start is done, exited when the process is gone or
	// was never there.
	started, exited chan struct{}
	// err is why it could not be started.
	err error
	// ended is when the process ended by now, known once exited is closed.
	ended time.Time
	now   func() time.Time
	// begun is called once the process runs.
	begun func()
	// program is run in place of the path of cmd if it was hashed; dir is a private
	// directory for that.
	program *program
	dir     string
	// terminal is where it is shown, if a person debugs it; handshake finds the plugin's line in
	// what is printed there.
	terminal  *terminal
	handshake *handshakes
	// command is the command of swarm that starts it.
	command string
	// ready is set once the plugin serves and may have started things that are
	// meant to outlive it.
	ready atomic.Bool
	// words reads its standard error, and log keeps it.
	words pluginlog.Reader
	log   pluginlogs.Writer
}

func newProcess(argv, env []string) *process {
	cmd := exec.Command(argv[0], argv[1:]...) //nolint:noctx // it lives as long as its set, not as long as a call
	cmd.Env = withAbsolutePath(client.CleanEnv(env))
	// Not the caller's: the plugin must not keep a directory busy that is to be
	// removed.
	cmd.Dir = "/"
	// Ctrl-C and the closing of the terminal are for the host to deal with. Not a
	// session: Linux schedules each one by itself (autogroup), and on a busy
	// machine that makes a plugin take half as long again.
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	return &process{path: argv[0], cmd: cmd, started: make(chan struct{}), exited: make(chan struct{}), now: time.Now, begun: func() {}}
}

// withAbsolutePath drops the relative directories of PATH. They mean others in the
// plugin's directory than in the caller's, and "./bin" would be /bin there: programs
// found by it are not run (os/exec), though the next directory has the same ones.
func withAbsolutePath(env []string) []string {
	env = slices.Clone(env)
	for i, entry := range env {
		if value, ok := strings.CutPrefix(entry, "PATH="); ok {
			dirs := slices.DeleteFunc(filepath.SplitList(value), func(dir string) bool { return !filepath.IsAbs(dir) })
			env[i] = "PATH=" + strings.Join(dirs, string(filepath.ListSeparator))
		}
	}
	return env
}

func (p *process) Start(context.Context) (err error) {
	defer func() {
		if err != nil {
			p.unstarted(err)
			return
		}
		close(p.started)
	}()
	var theirs [3]*os.File
	defer func() {
		for _, f := range theirs {
			_ = f.Close() // some are nil after an error
		}
	}()
	if p.stdout, theirs[0], err = newPipe(nil); err != nil {
		return err
	}
	said := io.MultiWriter(&p.words, &p.log)
	if p.terminal != nil {
		said = io.MultiWriter(said, p.terminal.err)
		p.handshake = &handshakes{from: p.stdout, shown: p.terminal.out}
	}
	if p.stderr, theirs[1], err = newPipe(said); err != nil {
		_ = p.stdout.Close()
		return err
	}
	if theirs[2], p.death, err = os.Pipe(); err == nil {
		p.cmd.Stdout, p.cmd.Stderr = theirs[0], theirs[1]
		p.cmd.ExtraFiles = []*os.File{theirs[2]}
		p.cmd.Env = append(p.cmd.Env, deathEnv)
		if err = p.run(); err != nil {
			_ = p.death.Close()
		}
	}
	if err != nil {
		_ = p.stdout.Close()
		_ = p.stderr.Close()
		return err
	}
	p.log.Begin(pluginlogs.Run{PID: p.cmd.Process.Pid, Began: time.Now().UTC(), Command: p.command})
	go func() {
		// Wait would keep a processor until the scheduler misses it: for milliseconds, and there
		// may be only one.
		if id, err := proc.Identify(p.cmd.Process.Pid); err == nil {
			_ = proc.AwaitEnd(context.Background(), id)
		}
		// The state is kept in cmd, and all that it could fail with is in there.
		_ = p.cmd.Wait()
		p.ended = p.now()
		_ = p.death.Close()
		p.stdout.end()
		p.stderr.end()
		close(p.exited)
	}()
	p.begun()
	client.Warm() // it takes the plugin much longer to begin to serve
	return nil
}

// run starts the command, and ends it again if it is not the hashed program.
func (p *process) run() error {
	if p.program == nil {
		return p.cmd.Start()
	}
	stdin, err := os.Open(os.DevNull)
	if err != nil {
		return err
	}
	defer stdin.Close()
	p.cmd.Stdin = stdin
	files := append([]*os.File{stdin, p.cmd.Stdout.(*os.File), p.cmd.Stderr.(*os.File)}, p.cmd.ExtraFiles...)
	done, err := p.program.use(p.cmd, files, p.dir)
	if err != nil {
		return err
	}
	err = p.cmd.Start()
	if cerr := done(); err == nil && cerr != nil {
		_ = p.cmd.Process.Kill()
		_ = p.cmd.Wait()
		return cerr
	}
	return err
}

func (p *process) unstarted(err error) {
	select {
	case <-p.started:
	default:
		p.err = err
		close(p.exited)
		close(p.started)
	}
}

// deathEnv says which descriptor the death pipe is: ExtraFiles begin
// after the standard ones.
const deathEnv = "SWARM_PLUGIN_DEATH_FD=3"

// Wait is called once stdout and stderr have ended.
func (p *process) Wait(context.Context) error {
	<-p.exited
	if p.stdout != nil {
		_ = p.stdout.Close()
		_ = p.stderr.Close()
	}
	return nil
}

// Kill sends SIGKILL. It is safe after the end: the process is our child, and os.Process
// knows when it was waited for. A plugin that never served is ended with all processes that
// it started, such as the commands of a script: its process group is its own, and exists as
// long as the process was not waited for.
func (p *process) Kill(context.Context) error {
	if p.cmd.Process == nil || !p.running() {
		return nil
	}
	if !p.ready.Load() {
		_ = unix.Kill(-p.cmd.Process.Pid, unix.SIGKILL)
	}
	_ = p.cmd.Process.Kill()
	return nil
}

func (p *process) leave() { _ = p.death.Close() }

func (p *process) running() bool {
	select {
	case <-p.exited:
		return false
	default:
		return true
	}
}

// Stdout is for the handshake.
func (p *process) Stdout() io.ReadCloser {
	if p.handshake != nil {
		return p.handshake
	}
	return p.stdout
}

// Stderr is the stream for the plugin's log.
func (p *process) Stderr() io.ReadCloser { return p.stderr }

// Name is how go-plugin names the logger.
func (p *process) Name() string { return "plugin" }

func (p *process) ID() string {
	if p.cmd.Process == nil {
		return ""
	}
	return strconv.Itoa(p.cmd.Process.Pid)
}

// Diagnose adds nothing to go-plugin's errors: they are not shown.
func (p *process) Diagnose(context.Context) string { return "" }

// PluginToHost and HostToPlugin: an address is the same on both sides.
func (p *process) PluginToHost(network, addr string) (string, string, error) {
	return network, addr, nil
}

func (p *process) HostToPlugin(network, addr string) (string, string, error) {
	return network, addr, nil
}
