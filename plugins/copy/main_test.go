package copy

import (
	"log/slog"
	"os"
	"path/filepath"
	"testing"

	"github.com/swarmhost/swarm/shared/buildtest"
	"github.com/swarmhost/swarm/shared/plugin/plugintest/workspacetest"
	"github.com/swarmhost/swarm/shared/swarm"
)

// pluginPath is the built plugin.
var pluginPath string

func TestMain(m *testing.M) { os.Exit(run(m)) }

func run(m *testing.M) int {
	dir, err := os.MkdirTemp("", "swarm-test-")
	if err != nil {
		panic(err)
	}
	defer func() { _ = os.RemoveAll(dir) }()
	pluginPath = filepath.Join(dir, "swarm-plugin-copy")
	if err := buildtest.Program(pluginPath, "github.com/swarmhost/swarm/cmd/swarm-plugins"); err != nil {
		panic(err)
	}
	return m.Run()
}

func newWorkspace() *Workspace { return New(slog.New(slog.DiscardHandler)) }

func base(t workspacetest.T) string {
	dir := filepath.Join(t.TempDir(), "it's a base")
	for name, text := range map[string]string{"a": "one\n", "sub/b": "two\n"} {
		at := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(at), 0o700); err != nil {
			t.Fatalf("%v", err)
		}
		if err := os.WriteFile(at, []byte(text), 0o600); err != nil {
			t.Fatalf("%v", err)
		}
	}
	return dir
}

// TestConformance runs the kit on the value, with blocks that are not shared and with such that are.
func TestConformance(t *testing.T) {
	t.Parallel()
	for name, clone := range map[string]func(to, from *os.File) error{"plain": clone, "shared blocks": copyContent} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			workspacetest.Run(t, workspacetest.Workspace{
				New: func(workspacetest.T) swarm.Workspace {
					w := newWorkspace()
					w.clone = clone
					return w
				},
				Base: base,
			})
		})
	}
}

func TestConformanceOfBinary(t *testing.T) {
	t.Parallel()
	workspacetest.RunBinary(t, workspacetest.Binary{Path: pluginPath, Base: base})
}
