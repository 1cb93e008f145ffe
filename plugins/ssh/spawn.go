package ssh

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/swarmhost/swarm/plugins/ssh/remote"
	"github.com/swarmhost/swarm/shared/dirid"
	"github.com/swarmhost/swarm/shared/environ"
	"github.com/swarmhost/swarm/shared/safefile"
	"github.com/swarmhost/swarm/shared/swarm"
)

// Spawn starts a worker over there. If the connection breaks meanwhile, the worker is
// looked for by its id over a new one, and started only if there is none.
func (b *Backend) Spawn(ctx context.Context, spec swarm.Spec) (swarm.Handle, error) {
	c, spec, err := b.farSpec(spec)
	if err != nil {
		return swarm.Handle{}, err
	}
	l := b.link(c.Host)
	s, err := l.get(ctx)
	if err != nil {
		return swarm.Handle{}, err
	}
	start := remote.Start{Attempt: 1, Host: c.Host, Origin: s.origin}
	if start.Owner, err = b.control.noteStart(spec.ID, start); err != nil {
		return swarm.Handle{}, err
	}
	h, err := b.start(ctx, l, spec, start)
	if errors.Is(err, errBroken) {
		h, err = settle(ctx, start, func(start remote.Start) (swarm.Handle, error) {
			return b.find(ctx, l, swarm.Lookup{ID: spec.ID, Name: spec.Name}, start)
		}, func(start remote.Start) (swarm.Handle, error) { return b.start(ctx, l, spec, start) })
	}
	if err != nil {
		return swarm.Handle{}, on(l, err)
	}
	return near(c.Host, h)
}

// farSpec returns the settings of a worker, and what its host is sent of its spec.
func (b *Backend) farSpec(spec swarm.Spec) (Config, swarm.Spec, error) {
	c, err := b.config.with(spec.Options)
	if err != nil {
		return c, spec, err
	}
	spec.Options = map[string]string{optTTY: fmt.Sprint(c.TTY)}
	own := environ.Without(b.env, func(name string) bool { return !slices.Contains(c.Env, name) })
	spec.Env = append(own, spec.Env...)
	spec.Local, spec.Owner = nil, nil
	return c, spec, nil
}

func (b *Backend) start(ctx context.Context, l *link, spec swarm.Spec, start remote.Start) (_ swarm.Handle, err error) {
	if spec.Options, err = start.Options(spec.Options); err != nil {
		return swarm.Handle{}, err
	}
	return call(ctx, l, func(s *session) (swarm.Handle, error) { return s.backend.Spawn(ctx, spec) })
}

// find looks for a worker, and gives up the attempts to start it before the one in start.
func (b *Backend) find(ctx context.Context, l *link, lookup swarm.Lookup, start remote.Start) (_ swarm.Handle, err error) {
	lookup.Local = nil
	if lookup.Options, err = start.Options(nil); err != nil {
		return swarm.Handle{}, err
	}
	return again(ctx, l, func(s *session) (swarm.Handle, error) { return s.backend.Find(ctx, lookup) })
}

// settle finds out what became of a spawn or a Create whose connection broke: find looks for its
// result, and begin makes another attempt if it finds nothing. It continues until the host can be
// asked, or the context ends.
func settle[R any](ctx context.Context, start remote.Start, find, begin func(remote.Start) (R, error)) (R, error) {
	pause := retryMin
	for {
		start.Attempt++
		r, err := find(start)
		asked := !errors.Is(err, swarm.ErrNotFound)
		if !asked {
			r, err = begin(start)
		}
		// A search that fails says nothing of the worker.
		if err == nil || !asked && !errors.Is(err, errBroken) && !errors.Is(err, errNoConnection) && !errors.Is(err, swarm.ErrExists) {
			return r, err
		}
		if pause, err = wait(ctx, pause, err); err != nil {
			return r, err
		}
	}
}

// Find returns the worker of an id on the host where it was to be started, whatever host the
// settings name by now.
func (b *Backend) Find(ctx context.Context, lookup swarm.Lookup) (swarm.Handle, error) {
	l, start, err := b.started(lookup.ID, lookup.Options)
	if err != nil {
		return swarm.Handle{}, err
	}
	h, err := b.find(ctx, l, lookup, start)
	if err != nil {
		return swarm.Handle{}, on(l, err)
	}
	return near(start.Host, h)
}

