package copy

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strings"

	"github.com/swarmhost/swarm/shared/swarm"
	"github.com/swarmhost/swarm/shared/trust"
)

const Version = "0.1.0"

// Workspace makes and removes copies of directories. It holds no state.
type Workspace struct {
	log *slog.Logger
	// clone has a file share the blocks of another one. Tests put others in its place.
	clone func(to, from *os.File) error
	// beforeLook is called between the saving of work and the last look, by tests.
	beforeLook func()
}

var (
	_ swarm.Workspace        = (*Workspace)(nil)
	_ swarm.WorkspaceFinder  = (*Workspace)(nil)
	_ swarm.WorkspaceChecker = (*Workspace)(nil)
	_ swarm.Rescuer          = (*Workspace)(nil)
	_ swarm.Differ           = (*Workspace)(nil)
)

func New(log *slog.Logger) *Workspace { return &Workspace{log: log, clone: clone} }

func invalid(format string, args ...any) error {
	return fmt.Errorf("%w: "+format, append([]any{swarm.ErrInvalidSpec}, args...)...)
}

// source is what a copy is made of, and where.
type source struct {
	// base and parent are absolute, base without symbolic links. path is the copy.
	base, parent, path string
	options            options
}

// sourceOf checks a spec as far as that has no effect.
func sourceOf(spec swarm.WorkspaceSpec) (s source, err error) {
	if !swarm.ValidName(spec.ID) || !swarm.ValidName(spec.Name) || !filepath.IsAbs(spec.Base) {
		return s, invalid("a copy needs an id, a name and an absolute base")
	}
	if spec.Branch != "" {
		return s, invalid("a copy has no branch: leave out '%s', or use the plugin worktree", spec.Branch)
	}
	if s.options, err = parseOptions(spec.Options); err != nil {
		return s, err
	}
	if s.base, err = realBase(spec.Base); err != nil {
		return s, err
	}
	if info, err := os.Lstat(filepath.Join(s.base, ".git")); err == nil && info.Mode().IsRegular() {
		return s, invalid("%s is a linked git worktree or a submodule: a copy would share its index; use the plugin worktree", s.base)
	}
	s.parent = copiesOf(s.base)
	if spec.Parent != "" {
		s.parent = spec.Parent
		if !filepath.IsAbs(s.parent) {
			s.parent = filepath.Join(filepath.Dir(s.base), s.parent)
		}
	}
	top, err := present(s.parent)
	if err != nil {
		return s, err
	}
	if err := trust.Path(top); err != nil {
		return s, invalid("cannot make copies in %s: %w; make it writable for you alone, or name another directory", s.parent, err)
	}
	real, err := filepath.EvalSymlinks(top)
	if err != nil {
		return s, err
	}
	s.parent = real + strings.TrimPrefix(s.parent, top)
	s.path = filepath.Join(s.parent, spec.Name)
	if isWithin(s.path, s.base) {
		return s, invalid("cannot copy %s into itself, to %s; name a directory outside of it", s.base, s.path)
	}
	return s, nil
}

// copiesOf returns the default parent of the copies of a base.
func copiesOf(base string) string { return filepath.Clean(base) + "-copies" }

func realBase(base string) (string, error) {
	real, err := filepath.EvalSymlinks(base)
	if err != nil {
		return "", invalid("no directory %s", base)
	}
	if info, err := os.Stat(real); err != nil || !info.IsDir() {
		return "", invalid("%s is not a directory", base)
	}
	return real, nil
}

// present returns dir, or the directory above it that exists, in which it would be made.
func present(dir string) (string, error) {
	for dir = filepath.Clean(dir); ; dir = filepath.Dir(dir) {
		info, err := os.Stat(dir)
		switch {
		case err == nil && info.IsDir():
			return dir, nil
		case err == nil:
			return "", invalid("cannot make a directory for copies: %s is not a directory", dir)
		case !errors.Is(err, fs.ErrNotExist):
			return "", invalid("cannot make a directory for copies: %w", err)
		}
		if _, err := os.Lstat(dir); err == nil {
			return "", invalid("cannot make a directory for copies: %s is a link that leads nowhere", dir)
		}
	}
}

func isWithin(path, dir string) bool {
	rel, err := filepath.Rel(dir, path)
	return err == nil && filepath.IsLocal(rel)
}

// FindWorkspace returns the copy that a finished Create made. The files of an interrupted one are removed.
func (w *Workspace) FindWorkspace(ctx context.Context, spec swarm.WorkspaceSpec) (swarm.WorkspaceRef, error) {
	none := fmt.Errorf("copy for '%s': %w", spec.Name, swarm.ErrNotFound)
	s, err := sourceOf(spec)
	if errors.Is(err, swarm.ErrInvalidSpec) {
		return swarm.WorkspaceRef{}, fmt.Errorf("%w: %w", none, err)
	}
	if err != nil {
		return swarm.WorkspaceRef{}, err
	}
	unlock, err := lock(ctx, stateDir(s.path, spec.ID))
	if errors.Is(err, fs.ErrNotExist) {
		return swarm.WorkspaceRef{}, none
	}
	if err != nil {
		return swarm.WorkspaceRef{}, err
	}
	defer unlock()
	m, err := load(stateDir(s.path, spec.ID))
	if errors.Is(err, fs.ErrNotExist) || err == nil && exists(filepath.Join(stateDir(s.path, spec.ID), newDir)) {
		return swarm.WorkspaceRef{}, errors.Join(none, w.abandon(s.path, stateDir(s.path, spec.ID)))
	}
	if err != nil {
		return swarm.WorkspaceRef{}, err
	}
	return m.ref(), nil
}
