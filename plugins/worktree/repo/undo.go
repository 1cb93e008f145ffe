package repo

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"
)

// Undo is how to take back what a call has done so far.
type Undo struct{ steps []func(context.Context) error }

func (u *Undo) add(step func(context.Context) error) { u.steps = append(u.steps, step) }

// undoLimit bounds the undoing of what failed, which continues when the caller gives up.
const undoLimit = 30 * time.Second

// After takes everything back, newest first, if the call fails with err.
func (u *Undo) After(ctx context.Context, err error) error {
	if err == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), undoLimit)
	defer cancel()
	errs := []error{err}
	for _, step := range slices.Backward(u.steps) {
		errs = append(errs, step(ctx))
	}
	return errors.Join(errs...)
}

// MkdirAll makes a directory and those above it that are missing, and returns how
// many it made. When it is taken back, only those go that are still empty.
func (u *Undo) MkdirAll(dir string, mode fs.FileMode) (made int, err error) {
	var missing []string
	for at := dir; ; at = filepath.Dir(at) {
		if _, err := os.Stat(at); err == nil || at == filepath.Dir(at) {
			break
		}
		missing = append(missing, at)
	}
	for _, at := range slices.Backward(missing) {
		err := os.Mkdir(at, mode)
		if errors.Is(err, os.ErrExist) {
			continue
		}
		if err != nil {
			return made, err
		}
		made++
		u.add(func(context.Context) error {
			// It is not empty: it is in use by now.
			_ = os.Remove(at)
			return nil
		})
	}
	info, err := os.Stat(dir)
	if err == nil && !info.IsDir() {
		err = &os.PathError{Op: "mkdir", Path: dir, Err: os.ErrExist}
	}
	return made, err
}
