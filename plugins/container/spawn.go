package container

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/containerd/errdefs"
	"github.com/moby/moby/client"

	"github.com/swarmhost/swarm/plugins/container/members"
	"github.com/swarmhost/swarm/shared/dirid"
	"github.com/swarmhost/swarm/shared/sleep"
	"github.com/swarmhost/swarm/shared/swarm"
)

// engineLimit is how long an engine may take to make, start or remove a container. Many
// may be started at once.
const engineLimit = time.Minute

// Spawn makes and starts the worker's container and returns when its command runs, or did.
// A missing image is fetched first, for as long as the caller waits.
func (b *Backend) Spawn(ctx context.Context, spec swarm.Spec) (_ swarm.Handle, err error) {
	p, err := b.newPlan(spec, dirid.Ensure)
	if err != nil {
		return swarm.Handle{}, err
	}
	defer b.BeginSpawn(spec.ID)()
	e, err := b.at(b.socket)
	if err != nil {
		return swarm.Handle{}, err
	}
	if err := e.mapUser(ctx, p); err != nil {
		return swarm.Handle{}, err
	}
	if p.Pull == pullAlways {
		if err := b.pull(ctx, e, p); err != nil {
			return swarm.Handle{}, err
		}
	}
	var clients *os.File
	if p.MCP {
		if clients, err = listen(p.ref.Dir); err != nil {
			return swarm.Handle{}, fmt.Errorf("option 'mcp': %w", err)
		}
		defer func() { _ = clients.Close() }()
	}
	r, err := b.create(ctx, e, p)
	defer func() {
		if err == nil || r.Container == "" {
			return
		}
		if left := e.remove(ctx, r.Container); left != nil {
			b.log.Warn("the container of a worker that was not started may be there still", "worker", r.Worker, "error", left)
		}
	}()
	if err != nil {
		return swarm.Handle{}, err
	}
	if err = ctx.Err(); err != nil {
		return swarm.Handle{}, err
	}
	h, err := r.encode()
	if err != nil {
		return swarm.Handle{}, err
	}
	term := e.follow(ctx, r)
	defer term.close()
	if err = e.start(ctx, r); err != nil {
		if gone := e.explain(ctx, "start the worker", err); isConnection(gone) {
			return swarm.Handle{}, gone
		}
		return swarm.Handle{}, fmt.Errorf("%w: the engine can't start '%s': %s", swarm.ErrInvalidSpec, spec.Name, plain(err))
	}
	if err = ctx.Err(); err != nil {
		return swarm.Handle{}, err
	}
	if r.TTY {
		e.size(ctx, r)
	}
	if err := term.keep(p.spec.Local); err != nil {
		b.log.Warn("the incomplete last line of a terminal will not be seen", "worker", spec.ID, "error", err)
	}
	if err = e.awaitCommand(ctx, p, r); err != nil {
		return swarm.Handle{}, err
	}
	if p.MCP {
		if err = p.serve(ctx, e, clients, r); err != nil {
			return swarm.Handle{}, err
		}
	}
	b.log.Debug("worker started", "worker", spec.ID)
	return h, nil
}

// create makes the container, and returns its handle's content. An engine carries
// a call through when its caller is gone.
func (b *Backend) create(ctx context.Context, e *engine, p *plan) (ref, error) {
	r := p.ref
	if err := ctx.Err(); err != nil {
		return r, err
	}
	got, err := e.create(ctx, p)
	if errdefs.IsNotFound(err) && p.Pull == pullMissing {
		if err := b.pull(ctx, e, p); err != nil {
			return r, err
		}
		got, err = e.create(ctx, p)
	}
	switch {
	case err == nil:
		r.Container = got.ID
		return r, p.checkLimits(got.Warnings)
	case errdefs.IsConflict(err) || strings.Contains(err.Error(), "is already in use"):
		return r, fmt.Errorf("%w: worker %s", swarm.ErrExists, r.Worker)
	case errdefs.IsNotFound(err):
		return r, p.notHere(err)
	case isBadName(err):
		return r, p.badName()
	}
	if strings.Contains(err.Error(), "container-init binary not found") {
		return r, fmt.Errorf("%w: Podman has no init program on this machine: install 'catatonit', or set init_path in containers.conf", swarm.ErrInvalidSpec)
	}
	explained := e.explain(ctx, "make the container", err)
	if !errors.Is(explained, swarm.ErrUnavailable) || ctx.Err() != nil || isConnection(explained) {
		return r, explained
	}
	return r, fmt.Errorf("%w: make the container: %s", swarm.ErrInvalidSpec, plain(err))
}

func (p *plan) notHere(err error) error {
	return fmt.Errorf("%w: there is no image '%s' here: %s", swarm.ErrInvalidSpec, p.Image, plain(err))
}

// isBadName reports whether the engine refused the name of an image.
func isBadName(err error) bool {
	text := err.Error()
	return strings.Contains(text, "invalid reference format") || strings.Contains(text, "must be lowercase")
}

func (p *plan) badName() error {
	return fmt.Errorf("%w: '%s' is not the name of an image", swarm.ErrInvalidSpec, p.Image)
}

