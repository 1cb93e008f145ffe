//go:build container

package container_test

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/swarmhost/swarm/plugins/container"
	"github.com/swarmhost/swarm/plugins/container/enginetest"
	"github.com/swarmhost/swarm/plugins/container/watchdog"
	"github.com/swarmhost/swarm/shared/buildtest"
	"github.com/swarmhost/swarm/shared/leftover"
	"github.com/swarmhost/swarm/shared/relay"
)

var (
	// pluginPath is the built plugin.
	pluginPath string
	// engines are those that the tests share, by their kinds.
	engines = make(map[string]*enginetest.Engine)
)

func TestMain(m *testing.M) {
	if len(os.Args) > 1 {
		switch os.Args[1] { // as the programs of the plugin in this process
		case container.CopyVerb:
			os.Exit(container.CopyMain(os.Args[2:], os.Stdin, os.Stdout, os.Stderr))
		case container.ExecVerb:
			os.Exit(container.ExecMain(os.Args[2:]))
		case watchdog.Verb:
			os.Exit(watchdog.Main(os.Args[2:], os.Stdin))
		}
	}
	if len(os.Args) > 1 && os.Args[1] == container.ForwardVerb {
		os.Exit(container.ForwardMain(os.Args[2:]))
	}
	if len(os.Args) > 1 && os.Args[1] == relay.Verb {
		os.Exit(relay.PortMain(os.Args[2:]))
	}
	code := 1
	defer func() { os.Exit(code) }()
	if err := leftover.Watch(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return
	}
	dir, err := leftover.MkdirTemp("", "swarm-container-test")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return
	}
	defer func() { _ = leftover.RemoveAll(dir) }()
	pluginPath = filepath.Join(dir, "swarm-plugin-container")
	if err := buildtest.Programs(dir, "github.com/swarmhost/swarm/cmd/swarm-engines"); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return
	}
	kinds := []string{enginetest.Docker, enginetest.Podman}
	if only := os.Getenv(enginetest.EnvOnly); only != "" {
		kinds = []string{only}
	}
	run := func() error { code = m.Run(); return nil }
	for _, kind := range kinds {
		inner := run
		run = func() error {
			return enginetest.Run(kind, func(e *enginetest.Engine) error {
				engines[kind] = e
				return inner()
			})
		}
	}
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
}

// eachEngine runs a test on every engine.
func eachEngine(t *testing.T, test func(t *testing.T, e *enginetest.Engine)) {
	t.Helper()
	for kind, e := range engines {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			test(t, e)
		})
	}
}
