package ssh

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/swarmhost/swarm/plugins/ssh/remote"
	"github.com/swarmhost/swarm/shared/environ"
	"github.com/swarmhost/swarm/shared/proc"
	"github.com/swarmhost/swarm/shared/safetext"
	"github.com/swarmhost/swarm/shared/swarm"
)

const (
	// aliveEvery and aliveMisses are how soon a connection that several calls share is
	// given up when the host is silent.
	aliveEvery  = 5 * time.Second
	aliveMisses = 3
	// socketSuffix is what ssh adds to the name of a socket while it makes it.
	socketSuffix = ".0123456789abcdef"
	// socketName is how long the name of a socket is.
	socketName = 16
	// maxSocket is the longest path of a Unix socket on every system.
	maxSocket = 103
)

type sshClient struct {
	config Config
	host   string
	env    []string // of the plugin
	// control is where the sockets of shared connections are; without it connections
	// are not shared.
	control control

	mu sync.Mutex // held while ssh is asked
	// asked is what ssh said last, and known says that it was an answer.
	asked settings
	known bool
}

// settings are what the user's settings say of a host, as far as swarm needs it.
type settings struct {
	// socket is the path of the shared connection's socket, empty without such a connection.
	socket string
	sshEnv []string
	// unsent are the variables that sshEnv does not have.
	unsent []string
	// plain are the settings out of plain that this ssh knows.
	plain []string
}

// plain are settings that not every ssh knows, and that do not suit a program: nothing of the
// user is lent to the host, the command is run, and its standard input is ours.
var plain = []string{"GSSAPIDelegateCredentials=no", "SessionType=default", "StdinNull=no", "ForkAfterAuthentication=no"}

// needed are the variables that ssh needs itself. It gets no others if it does not say what it
// would send.
var needed = []string{"HOME", "PATH", "USER", "LOGNAME", "SHELL", "TERM", "SSH_AUTH_SOCK"}

// prepare asks ssh what the user's settings say of the host, unless it has answered before. If
// ssh refuses, the connection fails in a moment and says why, and the next one asks again.
func (c *sshClient) prepare(ctx context.Context) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.known {
		return nil
	}
	text, err := c.query(ctx)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if errors.Is(err, context.DeadlineExceeded) {
		return fmt.Errorf("%w: can't reach %s: '%s -G %s' did not end within %s; look for a command of Match exec in the settings of ssh",
			swarm.ErrUnavailable, c.host, c.config.Program, c.host, c.timeout())
	}
	c.asked, c.known = c.read(text, err != nil), err == nil
	return nil
}

// said returns what ssh said last.
func (c *sshClient) said() settings {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.asked
}

func (c *sshClient) timeout() time.Duration {
	return time.Duration(c.config.ConnectTimeout) * time.Second
}

// query returns what ssh prints of its settings for the host. It runs commands of the user (Match
// exec) and may ask a name server, so it and those commands are ended after the time that a host
// may take.
func (c *sshClient) query(ctx context.Context) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, c.timeout())
	defer cancel()
	cmd := exec.CommandContext(ctx, c.config.Program, append(c.base(), "-G", "--", c.host)...)
	cmd.Env = c.env
	// A shared connection, which is a process of its own by then, continues.
	cmd.SysProcAttr = proc.EndWithParent(syscall.SIGKILL)
	cmd.SysProcAttr.Setpgid = true
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	cmd.WaitDelay = time.Second
	var out bytes.Buffer
	cmd.Stdout = &limited{w: &out, left: 1 << 20}
	err := cmd.Run()
	if ctx.Err() != nil {
		err = ctx.Err()
	}
	return out.String(), err
}

