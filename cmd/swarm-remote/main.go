// Command swarm-remote keeps workers on the machine that it was copied to by
// swarm-plugin-ssh, see package remote. It runs for as long as a connection lasts.
package main

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/swarmhost/swarm/plugins/process"
	"github.com/swarmhost/swarm/plugins/ssh/remote"
	"github.com/swarmhost/swarm/plugins/tmux"
	"github.com/swarmhost/swarm/plugins/worktree"
	"github.com/swarmhost/swarm/shared/archive"
	"github.com/swarmhost/swarm/shared/environ"
	"github.com/swarmhost/swarm/shared/plugin"
	"github.com/swarmhost/swarm/shared/rawjson"
	"github.com/swarmhost/swarm/shared/relay"
	"github.com/swarmhost/swarm/shared/safetext"
	"github.com/swarmhost/swarm/shared/shim/rundir"
	"github.com/swarmhost/swarm/shared/swarm"
)

func main() {
	if len(os.Args) > 1 && (os.Args[1] == archive.In || os.Args[1] == archive.Out) {
		os.Exit(archive.Main(os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
	}
	if len(os.Args) > 1 && os.Args[1] == relay.Verb {
		os.Exit(relay.PortMain(os.Args[2:]))
	}
	err := run(os.Args[1:])
	if err == nil {
		return
	}
	fmt.Fprintf(os.Stderr, "swarm-remote: %v\n", err)
	if errors.Is(err, errUsage) {
		os.Exit(2)
	}
	os.Exit(1)
}

var errUsage = errors.New("this program keeps workers of swarm on this machine; swarm runs it through ssh")

func run(args []string) error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	programs := filepath.Dir(self)
	switch {
	case len(args) == 1 && args[0] == "serve":
		return serve(programs)
	case len(args) == 2 && args[0] == "install":
		return remote.Install(programs, args[1])
	case len(args) == 2 && args[0] == "attach":
		return attach(programs, args[1])
	case len(args) == 2 && args[0] == "exec":
		return execute(programs, args[1])
	case len(args) == 2 && args[0] == "copy":
		return copyFiles(programs, args[1])
	case len(args) == 2 && args[0] == "forward":
		return forward(programs, args[1])
	case len(args) == 2 && args[0] == "diff":
		return diff(programs, args[1])
	}
	return errUsage
}

// serve serves the workers of this machine until the connection ends.
func serve(programs string) error {
	hash, err := remote.Verify(programs)
	if err != nil || hash != filepath.Base(programs) {
		return errors.Join(fmt.Errorf("the programs in %s were changed", programs), err)
	}
	log := slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelWarn}))
	b := backend(programs, log)
	conn, err := remote.TakeStdio()
	if err != nil {
		return err
	}
	if _, err := fmt.Fprintf(conn, "\n%s\n", remote.Greeting(hash, b.Origin())); err != nil {
		return err
	}
	return plugin.ServeConn(plugin.Options{
		Name: "remote", Version: process.Version,
		Backend: func(context.Context, plugin.Env) (swarm.Backend, error) { return b, nil },
	}, conn, log)
}

// backend returns the backend for the directory that the programs are in.
func backend(programs string, log *slog.Logger) *remote.Backend {
	dir := filepath.Dir(filepath.Dir(programs))
	processes, terminals := process.New(log), tmux.New(log)
	processes.RunDirs, terminals.RunDirs = remote.RunDirs(dir), remote.RunDirs(dir)
	return remote.New(remote.Options{
		Dir:     dir,
		Shim:    filepath.Join(programs, remote.Shim),
		Machine: remote.MachineID(),
		Env:     environ.Without(os.Environ(), ofConnection),
		Process: processes, Terminal: terminals, Worktrees: worktree.New(worktree.Config{}, log), Logger: log,
	})
}

// ofConnection reports whether a variable reports the connection, which ends before the
// worker does.
func ofConnection(name string) bool {
	return strings.HasPrefix(name, "SSH_") || strings.HasPrefix(name, "SWARM_") || name == "XDG_SESSION_ID"
}

// attach shows a worker in this terminal. argument is a [remote.Attached].
func attach(programs, argument string) error {
	to, err := decode[remote.Attached](argument)
	if err != nil {
		return err
	}
	ctx := context.Background()
	b := backend(programs, slog.New(slog.DiscardHandler))
	a, err := b.Attachment(ctx, to, os.Environ())
	if errors.Is(err, remote.ErrNoTerminal) {
		return b.Show(ctx, to.Handle, safetext.Writer(os.Stdout))
	}
	if err != nil {
		return err
	}
	return become(a.Command, nil, a.Unset)
}

// execute runs a command in a worker. argument is a [remote.Execution].
func execute(programs, argument string) error {
	e, err := decode[remote.Execution](argument)
	if err != nil {
		return err
	}
	p, err := backend(programs, slog.New(slog.DiscardHandler)).Exec(context.Background(), e.Handle, e.Options)
	if err != nil {
		return err
	}
	if err := say(e.Mark); err != nil {
		return err
	}
	// Without a terminal the server of ssh does not signal what it has started when the connection ends.
	return become(p.Command, append(p.Env, rundir.EnvHangUp+"=1"), p.Unset)
}

// copyFiles copies files out of a worker or into it. argument is a [remote.CopyRequest].
func copyFiles(programs, argument string) error {
	c, err := decode[remote.CopyRequest](argument)
	if err != nil {
		return err
	}
	p, err := backend(programs, slog.New(slog.DiscardHandler)).Copy(context.Background(), c.Handle, c.Options)
	if err == nil {
		err = say(c.Mark)
	}
	if err != nil {
		return err
	}
	return become(p.Command, p.Env, p.Unset)
}

// say writes the mark after which the output is that of a program.
func say(mark string) error {
	if mark == "" {
		return nil
	}
	// A login shell may have begun a line.
	_, err := fmt.Fprintf(os.Stdout, "\n%s\n", mark)
	return err
}

// forward connects with a port of a worker. argument is a [remote.ForwardRequest].
func forward(programs, argument string) error {
	f, err := decode[remote.ForwardRequest](argument)
	if err != nil {
		return err
	}
	p, err := backend(programs, slog.New(slog.DiscardHandler)).Forward(context.Background(), f.Handle, swarm.ForwardOptions{Port: f.Port})
	if err != nil {
		return err
	}
	return become(append(p.Command, f.Mark), p.Env, p.Unset)
}

// diff prints the changes in a worktree. argument is a [remote.Shown].
func diff(programs, argument string) error {
	shown, err := decode[remote.Shown](argument)
	if err != nil {
		return err
	}
	d, err := backend(programs, slog.New(slog.DiscardHandler)).Diff(context.Background(), shown.Ref, swarm.DiffOptions{Colour: shown.Colour})
	if err != nil {
		return err
	}
	return become(d.Command, d.Env, d.Unset)
}

func decode[T any](argument string) (v T, err error) {
	data, err := base64.RawURLEncoding.DecodeString(argument)
	if err == nil {
		err = rawjson.Unmarshal(data, &v)
	}
	return v, err
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
