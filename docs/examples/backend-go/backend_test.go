package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/swarmhost/swarm/shared/plugin"
	"github.com/swarmhost/swarm/shared/plugin/plugintest/backendtest"
	"github.com/swarmhost/swarm/shared/swarm"
)

// The real programs, built for these tests.
var shimPath, pluginPath string

func TestMain(m *testing.M) {
	code := 1
	defer func() { os.Exit(code) }()
	dir, err := os.MkdirTemp("", "swarm-plugin-nice")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return
	}
	defer func() { _ = os.RemoveAll(dir) }()
	shimPath, pluginPath = filepath.Join(dir, "swarm-shim"), filepath.Join(dir, "swarm-plugin-nice")
	if err := errors.Join(build(".", dir, "."), buildShim(dir)); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return
	}
	code = m.Run()
}

// buildShim builds swarm-shim, and swarm-plugins, which copies files for it. They are built in swarm's own
// module, since they need modules that the plugin does not.
func buildShim(dir string) error {
	module, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", "github.com/swarmhost/swarm").Output()
	if err != nil {
		return err
	}
	return build(strings.TrimSpace(string(module)), dir, "./cmd/swarm-shim", "./cmd/swarm-plugins")
}

// build builds programs of the module in a directory.
func build(module, dir string, programs ...string) error {
	out, err := exec.Command("go", append([]string{"build", "-C", module, "-o", dir + "/"}, programs...)...).CombinedOutput()
	if err != nil {
		return fmt.Errorf("build: %w\n%s", err, out)
	}
	return nil
}

// TestContract runs the conformance kit on the backend, in this process.
func TestContract(t *testing.T) {
	t.Parallel()
	backendtest.Run(t, backendtest.Backend{
		New: func(t backendtest.T) swarm.Backend {
			return newBackend(settings{Nice: 10})
		},
		Local: true,
		Shim:  shimPath,
	})
}

// TestBinary runs the kit on the built plugin, started as swarm starts it. It is
// what 'swarm plugin check' does.
func TestBinary(t *testing.T) {
	t.Parallel()
	backendtest.RunBinary(t, backendtest.Binary{Path: pluginPath, Shim: shimPath})
}

func TestNice(t *testing.T) {
	t.Parallel()
	b := newBackend(settings{Nice: 10})
	for _, test := range []struct {
		options map[string]string
		want    int
		err     error
	}{
		{nil, 10, nil},
		{map[string]string{"nice": "19"}, 19, nil},
		{map[string]string{"nice": "20"}, 0, swarm.ErrInvalidSpec},
		{map[string]string{"nise": "1"}, 0, swarm.ErrInvalidSpec},
	} {
		if got, err := b.nice(test.options); got != test.want || !errors.Is(err, test.err) {
			t.Errorf("%v: %d, %v", test.options, got, err)
		}
	}
	if err := plugin.NewConfig([]byte(`{"nice": 20}`)).Decode(&settings{}); !errors.Is(err, swarm.ErrInvalidConfig) {
		t.Errorf("settings of 20: %v", err)
	}
}
