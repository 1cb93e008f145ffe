// Command swarm-remote keeps workers on the machine that it was copied to by
// swarm-plugin-ssh, see package remote. It runs for as long as a connection lasts.
package main

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/hashicorp/go-hclog"

	"github.com/swarmhost/swarm/plugins/process"
	"github.com/swarmhost/swarm/plugins/ssh/remote"
	"github.com/swarmhost/swarm/plugins/tmux"
	"github.com/swarmhost/swarm/plugins/worktree"
	"github.com/swarmhost/swarm/shared/environ"
	"github.com/swarmhost/swarm/shared/plugin"
	"github.com/swarmhost/swarm/shared/safetext"
	"github.com/swarmhost/swarm/shared/swarm"
)

func main() {
	code, err := run(os.Args[1:])
	if err != nil {
		fmt.Fprintf(os.Stderr, "swarm-remote: %v\n", err)
	}
	os.Exit(code)
}

func run(args []string) (int, error) {
	self, err := os.Executable()
	if err != nil {
		return 1, err
	}
	programs := filepath.Dir(self)
	switch {
	case len(args) == 1 && args[0] == "serve":
		return serve(programs)
	case len(args) == 2 && args[0] == "install":
		if err := remote.Install(programs, args[1]); err != nil {
			return 1, err
		}
		return 0, nil
	case len(args) == 2 && args[0] == "attach":
		if err := attach(programs, args[1]); err != nil {
			return 1, err
		}
		return 0, nil
	case len(args) == 2 && args[0] == "diff":
		if err := diff(programs, args[1]); err != nil {
			return 1, err
		}
		return 0, nil
	}
	return 2, errors.New("this program keeps workers of swarm on this machine; swarm runs it through ssh")
}

// serve serves the workers of this machine until the connection ends.
func serve(programs string) (int, error) {
	hash, err := remote.Verify(programs)
	if err != nil || hash != filepath.Base(programs) {
		return 1, errors.Join(fmt.Errorf("the programs in %s were changed", programs), err)
	}
	log := hclog.New(&hclog.LoggerOptions{Output: os.Stderr, Level: hclog.Warn})
	b := backend(programs, log)
	conn, err := remote.TakeStdio()
	if err != nil {
		return 1, err
	}
	if _, err := fmt.Fprintf(conn, "\n%s\n", remote.Greeting(hash, b.Origin())); err != nil {
		return 1, err
	}
	err = plugin.ServeConn(plugin.Options{
		Name: "remote", Version: process.Version,
		Backend: func(context.Context, plugin.Env) (swarm.Backend, error) { return b, nil },
	}, conn, log)
	if err != nil {
		return 1, err
	}
	return 0, nil
}

// backend returns the backend for the directory that the programs are in.
func backend(programs string, log hclog.Logger) *remote.Backend {
	return remote.New(remote.Options{
		Dir:     filepath.Dir(filepath.Dir(programs)),
		Shim:    filepath.Join(programs, remote.Shim),
		Machine: remote.MachineID(),
		Env:     environ.Without(os.Environ(), ofConnection),
		Process: process.New(log), Terminal: tmux.New(log), Worktrees: worktree.New(worktree.Config{}, log), Logger: log,
	})
}

// ofConnection reports whether a variable tells of the connection, which ends before the
// worker does.
func ofConnection(name string) bool {
	return strings.HasPrefix(name, "SSH_") || strings.HasPrefix(name, "SWARM_") || name == "XDG_SESSION_ID"
}

// attach shows a worker in this terminal. argument is its handle.
func attach(programs, argument string) error {
	data, err := base64.RawURLEncoding.DecodeString(argument)
	if err != nil {
		return err
	}
	var raw swarm.Handle
	if err := json.Unmarshal(data, &raw); err != nil {
		return err
	}
	ctx := context.Background()
	b := backend(programs, hclog.NewNullLogger())
	a, err := b.Attached(ctx, raw, os.Environ())
	if errors.Is(err, remote.ErrNoTerminal) {
		return b.Show(ctx, raw, safetext.Writer(os.Stdout))
	}
	if err != nil {
		return err
	}
	return become(a.Command, nil, a.Unset)
}

// diff prints the changes in a worktree. argument is a [remote.Shown].
func diff(programs, argument string) error {
	data, err := base64.RawURLEncoding.DecodeString(argument)
	if err != nil {
		return err
	}
	var shown remote.Shown
	if err := json.Unmarshal(data, &shown); err != nil {
		return err
	}
	d, err := backend(programs, hclog.NewNullLogger()).Diff(context.Background(), shown.Ref, swarm.DiffOptions{Colour: shown.Colour})
	if err != nil {
		return err
	}
	return become(d.Command, d.Env, d.Unset)
}

// become replaces this program by another one. Its environment has env, and no variables with the
// names in unset.
func become(command, env, unset []string) error {
	path, err := exec.LookPath(command[0])
	if err != nil {
		return err
	}
	return syscall.Exec(path, command, append(environ.Unset(os.Environ(), unset...), env...))
}
