package launch

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/hashicorp/go-hclog"
	goplugin "github.com/hashicorp/go-plugin"
	"github.com/hashicorp/go-plugin/runner"
	"google.golang.org/grpc"
	"google.golang.org/grpc/backoff"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/connectivity"
	"google.golang.org/grpc/status"

	"github.com/swarmhost/swarm/host/catalog"
	"github.com/swarmhost/swarm/host/reattach"
	"github.com/swarmhost/swarm/host/statedir"
	"github.com/swarmhost/swarm/shared/environ"
	"github.com/swarmhost/swarm/shared/plugin/client"
	"github.com/swarmhost/swarm/shared/swarm"
)

type child struct {
	name   string
	client *goplugin.Client
	proc   *process
	// dir is where its socket is; lock is held on it.
	dir  string
	lock *os.File
	// givenUp is set when a call was left before the plugin had answered it.
	givenUp atomic.Bool
	closing sync.Once
	// left is set before this host ends it.
	left atomic.Bool
	// attached is set for a plugin that is being debugged, which this host neither starts nor
	// ends: then client is nil, and proc only says that it has ended.
	attached *attached
}

func encodeConfig(e catalog.Entry) ([]byte, error) {
	if len(e.Config) == 0 {
		return nil, nil
	}
	settings, err := json.Marshal(e.Config)
	if err != nil {
		return nil, &ConfigError{e.Name, fmt.Errorf("%w: %w", swarm.ErrInvalidConfig, err)}
	}
	return settings, nil
}

// identity returns a value that is equal for entries that one process can serve.
func identity(e catalog.Entry, settings []byte) string {
	return fmt.Sprintf("%q %q %q %v %s", e.Name, e.Command, e.SHA256, e.MTLS, settings)
}

// start starts a plugin and makes it ready. Without a process there is an error.
func (s *Set) start(e catalog.Entry, settings []byte, begun func()) (_ *child, _ *client.Client, err error) {
	session, err := reattach.Find(s.opts.Dir, e.Name)
	if session != nil {
		return s.attach(e, session, begun)
	}
	if err != nil {
		return nil, nil, err
	}
	if err := e.Check(); err != nil {
		return nil, nil, err
	}
	verified, err := s.verify(e)
	if err != nil {
		return nil, nil, err
	}
	if verified != nil {
		defer verified.close()
	}
	sockets, err := s.socketDir()
	if err != nil {
		return nil, nil, err
	}
	ctx, cancel := context.WithTimeoutCause(s.ctx, s.opts.StartTimeout, errStartTimeout)
	defer cancel()
	p := &child{name: e.Name}
	defer func() {
		if err != nil {
			p.givenUp.Store(false) // it got no call yet that it could undo
			p.close()
		}
	}()
	p.prepare(e, s.opts, sockets)
	p.proc.now, p.proc.begun, p.proc.program = s.now, begun, verified
	// go-plugin's start knows no context: to end it, end the process.
	stop := context.AfterFunc(ctx, func() {
		<-p.proc.started
		_ = p.proc.Kill(ctx)
	})
	defer stop()
	dispensed, err := p.dispense()
	if err != nil {
		p.proc.unstarted(err)
		return nil, nil, p.explainStart(ctx, s.opts.StartTimeout, err)
	}
	client, err := connect(ctx, dispensed, s.opts.RunDirs, settings)
	if err != nil {
		return nil, nil, p.explainCall(ctx, s.opts.StartTimeout, err)
	}
	if theirs := client.Info().Name; theirs != e.Name {
		// Whatever it would be asked for, another plugin would do it.
		return nil, nil, &catalog.NameError{Name: e.Name, Path: e.Path(), Theirs: theirs, Configured: e.Configured}
	}
	p.proc.ready.Store(true)
	client.Explain(p.explainGone)
	return p, client, nil
}

var errStartTimeout = errors.New("start timeout")

