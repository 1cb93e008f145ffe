package plugintest

import (
	"os"
	"os/exec"
	"strings"

	"github.com/hashicorp/go-hclog"
	goplugin "github.com/hashicorp/go-plugin"

	"github.com/swarmhost/swarm/shared/plugin"
)

func (b Binary) settings() settings {
	return settings{shim: b.Shim, spec: b.Spec, command: b.Command}
}

// open starts the plugin as a host does.
func (b Binary) open(t T) subject {
	t.Helper()
	c, crash := start(t, b.Path, b.Args, b.Env, b.Config)
	s := remote(t, c)
	s.crash = crash
	return s
}

// start starts a plugin that ends with the test, or when it is crashed.
func start(t T, path string, args, env []string, config []byte) (c *plugin.Client, crash func()) {
	t.Helper()
	if env == nil {
		env = os.Environ()
	}
	// Not t.TempDir: the path of a socket has to be short.
	sockets, err := os.MkdirTemp("", "plugintest")
	if err != nil {
		t.Fatalf("make a directory for sockets: %v", err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(sockets) })

	deathRead, deathWrite, err := os.Pipe()
	if err != nil {
		t.Fatalf("make the death pipe: %v", err)
	}
	cmd := exec.Command(path, args...) //nolint:noctx // go-plugin ends it
	cmd.Env = append(plugin.CleanEnv(env),
		plugin.EnvDeath+"=3", goplugin.EnvUnixSocketDir+"="+sockets)
	cmd.ExtraFiles = []*os.File{deathRead}
	client := goplugin.NewClient(&goplugin.ClientConfig{
		HandshakeConfig:  plugin.Handshake(),
		Plugins:          plugin.Plugins(),
		Cmd:              cmd,
		SkipHostEnv:      true,
		AllowedProtocols: []goplugin.Protocol{goplugin.ProtocolGRPC},
		Logger:           hclog.New(&hclog.LoggerOptions{Output: logWriter{t}, Level: hclog.Warn}),
	})
	t.Cleanup(func() {
		_ = deathWrite.Close() // ends a plugin that hangs, too
		client.Kill()
	})
	protocol, err := client.Client()
	_ = deathRead.Close()
	if err != nil {
		t.Fatalf("start the plugin: %v", err)
	}
	raw, err := protocol.Dispense(plugin.PluginName)
	if err != nil {
		t.Fatalf("start the plugin: %v", err)
	}
	if c, err = dial(t, raw, config); err != nil {
		t.Fatalf("connect to the plugin: %v", err)
	}
	return c, func() { _ = cmd.Process.Kill() }
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
