package worktree

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// undo remembers how to take back what was done so far.
type undo struct{ steps []func(context.Context) error }

func (u *undo) add(step func(context.Context) error) { u.steps = append(u.steps, step) }

// all takes everything back, newest first.
func (u *undo) all(ctx context.Context) error {
	var errs []error
	for _, step := range slices.Backward(u.steps) {
		errs = append(errs, step(ctx))
	}
	return errors.Join(errs...)
}

// mkdirAll makes a directory and those above it that are missing. When it is
// taken back, only those go that it made and that are still empty.
func (u *undo) mkdirAll(dir string) error {
	var missing []string
	for at := dir; ; at = filepath.Dir(at) {
		if _, err := os.Stat(at); err == nil || at == filepath.Dir(at) {
			break
		}
		missing = append(missing, at)
	}
	for _, at := range slices.Backward(missing) {
		err := os.Mkdir(at, 0o777)
		if errors.Is(err, os.ErrExist) {
			continue
		}
		if err != nil {
			return err
		}
		u.add(func(context.Context) error {
			// Not empty: somebody else uses it by now.
			_ = os.Remove(at)
			return nil
		})
	}
	info, err := os.Stat(dir)
	if err == nil && !info.IsDir() {
		return &os.PathError{Op: "mkdir", Path: dir, Err: os.ErrExist}
	}
	return err
}

// zeros is what git calls a ref that does not exist, for the hash in use.
func zeros(hash string) string { return strings.Repeat("0", len(hash)) }