// started returns the way to the host where a worker was to be started with these options, and
// what a search there says of all attempts.
func (b *Backend) started(id string, options map[string]string) (*link, remote.Start, error) {
	config := b.config
	note, err := b.control.start(id)
	if err != nil {
		return nil, remote.Start{}, err
	}
	if note.Host != "" {
		config.Host = note.Host
	}
	c, err := config.with(options)
	if err != nil {
		// Nothing was spawned with such options.
		return nil, remote.Start{}, fmt.Errorf("%w: worker %s: %w", swarm.ErrNotFound, id, err)
	}
	return b.link(c.Host), remote.Start{Host: c.Host, Origin: note.Origin}, nil
}

const (
	// noteFile is the file in a run directory that says where the worker was to be started: a
	// [remote.Start]. It is there for as long as the host has a record of the worker.
	noteFile = "ssh.json"
	// maxNote is its largest size, in bytes.
	maxNote = 4 << 10
	// ownerFile is the file among the notes that holds the id of the state directory.
	ownerFile = "id"
)

// runDir is the run directory of a worker on this machine; empty without a state directory.
func (c control) runDir(id string) string {
	if c.state == "" || id == "" || strings.Trim(id, "abcdefghijklmnopqrstuvwxyz0123456789-") != "" {
		return ""
	}
	return filepath.Join(c.state, "workers", id)
}

// noteStart notes where a worker is about to be started, and returns the id of the state
// directory. If the worker has no run directory in it, it belongs to none.
func (c control) noteStart(id string, n remote.Start) (owner string, err error) {
	dir := c.runDir(id)
	if _, err := os.Lstat(dir); dir == "" || err != nil {
		return "", nil //nolint:nilerr // that is the case
	}
	data, err := json.Marshal(n)
	if err == nil {
		err = safefile.Replace(filepath.Join(dir, noteFile), data, 0o600)
	}
	if err == nil {
		err = os.MkdirAll(c.notes, 0o700)
	}
	if err == nil {
		owner, err = dirid.Ensure(c.note(ownerFile))
	}
	if err != nil {
		return "", fmt.Errorf("%w: the start of worker %s can't be noted: %w", swarm.ErrUnavailable, id, err)
	}
	return owner, nil
}

// start returns what was noted of the start of a worker; zero if nothing was.
func (c control) start(id string) (n remote.Start, err error) {
	dir := c.runDir(id)
	if dir == "" {
		return n, nil
	}
	data, err := safefile.Read(filepath.Join(dir, noteFile), maxNote)
	if errors.Is(err, os.ErrNotExist) {
		return n, nil
	}
	if err == nil {
		err = json.Unmarshal(data, &n)
	}
	if err == nil && !validHost(n.Host) {
		err = errors.New("it names no host")
	}
	if err != nil {
		err = fmt.Errorf("%w: the note of the start of worker %s can't be read: %w", swarm.ErrUnavailable, id, err)
	}
	return n, err
}

// forgotten returns the id of the state directory if that has no run directory for a worker.
func (c control) forgotten(id string) (owner string) {
	dir := c.runDir(id)
	if dir == "" {
		return ""
	}
	if info, err := os.Lstat(filepath.Dir(dir)); err != nil || !info.IsDir() {
		return "" // nothing can be notified of its workers then
	}
	if _, err := os.Lstat(dir); !errors.Is(err, os.ErrNotExist) {
		return ""
	}
	owner, _ = dirid.Read(c.note(ownerFile)) // nothing is removed without it
	return owner
}

// CheckSpawn implements [swarm.SpawnChecker]: it asks the host of the new worker.
func (b *Backend) CheckSpawn(ctx context.Context, c swarm.SpawnCheck) error {
	config, spec, err := b.farSpec(c.Spec)
	if err != nil {
		return err
	}
	// Workers over there share no names.
	far := swarm.SpawnCheck{Spec: spec, NoWorkspace: c.NoWorkspace}
	l := b.link(config.Host)
	_, err = again(ctx, l, func(s *session) (none struct{}, err error) { return none, s.backend.CheckSpawn(ctx, far) })
	return on(l, err)
}

// CheckCreate implements [swarm.WorkspaceChecker]: it asks the host of the new worktree.
func (b *Backend) CheckCreate(ctx context.Context, c swarm.WorkspaceCheck) error {
	config, err := b.config.with(c.Spec.Options)
	if err != nil {
		return err
	}
	c.Spec.Options = nil
	if c.Removed != nil && c.Removed.Host != config.Host {
		c.Removed = nil
	}
	l := b.link(config.Host)
	_, err = again(ctx, l, func(s *session) (none struct{}, err error) { return none, s.workspace.CheckCreate(ctx, c) })
	return on(l, err)
}