// read returns the settings that ssh printed. If it failed, text may be cut off.
func (c *sshClient) read(text string, failed bool) (s settings) {
	var sent, where []string
	for line := range strings.Lines(text) {
		key, value, _ := strings.Cut(strings.TrimSpace(line), " ")
		for _, setting := range plain {
			if name, _, _ := strings.Cut(setting, "="); strings.EqualFold(name, key) {
				s.plain = append(s.plain, setting)
			}
		}
		switch key {
		case "sendenv":
			sent = append(sent, strings.Fields(value)...)
		case "hostname", "user", "port", "proxyjump", "proxycommand", "identityfile", "hostkeyalias":
			where = append(where, key+" "+value)
		}
	}
	// Nothing of the environment that ssh would send by itself leaves this machine: a worker
	// names what it needs.
	s.sshEnv = environ.Without(c.env, func(name string) bool {
		unsent := failed && !slices.Contains(needed, name) || slices.ContainsFunc(sent, func(pattern string) bool {
			ok, err := path.Match(pattern, name)
			return ok || err != nil
		})
		if unsent {
			s.unsent = append(s.unsent, name)
		}
		return unsent || name == swarm.EnvShim
	})
	// A connection that is left behind is not a part of the worker that the caller may
	// be.
	s.sshEnv = append(s.sshEnv, swarm.EnvShim+"=ssh")
	if c.config.Persist > 0 && c.control.ready() {
		sum := sha256.Sum256([]byte(strings.Join(append(where, c.host, c.config.ConfigFile, c.config.Program), "\n")))
		socket := c.control.socket(hex.EncodeToString(sum[:socketName/2]))
		if len(socket)+len(socketSuffix) <= maxSocket {
			s.socket = socket
		}
	}
	return s
}

// base are the arguments that say which settings hold.
func (c *sshClient) base() []string {
	if c.config.ConfigFile == "" {
		return nil
	}
	return []string{"-F", c.config.ConfigFile}
}

// args are the arguments for a connection that runs a command there. The command has no
// character that a shell takes for something else, or says itself how to read it.
func (c *sshClient) args(person bool, command string) []string {
	said := c.said()
	option := func(args []string, values ...string) []string {
		for _, v := range values {
			args = append(args, "-o", v)
		}
		return args
	}
	args := option(c.base(),
		"ConnectTimeout="+strconv.Itoa(c.config.ConnectTimeout),
		"ServerAliveInterval="+strconv.Itoa(int(aliveEvery.Seconds())),
		"ServerAliveCountMax="+strconv.Itoa(aliveMisses),
		"ForwardAgent=no", "ForwardX11=no", "ClearAllForwardings=yes", "PermitLocalCommand=no", "RemoteCommand=none")
	args = option(args, said.plain...)
	if person {
		args = option(args, "RequestTTY=force")
	} else {
		args = option(args, "RequestTTY=no", "BatchMode=yes", "EscapeChar=none")
	}
	if said.socket == "" {
		args = option(args, "ControlMaster=no", "ControlPath=none")
	} else {
		args = option(args, "ControlMaster=auto", "ControlPath="+said.socket, "ControlPersist="+strconv.Itoa(c.config.Persist))
	}
	return append(args, "--", c.host, command)
}

// remoteCommand is an ssh that runs a command there.
type remoteCommand struct {
	cmd    *exec.Cmd
	in     *os.File // its standard input
	out    *os.File // its standard output
	errors *lastText
	ended  chan struct{}
}

// start runs a command there. The process ends when its input is closed, at the latest a
// moment after.
func (c *sshClient) start(ctx context.Context, command string) (*remoteCommand, error) {
	if err := c.prepare(ctx); err != nil {
		return nil, err
	}
	theirIn, in, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	out, theirOut, err := os.Pipe()
	if err != nil {
		_, _ = theirIn.Close(), in.Close()
		return nil, err
	}
	// It outlives the call that needed it first.
	cmd := exec.CommandContext(context.WithoutCancel(ctx), c.config.Program, c.args(false, command)...)
	cmd.Env = c.said().sshEnv
	// A shared connection, which is a process of its own by then, continues.
	cmd.SysProcAttr = proc.EndWithParent(syscall.SIGKILL)
	cmd.Stdin, cmd.Stdout = theirIn, theirOut
	r := &remoteCommand{cmd: cmd, in: in, out: out, errors: new(lastText), ended: make(chan struct{})}
	cmd.Stderr = r.errors
	// A shared connection, which continues, may hold the standard error.
	cmd.WaitDelay = 100 * time.Millisecond
	err = cmd.Start()
	_, _ = theirIn.Close(), theirOut.Close()
	if err != nil {
		_, _ = in.Close(), out.Close()
		if errors.Is(err, exec.ErrNotFound) {
			return nil, fmt.Errorf("%w: there is no '%s' on this machine: install the OpenSSH client", swarm.ErrUnavailable, c.config.Program)
		}
		return nil, fmt.Errorf("%w: %w", swarm.ErrUnavailable, err)
	}
	go func() {
		_ = cmd.Wait() // how it ended is in cmd
		close(r.ended)
	}()
	return r, nil
}

