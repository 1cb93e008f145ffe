package harness

import (
	"context"
	"crypto/rand"
	"fmt"
	"log/slog"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/hashicorp/go-hclog"
	goplugin "github.com/hashicorp/go-plugin"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/test/bufconn"

	"github.com/swarmhost/swarm/shared/plugin/client"
	"github.com/swarmhost/swarm/shared/plugin/internal/handshake"
	"github.com/swarmhost/swarm/shared/plugin/internal/rpc"
	"github.com/swarmhost/swarm/shared/pluginlog"
	"github.com/swarmhost/swarm/shared/shim/rundir"
	"github.com/swarmhost/swarm/shared/swarm"
)

// Program is a built plugin.
type Program struct {
	Path   string
	Args   []string
	Env    []string // nil: the environment of this process
	Config []byte   // nil: none
	Shim   string   // the path of swarm-shim
}

// Process is a running [Program], with this process as its host.
type Process struct {
	*client.Client
	conn grpc.ClientConnInterface
	// Crash kills it.
	Crash func()
	// Leave closes the death pipe, as the end of a host does.
	Leave func()
	// Exited reports whether it has ended.
	Exited func() bool
}

// command returns the command that starts the program as a host does, without the additions
// of go-plugin. The plugin's end of the death pipe is its descriptor 3.
func (p Program) command(t T, death *os.File) *exec.Cmd {
	t.Helper()
	env := p.Env
	if env == nil {
		env = os.Environ()
	}
	// Not t.TempDir: the path of a socket has to be short.
	sockets, err := os.MkdirTemp("", "plugintest")
	if err != nil {
		t.Fatalf("make a directory for sockets: %v", err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(sockets) })
	cmd := exec.Command(p.Path, p.Args...) //nolint:noctx // it is ended by its caller
	cmd.Env = append(client.CleanEnv(env),
		client.EnvDeath+"=3", client.EnvShimProgram+"="+p.Shim, goplugin.EnvUnixSocketDir+"="+sockets, EngineMark(t, sockets))
	cmd.ExtraFiles = []*os.File{death}
	return cmd
}

// EngineMark returns the entry of an environment by which the servers of an engine prove what they
// are, see [swarm.EnvEngine], with the secret of the directory.
func EngineMark(t T, dir string) string {
	t.Helper()
	file := filepath.Join(dir, rundir.EngineKey)
	secret, err := os.ReadFile(file)
	if err != nil {
		secret = []byte(rand.Text())
		err = os.WriteFile(file, secret, 0o600)
	}
	if err != nil {
		t.Fatalf("make the secret for servers: %v", err)
	}
	return swarm.EnvEngine + "=" + rundir.EngineMark(string(secret), file)
}

// Start starts the program and connects to it, with the options. The program ends with the test at the latest.
func (p Program) Start(t T, opts ...client.ConnectOption) *Process {
	t.Helper()
	deathRead, deathWrite, err := os.Pipe()
	if err != nil {
		t.Fatalf("make the death pipe: %v", err)
	}
	cmd := p.command(t, deathRead)
	words := pluginlog.Reader{Logger: hclog.New(&hclog.LoggerOptions{Output: logWriter{t}, Level: hclog.Warn})}
	program := goplugin.NewClient(&goplugin.ClientConfig{
		HandshakeConfig:  client.Handshake(),
		Plugins:          client.Plugins(),
		Cmd:              cmd,
		SkipHostEnv:      true,
		AllowedProtocols: []goplugin.Protocol{goplugin.ProtocolGRPC},
		StartTimeout:     Patience, // other cases may run at the same time
		Stderr:           &words,
		// Its messages are about the ends that the kit brings about.
		Logger: hclog.NewNullLogger(),
	})
	t.Cleanup(func() {
		_ = deathWrite.Close() // also ends a plugin that hangs
		program.Kill()
	})
	protocol, err := program.Client()
	_ = deathRead.Close()
	if err != nil {
		// The rest guesses at the reason.
		text, _, _ := strings.Cut(err.Error(), "\nThis usually means")
		if cause := words.Cause(true); cause != "" && !strings.Contains(text, cause) {
			text = strings.TrimSpace(text) + ": " + cause
		}
		t.Fatalf("start the plugin: %s", strings.TrimSpace(text))
	}
	raw, err := protocol.Dispense(client.PluginName)
	if err != nil {
		t.Fatalf("start the plugin: %v", err)
	}
	c, err := dial(t, raw, p.Config, opts)
	if err != nil {
		t.Fatalf("connect to the plugin: %v", err)
	}
	c.Explain(func() error { return crashError(program, cmd, &words) })
	return &Process{
		Client: c,
		conn:   raw.(grpc.ClientConnInterface), // or dial had failed
		Crash:  func() { _ = cmd.Process.Kill() },
		Leave:  func() { _ = deathWrite.Close() },
		Exited: program.Exited,
	}
}

// exitTime is how long a plugin may outlive its connection.
const exitTime = time.Second

// crashed is the error of a call in which the plugin has ended.
type crashed struct{ text string }

func (c crashed) Error() string { return c.text }

// Is makes it a [client.ErrPluginGone].
func (c crashed) Is(target error) bool { return target == client.ErrPluginGone }

// crashError returns how the plugin of a client has ended, with the cause that it gave.
func crashError(client *goplugin.Client, cmd *exec.Cmd, words *pluginlog.Reader) error {
	for until := time.Now().Add(exitTime); !client.Exited(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(until) {
			return crashed{"the plugin closed its connection, and still runs"}
		}
	}
	c := crashed{fmt.Sprintf("the plugin crashed (%s)", cmd.ProcessState)}
	if cause := words.Cause(false); cause != "" {
		c.text += ": " + cause
	}
	return c
}

func dial(t T, raw any, config []byte, opts []client.ConnectOption) (*client.Client, error) {
	if config == nil {
		return client.Connect(t.Context(), raw, opts...)
	}
	c, err := client.Connect(t.Context(), raw, append(opts, client.ConfigFollows)...)
	if err != nil {
		return nil, err
	}
	return c, c.Configure(t.Context(), config)
}

type logWriter struct{ t T }

func (w logWriter) Write(p []byte) (int, error) {
	w.t.Logf("%s", strings.TrimRight(string(p), "\n"))
	return len(p), nil
}

// Serve serves a plugin in this process, over a connection in memory, until the test ends. The
// options are those of the connection.
func Serve(t T, p rpc.Plugin, opts ...client.ConnectOption) *client.Client {
	t.Helper()
	p.Logger = slog.New(slog.DiscardHandler)
	server := rpc.New(p)
	g := grpc.NewServer(grpc.MaxRecvMsgSize(handshake.MaxRequest))
	server.Register(g)
	listener := bufconn.Listen(1 << 20)
	go func() { _ = g.Serve(listener) }() // ends with Stop
	t.Cleanup(func() {
		server.Shutdown(Patience)
		g.Stop()
	})
	conn, err := grpc.NewClient("passthrough:///plugin",
		grpc.WithContextDialer(func(ctx context.Context, _ string) (net.Conn, error) { return listener.DialContext(ctx) }),
		grpc.WithTransportCredentials(insecure.NewCredentials()),
		grpc.WithDefaultCallOptions(grpc.MaxCallRecvMsgSize(handshake.MaxRequest), grpc.MaxCallSendMsgSize(handshake.MaxRequest)),
	)
	if err != nil {
		t.Fatalf("connect to the plugin: %v", err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	c, err := client.Connect(t.Context(), conn, opts...)
	if err != nil {
		t.Fatalf("connect to the plugin: %v", err)
	}
	return c
}
