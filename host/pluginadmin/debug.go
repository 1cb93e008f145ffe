package pluginadmin

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"

	"github.com/swarmhost/swarm/host/catalog"
	"github.com/swarmhost/swarm/host/launch"
	"github.com/swarmhost/swarm/host/pluginlogs"
	"github.com/swarmhost/swarm/host/statedir"
)

// DebugRequest says how to run a plugin under a debugger.
type DebugRequest struct {
	// Name is a plugin that the catalog finds: the commands that use it find it, too.
	Name string
	// Command, Stdin, Stdout, Stderr and Ready are as in [launch.DebugSession].
	Command        []string
	Stdin          *os.File
	Stdout, Stderr io.Writer
	Ready          func(pid int)
}

// Debug runs a plugin under a debugger, with its settings, until it or ctx ends, and has all hosts of
// the state directory use it, see [launch.Debug].
func (a *Admin) Debug(ctx context.Context, r DebugRequest) error {
	e, err := a.Catalog.Find(r.Name)
	if err != nil {
		return err
	}
	return launch.Debug(ctx, launch.DebugSession{
		Options: launch.Options{
			Dir: a.Dir, RunDirs: filepath.Join(a.Dir, statedir.WorkersDir), Env: a.Env, Command: a.Command,
		},
		Entry: e, Command: r.Command, Stdin: r.Stdin, Stdout: r.Stdout, Stderr: r.Stderr, Ready: r.Ready,
	})
}

// Logs calls each for what a plugin wrote to its standard error, see [pluginlogs.Read]. For a name
// that nothing is known of, the error is a [catalog.NotFoundError].
func (a *Admin) Logs(ctx context.Context, name string, o pluginlogs.Options, each func(pluginlogs.Entry) error) error {
	known := pluginlogs.Has(a.Dir, name)
	if _, err := a.Catalog.Find(name); !known && err != nil {
		if missing, ok := errors.AsType[*catalog.NotFoundError](err); ok {
			return missing
		}
	}
	return pluginlogs.Read(ctx, a.Dir, name, o, each)
}