// checkLimits refuses a worker whose limits the engine does not enforce, or notes that down.
func (p *plan) checkLimits(warnings []string) error {
	why := unenforced(warnings)
	switch {
	case why == "" || p.spec.Limits.IsZero():
		return nil
	case !p.spec.Limits.BestEffort:
		return fmt.Errorf("%w: %s", swarm.ErrInvalidSpec, why)
	default:
		return changeNote(p.ref.Dir, func(n *note) { n.Unenforced = why })
	}
}

func (e *engine) create(ctx context.Context, p *plan) (client.ContainerCreateResult, error) {
	limited, cancel := context.WithTimeout(context.WithoutCancel(ctx), engineLimit)
	defer cancel()
	return e.ContainerCreate(limited, p.create)
}

func (e *engine) start(ctx context.Context, r ref) error {
	limited, cancel := context.WithTimeout(context.WithoutCancel(ctx), engineLimit)
	defer cancel()
	_, err := e.ContainerStart(limited, r.Container, client.ContainerStartOptions{})
	return err
}

// remove removes a container, running or not. It succeeds if the container does
// not exist.
func (e *engine) remove(ctx context.Context, id string) error {
	limited, cancel := context.WithTimeout(context.WithoutCancel(ctx), engineLimit)
	defer cancel()
	_, err := e.ContainerRemove(limited, id, client.ContainerRemoveOptions{Force: true, RemoveVolumes: true})
	if isGone(err) || err != nil && strings.Contains(err.Error(), "is already in progress") {
		return nil
	}
	return e.explain(context.WithoutCancel(ctx), "remove the container", err)
}

// The command of a worker is started by the engine's init program, in the container. An
// engine does not say whether that worked: the init ends with a code that commands
// use too, and writes why.
const (
	// commandLimit is how long it may take until the command runs.
	commandLimit = 5 * time.Second
	// unseenLimit is how long a command is waited for that can't be seen from here.
	unseenLimit = time.Second
	// logLimit is how long what an init wrote is waited for: Podman may report an end before
	// its log is written.
	logLimit    = 300 * time.Millisecond
	commandPoll = 5 * time.Millisecond
)

// initTexts begin the lines in which init programs say that they can't run a command.
var initTexts = []string{"[FATAL tini", "ERROR (catatonit", "exec failed", "error executing"}

// awaitCommand waits until the command of a container that was just started runs, or has
// run, notes down what runs, and returns why the init could not run it.
func (e *engine) awaitCommand(ctx context.Context, p *plan, r ref) error {
	begun := time.Now()
	noted := false
	for {
		s, err := e.inspect(ctx, r)
		if err != nil {
			return err
		}
		if !s.running && !s.created {
			return e.notStarted(ctx, p, r, s)
		}
		if s.running && !noted {
			noted = true
			if err := r.noteStart(s); err != nil {
				return err
			}
		}
		switch pids, err := members.Of(s.pid, r.Container); {
		case err != nil && !s.ending && time.Since(begun) > unseenLimit, time.Since(begun) > commandLimit:
			return nil
		case err == nil && s.running && slices.ContainsFunc(pids, func(pid int) bool { return isCommand(pid, s.pid) }):
			return nil
		}
		if err := sleep.For(ctx, commandPoll); err != nil {
			return err
		}
	}
}

// isCommand reports whether a process of a container was started by its init and is not a
// copy of it any more. A process that has gone may have failed to become the command.
func isCommand(pid, init int) bool {
	name := members.NameOf(pid)
	own := members.NameOf(init)
	return pid != init && name != "" && own != "" && name != own && !strings.HasPrefix(name, "runc:[")
}

// notStarted returns why the command of a container that has ended was never run, or nil.
func (e *engine) notStarted(ctx context.Context, p *plan, r ref, s state) error {
	if s.code != 127 && s.code != 126 && s.code != 1 {
		return nil
	}
	said, err := e.firstOutput(ctx, r)
	for begun := time.Now(); err == nil && said == "" && time.Since(begun) < logLimit; said, err = e.firstOutput(ctx, r) {
		time.Sleep(findPoll)
	}
	if err != nil {
		return nil //nolint:nilerr // then its exit is reported
	}
	if slices.ContainsFunc(initTexts, func(text string) bool { return strings.HasPrefix(said, text) }) {
		return fmt.Errorf("%w: the image '%s' can't run '%s' (exit %d): is it in the image, and in its PATH?",
			swarm.ErrInvalidSpec, p.Image, p.spec.Command[0], s.code)
	}
	return nil
}

// firstOutput returns the beginning of a worker's output: all that an init writes of its own.
func (e *engine) firstOutput(ctx context.Context, r ref) (string, error) {
	const enough = 64
	var text []byte
	err := e.read(ctx, r, readOptions{}, func(piece swarm.Output) error {
		if text = append(text, piece.Data...); len(text) > enough {
			return io.EOF
		}
		return nil
	})
	if errors.Is(err, io.EOF) {
		err = nil
	}
	return string(text), err
}
