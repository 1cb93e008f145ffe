//go:build ssh

package main_test

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/swarmhost/swarm/plugins/ssh/sshtest"
)

type hostKey struct{}

// sshLimit is how long one script may take.
const sshLimit = 3 * time.Minute

// TestSSH runs the scripts of testdata/ssh, each with an ssh server of its own.
func TestSSH(t *testing.T) {
	t.Parallel()
	cmds := maps.Clone(commands)
	cmds["host"] = cmdHost
	testscript.Run(t, testscript.Params{
		Dir: "testdata/ssh", Cmds: cmds, RequireUniqueNames: true,
		Setup: func(env *testscript.Env) error {
			if err := setup(env); err != nil {
				return err
			}
			env.Values[worldKey{}].(*world).watchdog.Reset(sshLimit)
			set := sshtest.Start(t, "devbox")
			env.Values[hostKey{}] = set.Servers[0]
			env.Vars = append(env.Vars, "FAR="+set.Servers[0].Home)
			dir := filepath.Join(env.Getenv("XDG_CONFIG_HOME"), "swarm")
			if err := os.MkdirAll(dir, 0o700); err != nil {
				return err
			}
			config := fmt.Sprintf("[plugins.ssh]\nconfig = { config_file = %q, persist = 0, connect_timeout = 5 }\n", set.Config)
			return os.WriteFile(filepath.Join(dir, "config.toml"), []byte(config), 0o600)
		},
	})
}

// cmdHost disturbs the host of the script: host cut|down|up.
func cmdHost(ts *testscript.TestScript, neg bool, args []string) {
	need(ts, !neg && len(args) == 1, "host cut|down|up")
	server := ts.Value(hostKey{}).(*sshtest.Server)
	switch args[0] {
	case "cut":
		server.Cut()
	case "down":
		ts.Check(server.Stop())
	case "up":
		ts.Check(server.Start())
	default:
		ts.Fatalf("host %s?", args[0])
	}
}
