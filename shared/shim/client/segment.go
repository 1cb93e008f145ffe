package client

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/swarmhost/swarm/shared/safefile"
	"github.com/swarmhost/swarm/shared/shim/rundir"
)

// openSegments opens the files of a log, oldest first. The shim may rename them meanwhile,
// each only to an older number. So they are opened newest first: a rotation then shows one
// of them twice, and hides none. After more than one rotation the newest file is a
// different one, and everything is opened again.
func openSegments(dir string) ([]*os.File, error) {
	for {
		files, err := openOnce(dir)
		if err != nil {
			return nil, err
		}
		if len(files) == 0 || isNewest(dir, files[len(files)-1]) {
			return files, nil
		}
		closeAll(files)
	}
}

func openOnce(dir string) ([]*os.File, error) {
	var files []*os.File
	for i := range rundir.Segments {
		f, err := safefile.Open(filepath.Join(dir, rundir.LogName(i)), 0)
		switch {
		case errors.Is(err, fs.ErrNotExist):
		case err != nil:
			closeAll(files)
			return nil, err
		case len(files) > 0 && sameFile(f, files[len(files)-1]):
			closeAll([]*os.File{f})
		default:
			files = append(files, f)
		}
	}
	slices.Reverse(files)
	return files, nil
}

// openAfter opens the files that are newer than the given one: all, if the given one is no
// longer kept.
func openAfter(dir string, f *os.File) ([]*os.File, error) {
	files, err := openSegments(dir)
	if err != nil {
		return nil, err
	}
	i := slices.IndexFunc(files, func(g *os.File) bool { return sameFile(f, g) })
	closeAll(files[:i+1])
	return files[i+1:], nil
}

// isNewest reports whether f is the newest file of a log. The shim writes to it, except for a
// moment in each rotation.
func isNewest(dir string, f *os.File) bool {
	for i := range rundir.Segments {
		newest, err := os.Lstat(filepath.Join(dir, rundir.LogName(i)))
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		info, statErr := f.Stat()
		return err == nil && statErr == nil && os.SameFile(info, newest)
	}
	// All files are gone, so none is newer.
	return true
}

func sameFile(f, g *os.File) bool {
	a, err := f.Stat()
	if err != nil {
		return false
	}
	b, err := g.Stat()
	return err == nil && os.SameFile(a, b)
}

func closeAll(files []*os.File) {
	for _, f := range files {
		// They were only read.
		_ = f.Close()
	}
}
