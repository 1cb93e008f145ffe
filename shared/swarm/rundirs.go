package swarm

import (
	"context"
	"path/filepath"
)

type runDirsKey struct{}

// WithRunDirs returns a context for the calls of a host whose run directories are in the
// directory dir, which is absolute. The SDK gives a backend such contexts. With an empty dir the
// host does not say where they are.
func WithRunDirs(ctx context.Context, dir string) context.Context {
	if dir == "" {
		return ctx
	}
	return context.WithValue(ctx, runDirsKey{}, dir)
}

// RunDir returns where the run directory of the worker with an id is now. recorded is its path
// when the worker was started ([Local.RunDir]), as a handle may hold it: the state directory may
// have been moved since, or may be reached by another path, and something else may lie at the old
// one. ctx is the context of a call. RunDir returns recorded only if the host of the call does not
// say where its run directories are, or if no run directory can have the id as its name.
func RunDir(ctx context.Context, id, recorded string) string {
	dir, _ := ctx.Value(runDirsKey{}).(string)
	if dir == "" || id == "" || id != filepath.Base(id) || id == "." || id == ".." {
		return recorded
	}
	return filepath.Join(dir, id)
}