// await closes the input of the process and waits for its end, but no longer than limit.
func (r *remoteCommand) await(ctx context.Context, limit time.Duration) {
	_ = r.in.Close()
	select {
	case <-r.ended:
	case <-time.After(limit):
	case <-ctx.Done():
	}
}

func (r *remoteCommand) end() {
	_, _ = r.in.Close(), r.out.Close()
	select {
	case <-r.ended:
		return
	case <-time.After(endLimit):
	}
	_ = r.cmd.Process.Kill()
	<-r.ended
}

// endLimit is how long ssh may take to see the end of its input.
const endLimit = 200 * time.Millisecond

// exit returns the exit code once the process has ended.
func (r *remoteCommand) exit() int {
	<-r.ended
	return r.cmd.ProcessState.ExitCode()
}

// sshFailed is the exit code by which ssh says that it failed itself.
const sshFailed = 255

// lastText keeps the end of what is written to it.
type lastText struct {
	mu   sync.Mutex
	text []byte
}

// maxText is how much of a text it keeps.
const maxText = 4 << 10

func (l *lastText) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.text = append(l.text, b...)
	l.text = l.text[max(0, len(l.text)-maxText):]
	return len(b), nil
}

// line returns the last line that says something, made fit for people.
func (l *lastText) line() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, line := range slices.Backward(strings.Split(strings.ToValidUTF8(string(l.text), "?"), "\n")) {
		line = strings.TrimSpace(line)
		if line != "" && !strings.HasPrefix(line, "mux_client_") && !strings.HasPrefix(line, "ControlSocket ") {
			return safetext.Line(safetext.Cut(line, 300))
		}
	}
	return ""
}

// limited passes on so many bytes and drops the rest.
type limited struct {
	w    io.Writer
	left int
}

func (l *limited) Write(b []byte) (int, error) {
	n := min(len(b), l.left)
	l.left -= n
	if _, err := l.w.Write(b[:n]); err != nil {
		return 0, err
	}
	return len(b), nil
}

// maxChatter is how much a login shell may print before swarm-remote says its line.
const maxChatter = 64 << 10

// awaitHello reads up to the line by which swarm-remote begins to serve. No byte after it
// is read.
func (r *remoteCommand) awaitHello() (hash string, _ remote.Origin, err error) {
	var line []byte
	one := make([]byte, 1)
	for range maxChatter {
		if _, err := r.out.Read(one); err != nil {
			return "", remote.Origin{}, err
		}
		if one[0] != '\n' {
			line = append(line, one[0])
			continue
		}
		if hash, origin, ok := remote.ParseGreeting(string(line)); ok {
			return hash, origin, nil
		}
		line = line[:0]
	}
	return "", remote.Origin{}, errors.New("the login shell there prints without end")
}

func firstLine(r *bufio.Reader) (string, error) {
	line, err := r.ReadString('\n')
	return strings.TrimSpace(line), err
}

// version returns the version of ssh, as it says it.
func (c *sshClient) version(ctx context.Context) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	cmd := exec.CommandContext(ctx, c.config.Program, "-V")
	cmd.Env = c.env
	var said lastText
	cmd.Stderr = &said
	if err := cmd.Run(); err != nil {
		return "", fmt.Errorf("%w: %s -V: %w", swarm.ErrUnavailable, c.config.Program, err)
	}
	version, _, _ := strings.Cut(said.line(), ",")
	return version, nil
}
