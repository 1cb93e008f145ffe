package client_test

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/hashicorp/go-hclog"
	goplugin "github.com/hashicorp/go-plugin"

	"github.com/swarmhost/swarm/shared/buildtest"
	"github.com/swarmhost/swarm/shared/plugin/client"
	"github.com/swarmhost/swarm/shared/plugin/internal/pb"
	"github.com/swarmhost/swarm/shared/swarm"
)

// startFirst starts the plugin of testdata/contract1, which says that it speaks these versions, as a
// host does, and returns what go-plugin dispenses for it.
func startFirst(t *testing.T, bin string, versions ...string) any {
	t.Helper()
	sockets, err := os.MkdirTemp("", "swarm") //nolint:usetesting // the path of a socket must be short
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(sockets) })
	cmd := exec.Command(filepath.Join(bin, "contract1"), versions...)
	cmd.Env = append(client.CleanEnv(os.Environ()),
		client.EnvShimProgram+"="+filepath.Join(bin, "swarm-shim"), goplugin.EnvUnixSocketDir+"="+sockets)
	c := goplugin.NewClient(&goplugin.ClientConfig{
		HandshakeConfig: client.Handshake(), Plugins: client.Plugins(), Cmd: cmd, SkipHostEnv: true,
		AllowedProtocols: []goplugin.Protocol{goplugin.ProtocolGRPC},
		Logger:           hclog.NewNullLogger(),
	})
	t.Cleanup(c.Kill)
	protocol, err := c.Client()
	if err != nil {
		t.Fatal(err)
	}
	raw, err := protocol.Dispense(client.PluginName)
	if err != nil {
		t.Fatal(err)
	}
	return raw
}

// hostOf is a host that speaks these versions of the contract.
func hostOf(oldest, newest uint32) client.ConnectOption {
	return func(r *pb.DescribeRequest) { r.OldestContractVersion, r.ContractVersion = oldest, newest }
}

// TestPluginOfVersion1: a plugin that was built on a fixed copy of version 1 of the protocol works with
// a host whose contract is version 2, and a host without version 1 says that it has to be updated.
func TestPluginOfVersion1(t *testing.T) {
	t.Parallel()
	bin := t.TempDir()
	if err := buildtest.Programs(bin, "./testdata/contract1",
		"github.com/swarmhost/swarm/cmd/swarm-shim", "github.com/swarmhost/swarm/cmd/swarm-plugins"); err != nil {
		t.Fatal(err)
	}
	runDirs := t.TempDir()
	for id, host := range map[string]client.ConnectOption{"now": hostOf(swarm.OldestContractVersion, swarm.ContractVersion), "next": hostOf(1, 2)} {
		c, err := client.Connect(t.Context(), startFirst(t, bin), host, client.RunDirs(runDirs))
		if err != nil {
			t.Fatal(err)
		}
		if c.Info().Contract != 1 || c.Info().Name != "first" {
			t.Errorf("host %s: the plugin is %+v", id, c.Info())
		}
		useFirst(t, c.Backend(), id, &swarm.Local{
			RunDir: filepath.Join(runDirs, id), Shim: filepath.Join(bin, "swarm-shim"), HostEnv: client.CleanEnv(os.Environ()),
		})
	}

	for _, test := range []struct {
		host   client.ConnectOption
		plugin []string
		text   string
	}{
		{hostOf(2, 3), nil, "plugin 'first' speaks version 1 of the plugin contract, this swarm speaks version 2: update the plugin"},
		{hostOf(1, 2), []string{"3", "3"}, "plugin 'first' speaks version 3 of the plugin contract, this swarm speaks version 2: update swarm"},
	} {
		_, err := client.Connect(t.Context(), startFirst(t, bin, test.plugin...), test.host)
		if e, ok := errors.AsType[*client.ContractError](err); !ok || e.Error() != test.text {
			t.Errorf("plugin %v: %v, want %s", test.plugin, err, test.text)
		}
	}
}

// useFirst starts a worker, gives it input, reads its output and ends it.
func useFirst(t *testing.T, b *client.Backend, id string, local *swarm.Local) {
	t.Helper()
	if err := os.Mkdir(local.RunDir, 0o700); err != nil {
		t.Fatal(err)
	}
	spec := swarm.Spec{
		ID: id, Name: id, Dir: local.RunDir, Stdin: true, Local: local,
		Command: []string{"sh", "-c", "read line; echo got $line; exec sleep 600"},
	}
	h, err := b.Spawn(t.Context(), spec)
	if err != nil {
		t.Fatal(err)
	}
	killed := false
	kill := func() (swarm.KillResult, error) {
		return b.Kill(t.Context(), h, swarm.KillOptions{Grace: 5 * time.Second, Force: true})
	}
	defer func() {
		if !killed {
			_, _ = kill()
		}
	}()
	if st, err := b.Status(t.Context(), h); err != nil || st.State != swarm.StateRunning || st.PID == 0 {
		t.Errorf("Status: %+v, %v", st, err)
	}
	if _, err := b.Spawn(t.Context(), spec); !errors.Is(err, swarm.ErrExists) {
		t.Errorf("a second Spawn: %v", err)
	}
	if _, err := b.Input(t.Context(), h, swarm.Input{Kind: swarm.InputText, Data: []byte("it"), Enter: true}); err != nil {
		t.Errorf("Input: %v", err)
	}
	enough := errors.New("enough")
	var out strings.Builder
	err = b.Output(t.Context(), h, swarm.OutputOptions{Follow: true}, func(o swarm.Output) error {
		out.Write(o.Data)
		if strings.Contains(out.String(), "got it") {
			return enough
		}
		return nil
	})
	if !errors.Is(err, enough) {
		t.Errorf("Output: %q, %v", out.String(), err)
	}
	res, err := kill()
	killed = err == nil
	if err != nil || res.Status.State != swarm.StateExited {
		t.Errorf("Kill: %+v, %v", res, err)
	}
	if err := b.Signal(t.Context(), h, swarm.SignalOptions{Signal: "SIGUSR1"}); !errors.Is(err, swarm.ErrUnsupported) {
		t.Errorf("Signal: %v", err)
	}
}
