package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/swarmhost/swarm/shared/swarm"
)

// workspace implements [swarm.Workspace]. It remembers nothing: each call may come to another
// process. The directory of the worker fix in /src/app is /src/app-scratch/fix; next to it, a file
// that is named after the id of the worker proves that this plugin made it.
type workspace struct{}

func (workspace) Create(ctx context.Context, spec swarm.WorkspaceSpec) (ref swarm.WorkspaceRef, err error) {
	if err := ctx.Err(); err != nil {
		return ref, err
	}
	for key := range spec.Options {
		return ref, fmt.Errorf("%w: unknown option '%s'", swarm.ErrInvalidSpec, key)
	}
	if spec.Branch != "" {
		return ref, fmt.Errorf("%w: a workspace of 'scratch' has no branch", swarm.ErrInvalidSpec)
	}
	if info, err := os.Stat(spec.Base); err != nil || !info.IsDir() {
		return ref, fmt.Errorf("%w: %s is not a directory", swarm.ErrInvalidSpec, spec.Base)
	}
	base := filepath.Clean(spec.Base)
	parent := cmp.Or(spec.Parent, base+"-scratch")
	if !filepath.IsAbs(parent) {
		parent = filepath.Join(filepath.Dir(base), parent)
	}
	if err := os.MkdirAll(parent, 0o777); err != nil {
		return ref, err
	}
	ref = swarm.WorkspaceRef{ID: spec.ID, Name: spec.Name, Path: filepath.Join(parent, spec.Name), Base: base}
	if err := os.Mkdir(ref.Path, 0o777); errors.Is(err, fs.ErrExist) {
		return ref, fmt.Errorf("%w: %s exists already", swarm.ErrInvalidSpec, ref.Path)
	} else if err != nil {
		return ref, err
	}
	if err := os.WriteFile(proof(ref), []byte(ref.Path), 0o600); err != nil {
		return ref, errors.Join(err, os.Remove(ref.Path)) // after an error nothing is left
	}
	return ref, nil
}

// proof returns the path of the file that proves who made a directory.
func proof(ref swarm.WorkspaceRef) string {
	return filepath.Join(filepath.Dir(ref.Path), "."+ref.ID)
}

// Inspect reports what Remove would do: what is in the directory is work, and keeps it.
func (workspace) Inspect(_ context.Context, ref swarm.WorkspaceRef, _ swarm.RemoveOptions) (swarm.WorkspaceState, error) {
	if !ref.Handle.IsZero() {
		return swarm.WorkspaceState{}, fmt.Errorf("%w: %s has one, and this plugin knows none", swarm.ErrInvalidHandle, ref.Path)
	}
	files, err := os.ReadDir(ref.Path)
	if errors.Is(err, fs.ErrNotExist) {
		return swarm.WorkspaceState{Missing: true}, nil
	}
	if err != nil {
		return swarm.WorkspaceState{}, err
	}
	if path, err := os.ReadFile(proof(ref)); err != nil || string(path) != ref.Path {
		return swarm.WorkspaceState{Kept: &swarm.Kept{Reason: "nothing proves that swarm made it"}}, nil
	}
	if len(files) > 0 {
		return swarm.WorkspaceState{Kept: &swarm.Kept{Reason: fmt.Sprintf("it has %d file(s)", len(files)), Forceable: true}}, nil
	}
	return swarm.WorkspaceState{}, nil
}

// Remove never loses work: with Force it moves the directory to .saved.
func (w workspace) Remove(ctx context.Context, ref swarm.WorkspaceRef, o swarm.RemoveOptions) (r swarm.RemoveResult, err error) {
	state, err := w.Inspect(ctx, ref, o)
	switch {
	case err != nil:
		return r, err
	case state.Missing:
		_ = os.Remove(proof(ref)) // a call before this one may have removed both
		return r, nil
	case state.Kept != nil && (!o.Force || !state.Kept.Forceable):
		r.Kept = state.Kept
		return r, nil
	case state.Kept != nil:
		saved := filepath.Join(filepath.Dir(ref.Path), ".saved", ref.Name+"-"+ref.ID)
		if err := os.MkdirAll(filepath.Dir(saved), 0o777); err != nil {
			return r, err
		}
		if err := os.Rename(ref.Path, saved); err != nil {
			return r, err
		}
		r.Rescues = []swarm.Rescue{{Ref: saved, Command: "mv " + quote(saved) + " " + quote(ref.Path)}}
	default:
		// It fails if a file has appeared meanwhile.
		if err := os.Remove(ref.Path); err != nil {
			return r, err
		}
	}
	err = os.Remove(proof(ref))
	if o.Undo {
		_ = os.Remove(filepath.Dir(ref.Path)) // it fails if others are there
	}
	return r, err
}

// quote quotes a path for a shell.
func quote(path string) string { return "'" + strings.ReplaceAll(path, "'", `'\''`) + "'" }
