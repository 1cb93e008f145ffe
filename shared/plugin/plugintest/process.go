package plugintest

import (
	"context"
	"os"
	"os/exec"
	"strings"

	"github.com/hashicorp/go-hclog"
	goplugin "github.com/hashicorp/go-plugin"
	"google.golang.org/grpc"

	"github.com/swarmhost/swarm/shared/plugin"
	"github.com/swarmhost/swarm/shared/swarm"
)

// program is a built plugin.
type program struct {
	path   string
	args   []string
	env    []string // nil: that of this process
	config []byte   // nil: none
}

// process is a running program, with this process as its host.
type process struct {
	*plugin.Client
	conn grpc.ClientConnInterface
	// crash kills it.
	crash func()
	// leave has the effect of the end of a host.
	leave func()
	// exited reports whether it has ended.
	exited func() bool
}

// command returns the command that starts the program as a host does, without the additions
// of go-plugin. The plugin's end of the death pipe is its descriptor 3.
func (p program) command(t T, death *os.File) *exec.Cmd {
	t.Helper()
	env := p.env
	if env == nil {
		env = os.Environ()
	}
	// Not t.TempDir: the path of a socket has to be short.
	sockets, err := os.MkdirTemp("", "plugintest")
	if err != nil {
		t.Fatalf("make a directory for sockets: %v", err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(sockets) })
	cmd := exec.Command(p.path, p.args...) //nolint:noctx // it is ended by who starts it
	cmd.Env = append(plugin.CleanEnv(env),
		plugin.EnvDeath+"=3", goplugin.EnvUnixSocketDir+"="+sockets)
	cmd.ExtraFiles = []*os.File{death}
	return cmd
}

// start starts the program and connects to it. It ends with the test at the
// latest.
func (p program) start(t T) *process {
	t.Helper()
	deathRead, deathWrite, err := os.Pipe()
	if err != nil {
		t.Fatalf("make the death pipe: %v", err)
	}
	cmd := p.command(t, deathRead)
	client := goplugin.NewClient(&goplugin.ClientConfig{
		HandshakeConfig:  plugin.Handshake(),
		Plugins:          plugin.Plugins(),
		Cmd:              cmd,
		SkipHostEnv:      true,
		AllowedProtocols: []goplugin.Protocol{goplugin.ProtocolGRPC},
		StartTimeout:     startLimit,
		Logger:           hclog.New(&hclog.LoggerOptions{Output: logWriter{t}, Level: hclog.Warn}),
	})
	t.Cleanup(func() {
		_ = deathWrite.Close() // ends a plugin that hangs, too
		client.Kill()
	})
	protocol, err := client.Client()
	_ = deathRead.Close()
	if err != nil {
		// The rest is go-plugin's guess at the reason.
		text, _, _ := strings.Cut(err.Error(), "\nThis usually means")
		t.Fatalf("start the plugin: %s", strings.TrimSpace(text))
	}
	raw, err := protocol.Dispense(plugin.PluginName)
	if err != nil {
		t.Fatalf("start the plugin: %v", err)
	}
	c, err := dial(t, raw, p.config)
	if err != nil {
		t.Fatalf("connect to the plugin: %v", err)
	}
	return &process{
		Client: c,
		conn:   raw.(grpc.ClientConnInterface), // or dial had failed
		crash:  func() { _ = cmd.Process.Kill() },
		leave:  func() { _ = deathWrite.Close() },
		exited: client.Exited,
	}
}

func dial(t T, raw any, config []byte) (*plugin.Client, error) {
	if config == nil {
		return plugin.Connect(t.Context(), raw)
	}
	c, err := plugin.Connect(t.Context(), raw, plugin.ConfigFollows)
	if err != nil {
		return nil, err
	}
	return c, c.Configure(t.Context(), config)
}

// logWriter writes a plugin's log to that of the test.
type logWriter struct{ t T }

func (w logWriter) Write(p []byte) (int, error) {
	w.t.Logf("%s", strings.TrimRight(string(p), "\n"))
	return len(p), nil
}

func hostCases() []testCase {
	return []testCase{
		{
			name: "host-dies-in-kill", built: true,
			rule: "a plugin leaves in the middle of a Kill when its host is gone, and the Kill can be repeated by another host",
			run: func(k *kit) {
				w := k.ready(Deaf)
				left := k.plugin
				err := k.cutOff(func(ctx context.Context) error {
					_, err := k.Kill(ctx, w.handle, swarm.KillOptions{Signal: "SIGTERM", Grace: longGrace})
					return err
				}, func() { w.hear() }, left.leave)
				k.wantErr("Kill", err, plugin.ErrPluginGone)
				k.until("the plugin has left", left.exited)
				w.survives()
			},
		},
		{
			name: "host-dies-in-output", built: true, needs: swarm.CapOutput,
			rule: "a plugin leaves while output is followed when its host is gone, and the worker goes on running",
			run: func(k *kit) {
				w := k.ready(Sleep)
				left := k.plugin
				err := k.cutOff(func(ctx context.Context) error {
					return k.Backend.(swarm.Outputter).Output(ctx, w.handle, swarm.OutputOptions{Follow: true},
						func(swarm.Output) error { return nil })
				}, func() { k.await(shortGrace) }, left.leave)
				k.wantErr("Output", err, plugin.ErrPluginGone)
				k.until("the plugin has left", left.exited)
				w.survives()
			},
		},
	}
}
