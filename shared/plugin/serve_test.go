package plugin

import (
	"bytes"
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/swarmhost/swarm/shared/plugin/client"

	"github.com/hashicorp/go-hclog"
	goplugin "github.com/hashicorp/go-plugin"

	"github.com/swarmhost/swarm/shared/swarm"
)

// slack is what a busy machine may add to a limit.
const slack = 3 * time.Second

// process is the test binary, running as a plugin.
type process struct {
	t       *testing.T
	client  *goplugin.Client
	raw     any
	pid     int
	host    *os.File // the write end of the death pipe
	sockets string
	log     *buffer
}

// buffer is a log that may be written and read at the same time.
type buffer struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (b *buffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.Write(p)
}

func (b *buffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.String()
}

func startPlugin(t *testing.T) *process {
	t.Helper()
	sockets, err := os.MkdirTemp("", "swarm") //nolint:usetesting // the path of a socket must be short
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(sockets) })
	death, host, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = death.Close() }()
	p := &process{t: t, host: host, sockets: sockets, log: &buffer{}}
	cmd := exec.CommandContext(context.WithoutCancel(t.Context()), os.Args[0])
	// The test run may have variables of its own, such as SWARM_TEST_SKIPS.
	env := slices.DeleteFunc(client.CleanEnv(os.Environ()), func(kv string) bool { return strings.HasPrefix(kv, "SWARM_") })
	cmd.Env = append(env, servedEnv+"=yes", client.EnvDeath+"=3",
		goplugin.EnvUnixSocketDir+"="+sockets, swarm.EnvToken+"=secret", swarm.EnvShim+"=x", "PLUGIN_MINE=1")
	cmd.ExtraFiles = []*os.File{death}
	p.client = goplugin.NewClient(&goplugin.ClientConfig{
		HandshakeConfig: client.Handshake(), Plugins: client.Plugins(), Cmd: cmd, SkipHostEnv: true,
		AllowedProtocols: []goplugin.Protocol{goplugin.ProtocolGRPC},
		Logger:           hclog.New(&hclog.LoggerOptions{Output: p.log, Level: hclog.Trace}),
	})
	t.Cleanup(func() { _ = host.Close(); p.client.Kill() })
	protocol, err := p.client.Client()
	if err != nil {
		t.Fatal(err)
	}
	p.pid = cmd.Process.Pid
	if p.raw, err = protocol.Dispense(client.PluginName); err != nil {
		t.Fatal(err)
	}
	return p
}

func (p *process) connect(opts ...client.ConnectOption) *client.Client {
	p.t.Helper()
	c, err := client.Connect(p.t.Context(), p.raw, opts...)
	if err != nil {
		p.t.Fatal(err)
	}
	return c
}

// do has the plugin spawn a command and returns what it answers.
func do(ctx context.Context, c *client.Client, command ...string) (string, error) {
	h, err := c.Backend().Spawn(ctx, swarm.Spec{Command: command})
	return strings.TrimSpace(string(h.Data)), err
}

// left waits until the plugin has ended, with its socket.
func (p *process) left(within time.Duration) {
	p.t.Helper()
	deadline := time.After(within)
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	for !p.client.Exited() {
		select {
		case <-tick.C:
		case <-deadline:
			p.t.Fatalf("the plugin is there after %v", within)
		}
	}
	if files, err := os.ReadDir(p.sockets); err != nil || len(files) > 0 {
		p.t.Errorf("the plugin left %v, error %v", files, err)
	}
}

func TestServe(t *testing.T) {
	t.Parallel()
	p := startPlugin(t)
	c := p.connect()
	if i := c.Info(); i.Name != "served" || i.Version != "1.2.3" || i.Kind != client.KindBackend || i.Contract != swarm.ContractVersion || i.Local || len(i.Capabilities) > 0 {
		t.Errorf("it says that it is %+v", i)
	}
	if got, err := do(t.Context(), c, "print"); err != nil || got != "printed" {
		t.Errorf("after it wrote to stdout and stderr: %q, %v", got, err)
	}
	if got, err := do(t.Context(), c, "env"); err != nil || got != "SWARM_TEST_SERVE=yes PLUGIN_MINE=1" && got != "PLUGIN_MINE=1 SWARM_TEST_SERVE=yes" {
		t.Errorf("the author's code sees %q, %v", got, err)
	}
	if got, err := do(t.Context(), c, "descriptor"); err != nil || got != "closed" {
		t.Errorf("in the plugin's child the death pipe is %q, %v", got, err)
	}
	if _, err := do(t.Context(), c, "panic"); err == nil || err.Error() != "plugin 'served' panicked in Spawn: oh" {
		t.Errorf("a panic: %v", err)
	}
	if _, err := do(t.Context(), c, "answer"); err != nil {
		t.Errorf("after a panic: %v", err)
	}
	p.client.Kill()
	for _, want := range []string{"made: plugin=served", "plugin panicked", "goroutine "} {
		if !strings.Contains(p.log.String(), want) {
			t.Errorf("the host's log lacks %q:\n%s", want, p.log)
		}
	}
}

func TestServeSettings(t *testing.T) {
	t.Parallel()
	c := startPlugin(t).connect(client.ConfigFollows)
	if err := c.Configure(t.Context(), []byte(`{"answer":"42"}`)); err != nil {
		t.Fatal(err)
	}
	if got, err := do(t.Context(), c, "answer"); err != nil || got != "42" {
		t.Errorf("got %q, %v", got, err)
	}
	if err := c.Configure(t.Context(), []byte(`{}`)); !errors.Is(err, swarm.ErrInvalidConfig) {
		t.Errorf("settings that come twice: %v", err)
	}
}

