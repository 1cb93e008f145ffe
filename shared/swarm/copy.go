package swarm

import (
	"context"
	"strings"
)

// Copier copies files between the host and the file system that a worker sees.
type Copier interface {
	// Copy returns the program that writes files of the worker as a tar stream to its standard output,
	// or makes files of the tar stream on its standard input, in the place of the host's process. It
	// changes nothing: files are copied when, and as often as, the program runs.
	//
	// Without o.Into, the first entry of the stream is the file or directory that o.Path names, under the
	// last element of that path, or as "." if that is "." itself; all other entries are below it. A
	// symbolic link is an entry of its own, except as an element of the path that is not the last.
	//
	// With o.Into, o.Path is an existing directory, and entries are made in it by their names. A file that
	// exists is replaced, a directory that exists is kept with what else is in it. The program makes
	// nothing outside of the directory, whatever the names of the entries and the links among them and
	// in the directory are. New files belong to the user that the worker runs as, as far as the
	// program may decide that.
	//
	// The program exits with 0 if it has copied all. Otherwise it writes the reason to its standard error
	// and exits with another code; it may have copied a part then. It leaves out what can't be copied,
	// such as a socket, and does not fail because of it.
	//
	// A worker that has ended is [ErrNotFound], unless the backend still has its files.
	Copy(ctx context.Context, h Handle, o CopyOptions) (Program, error)
}

// CopyOptions say what to copy.
type CopyOptions struct {
	// Path is absolute, or relative to the directory of the worker; it is not empty. A relative path
	// does not lead out of that directory, neither by ".." nor by links: the program fails then.
	Path string
	// Into says that files are copied into the worker; otherwise they are copied out of it.
	Into bool
	// Dir is the directory of the worker, absolute. It is set for local backends only.
	Dir string
	// Confined says that the worker is in a sandbox. It may have replaced the directories above Dir by
	// links, which the program does not follow.
	Confined bool
	// Shim is the path of the swarm-shim executable, absolute. It is set for local backends only.
	Shim string
}

// Check returns an [ErrInvalidSpec] if the path is empty or has a NUL.
func (o CopyOptions) Check() error {
	switch {
	case o.Path == "":
		return &specError{"no path to copy"}
	case strings.Contains(o.Path, "\x00"):
		return &specError{"a path has no NUL"}
	}
	return nil
}