func (p *child) prepare(e catalog.Entry, o Options, sockets *socketDir) {
	// A server that the plugin starts is not part of the worker that the caller may be.
	env := environ.Unset(o.Env, swarm.EnvWorker, swarm.EnvWorkerID, swarm.EnvEngine)
	p.proc = newProcess(e.Command, env)
	if o.Shim != "" {
		p.proc.cmd.Env = append(p.proc.cmd.Env, client.EnvShimProgram+"="+o.Shim)
	}
	if o.RunDirs != "" {
		if mark := statedir.Dir(o.Dir).EngineMark(); mark != "" {
			p.proc.cmd.Env = append(p.proc.cmd.Env, mark)
		}
	}
	p.proc.words.Logger = logOf(o.loggerOf(e.Name), e.Name)
	p.proc.log.Dir, p.proc.log.Plugin, p.proc.command = o.Dir, e.Name, o.Command
	printed := output(o.loggerOf(e.Name), e.Name)
	if p.proc.terminal = o.terminal; o.terminal != nil {
		printed = o.terminal.out
	}
	p.client = goplugin.NewClient(&goplugin.ClientConfig{
		HandshakeConfig:  client.Handshake(),
		Plugins:          client.Plugins(),
		AllowedProtocols: []goplugin.Protocol{goplugin.ProtocolGRPC},
		AutoMTLS:         e.MTLS,
		SkipHostEnv:      true,
		// The limit is our own, see start.
		StartTimeout:     2 * o.StartTimeout,
		Logger:           silent{hclog.NewNullLogger()},
		SyncStdout:       printed,
		SyncStderr:       printed,
		UnixSocketConfig: &goplugin.UnixSocketConfig{TempDir: sockets.path},
		GRPCDialOptions: []grpc.DialOption{
			grpc.WithConnectParams(grpc.ConnectParams{Backoff: backoff.DefaultConfig, MinConnectTimeout: 2 * o.StartTimeout}),
			// go-plugin's own calls have no other bound.
			grpc.WithDefaultCallOptions(grpc.OnFinish(p.finished), grpc.MaxCallRecvMsgSize(client.MaxAnswer)),
		},
		RunnerFunc: func(_ hclog.Logger, theirs *exec.Cmd, dir string) (runner.Runner, error) {
			lock, err := hold(dir)
			p.dir, p.lock, p.proc.dir = dir, lock, dir
			if err != nil {
				return nil, err
			}
			p.proc.cmd.Env = append(p.proc.cmd.Env, theirs.Env...)
			return p.proc, nil
		},
	})
}

func (p *child) finished(err error) {
	switch status.Code(err) {
	case codes.Canceled, codes.DeadlineExceeded:
		p.givenUp.Store(true)
	default:
	}
}

func (p *child) dispense() (any, error) {
	protocol, err := p.client.Client()
	if err != nil {
		return nil, err
	}
	return protocol.Dispense(client.PluginName)
}

// connected reports whether the connection is there: not after the plugin closed
// it.
func (p *child) connected() bool {
	if p.attached != nil {
		return p.attached.connected()
	}
	protocol, err := p.client.Client()
	c, ok := protocol.(*goplugin.GRPCClient)
	return err == nil && ok && c.Conn.GetState() == connectivity.Ready
}

func connect(ctx context.Context, dispensed any, runDirs string, settings []byte) (*client.Client, error) {
	if settings == nil {
		return client.Connect(ctx, dispensed, client.RunDirs(runDirs))
	}
	c, err := client.Connect(ctx, dispensed, client.RunDirs(runDirs), client.ConfigFollows)
	if err != nil {
		return nil, err
	}
	return c, c.Configure(ctx, settings)
}