func TestServeWrongSettings(t *testing.T) {
	t.Parallel()
	c := startPlugin(t).connect(client.ConfigFollows)
	const want = `invalid plugin config: unknown key "anser", did you mean "answer"?`
	err := c.Configure(t.Context(), []byte(`{"anser":"42"}`))
	_, callErr := do(t.Context(), c, "answer")
	for what, err := range map[string]error{"Configure": err, "Check": c.Check(t.Context()), "a call": callErr} {
		if !errors.Is(err, swarm.ErrInvalidConfig) || err.Error() != want {
			t.Errorf("%s: %v", what, err)
		}
	}
}

// TestHostIsGone: the plugin leaves within milliseconds, its calls are cancelled first, and
// its socket is removed.
func TestHostIsGone(t *testing.T) {
	t.Parallel()
	p := startPlugin(t)
	c := p.connect()
	mark := filepath.Join(t.TempDir(), "mark")
	called := make(chan error, 1)
	go func() {
		_, err := do(t.Context(), c, "obeys", mark)
		called <- err
	}()
	waitForFile(t, mark)
	_ = p.host.Close()
	p.left(slack)
	if got, err := os.ReadFile(mark); err != nil || string(got) != "cancelled" {
		t.Errorf("the call was cut off: %q, %v", got, err)
	}
	if err := <-called; !errors.Is(err, client.ErrPluginGone) || errors.Is(err, context.Canceled) {
		t.Errorf("the call: %v", err)
	}
	if _, err := do(t.Context(), c, "answer"); !errors.Is(err, client.ErrPluginGone) {
		t.Errorf("a call to a plugin that left: %v", err)
	}
}

func TestHostIsGoneWhileACallHangs(t *testing.T) {
	t.Parallel()
	p := startPlugin(t)
	c := p.connect()
	mark := filepath.Join(t.TempDir(), "mark")
	go func() { _, _ = do(context.WithoutCancel(t.Context()), c, "hangs", mark) }()
	waitForFile(t, mark)
	_ = p.host.Close()
	p.left(leaveLimit + slack)
}

// TestHostLeavesWhileACallHangs: go-plugin's own way to end a plugin.
func TestHostLeavesWhileACallHangs(t *testing.T) {
	t.Parallel()
	p := startPlugin(t)
	c := p.connect()
	mark := filepath.Join(t.TempDir(), "mark")
	called := make(chan error, 1)
	go func() {
		_, err := do(context.WithoutCancel(t.Context()), c, "hangs", mark)
		called <- err
	}()
	waitForFile(t, mark)
	start := time.Now()
	p.client.Kill()
	// go-plugin itself waits for 2 s before it kills.
	if took := time.Since(start); took > 1500*time.Millisecond {
		t.Errorf("it took %v", took)
	}
	p.left(slack)
	if err := <-called; !errors.Is(err, client.ErrPluginGone) {
		t.Errorf("the call: %v", err)
	}
}

func TestSignals(t *testing.T) {
	t.Parallel()
	p := startPlugin(t)
	c := p.connect()
	for range 3 {
		if err := syscall.Kill(p.pid, syscall.SIGINT); err != nil {
			t.Fatal(err)
		}
		if _, err := do(t.Context(), c, "answer"); err != nil {
			t.Fatalf("after SIGINT: %v", err)
		}
	}
	if err := syscall.Kill(p.pid, syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	p.left(slack)
}

func TestPluginEndsInACall(t *testing.T) {
	t.Parallel()
	p := startPlugin(t)
	c := p.connect()
	for _, command := range []string{"exit", "answer"} {
		if _, err := do(t.Context(), c, command); !errors.Is(err, client.ErrPluginGone) || strings.Contains(err.Error(), "rpc") {
			t.Errorf("%s: %v", command, err)
		}
	}
}

func TestRunByHand(t *testing.T) {
	t.Parallel()
	for mode, want := range map[string]string{
		"yes": "'served' is a plugin of swarm (contract version 1) and does nothing by itself.\n" +
			"Put it next to swarm or on your PATH: swarm starts it when it is needed.\n",
		"nothing": "plugin.Options of 'served': exactly one of Backend, Workspace, Tools and Notifier must be set\n",
	} {
		cmd := exec.CommandContext(t.Context(), os.Args[0])
		cmd.Env = append(client.CleanEnv(os.Environ()), servedEnv+"="+mode)
		var stdout, stderr bytes.Buffer
		cmd.Stdout, cmd.Stderr = &stdout, &stderr
		err := cmd.Run()
		if exit, ok := errors.AsType[*exec.ExitError](err); !ok || exit.ExitCode() != 1 {
			t.Errorf("%s: %v", mode, err)
		}
		if stdout.Len() > 0 || stderr.String() != want {
			t.Errorf("%s: it says %q and %q", mode, stdout.String(), stderr.String())
		}
	}
}

func waitForFile(t *testing.T, path string) {
	t.Helper()
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	for {
		if _, err := os.Stat(path); err == nil {
			return
		}
		select {
		case <-tick.C:
		case <-t.Context().Done():
			t.Fatalf("no file %s", path)
		}
	}
}