// explainStart makes the error of a start one of this package's, from what was
// seen of the process and not from the text of go-plugin's error.
func (p *child) explainStart(ctx context.Context, limit time.Duration, err error) error {
	if p.proc.err != nil {
		return execError(p.name, p.proc.path, p.proc.err)
	}
	if ended := p.explainEnd(ctx, limit); ended != nil {
		return ended
	}
	line, _, _ := strings.Cut(string(p.proc.stdout.text()), "\n")
	if line = strings.TrimSpace(line); line == "" {
		return p.crashed(ctx)
	}
	if other := handshakeError(p.name, line); other != nil {
		return other
	}
	text, _, _ := strings.Cut(err.Error(), "\n")
	return fmt.Errorf("plugin '%s': cannot connect: %s", p.name, text)
}

func (p *child) explainCall(ctx context.Context, limit time.Duration, err error) error {
	if contract, ok := errors.AsType[*client.ContractError](err); ok {
		contract.Plugin = p.name
		return contract
	}
	switch {
	case errors.Is(err, swarm.ErrInvalidConfig):
		return &ConfigError{p.name, err}
	case ctx.Err() != nil:
		return p.explainEnd(ctx, limit)
	case errors.Is(err, client.ErrPluginGone):
		return p.crashed(ctx)
	default:
		return fmt.Errorf("plugin '%s': %w", p.name, err)
	}
}

// explainEnd returns the reason why ctx has ended; nil if it has not.
func (p *child) explainEnd(ctx context.Context, limit time.Duration) error {
	switch {
	case ctx.Err() == nil:
		return nil
	case errors.Is(context.Cause(ctx), errStartTimeout):
		return &TimeoutError{p.name, limit, p.proc.words.Cause(true)}
	default:
		return ErrClosed
	}
}

// crashed ends a process that never served, and returns how it ended.
func (p *child) crashed(ctx context.Context) error {
	_ = p.proc.Kill(ctx)
	<-p.proc.exited
	return p.crash(false)
}

// exitTime is how long a process may outlive its connection.
const exitTime = 500 * time.Millisecond

// explainGone returns the reason why a call has lost its plugin.
func (p *child) explainGone() error {
	if p.left.Load() {
		return client.ErrPluginGone // this host has ended it
	}
	limit := time.NewTimer(exitTime)
	defer limit.Stop()
	select {
	case <-p.proc.exited:
		if p.left.Load() {
			return client.ErrPluginGone
		}
		return p.crash(true)
	case <-limit.C:
		return &DeafError{p.name}
	}
}

func (p *child) crash(serving bool) error {
	if p.attached != nil {
		return &DebuggedError{p.name, p.attached.session.Holder.PID}
	}
	<-p.proc.stderr.ended
	state := "unknown exit"
	if st := p.proc.cmd.ProcessState; st != nil {
		state = st.String()
	}
	return &CrashError{p.name, state, p.proc.words.Cause(!serving), serving}
}

func (p *child) died(ctx context.Context) error {
	select {
	case <-p.proc.exited:
		return p.crash(true)
	case <-ctx.Done():
		return nil
	}
}

func (s *Set) socketDir() (*socketDir, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.sockets != nil {
		return s.sockets, nil
	}
	d, err := openSocketDir(s.opts.Env, s.opts.Dir)
	if err != nil {
		return nil, err
	}
	s.sockets = d
	if !d.empty {
		s.sweep.Go(d.sweep)
	}
	return d, nil
}

// output receives the text that the plugin's code prints while it serves.
func output(to hclog.Logger, name string) io.Writer {
	if !to.IsDebug() {
		return io.Discard
	}
	return to.With("plugin", name).StandardWriter(&hclog.StandardLoggerOptions{ForceLevel: hclog.Debug})
}

// logOf returns the logger for a plugin's log, which keeps the levels of its entries; nil if
// nothing is logged.
func logOf(to hclog.Logger, name string) hclog.Logger {
	if !to.IsError() {
		return nil
	}
	return to.With("plugin", name)
}

// silent is a null logger whose level says so, for go-plugin: its own messages are dropped, and
// it does not read lines of the plugin in vain.
type silent struct{ hclog.Logger }

func (silent) GetLevel() hclog.Level       { return hclog.Off }
func (s silent) Named(string) hclog.Logger { return s }
