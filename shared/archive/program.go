package archive

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"
	"strings"
)

// Out and In are the verbs of [Main].
const (
	Out = "copy-out"
	In  = "copy-in"
)

// LeftOut begins a line of [Main] about a file that was not copied.
const LeftOut = "left out "

// real is the argument that says that no link may lead to the directory.
const real = "--real"

// Args returns the arguments with which [Main] copies what a path names, which is absolute or relative
// to the directory dir and does not lead out of it. With confined, no link leads to dir.
func Args(into bool, name, dir string, confined bool) []string {
	args := []string{Out}
	if into {
		args[0] = In
	}
	switch {
	case path.IsAbs(name) && into:
		dir, name = path.Clean(name), "."
	case path.IsAbs(name):
		dir, name = Split(name)
	case confined:
		args = append(args, real)
	}
	return append(args, dir, name)
}

// Split returns the directory of what a path names, and the name in there: "." for a path that ends so.
func Split(name string) (dir, base string) {
	if base = Base(name); base == "." {
		return path.Clean(name), base
	}
	return path.Dir(path.Clean(name)), base
}

// Main is a program that writes a tar stream to out or makes files of the one in in, and returns its exit
// code. Its arguments are those of [Args].
func Main(args []string, in io.Reader, out, errs io.Writer) int {
	r, err := run(args, in, out)
	for _, line := range r.Skipped {
		fmt.Fprintln(errs, LeftOut+line)
	}
	if r.More > 0 {
		fmt.Fprintf(errs, "%s%d more\n", LeftOut, r.More)
	}
	if err != nil {
		fmt.Fprintln(errs, Reason(err))
		return 1
	}
	return 0
}

func run(args []string, in io.Reader, out io.Writer) (Result, error) {
	confined := len(args) == 4 && args[1] == real
	if len(args) != 3 && !confined {
		return Result{}, errors.New("expected copy-out or copy-in, a directory and a path")
	}
	verb, dir, name := args[0], args[len(args)-2], args[len(args)-1]
	root, err := Open(dir, confined)
	if err != nil {
		return Result{}, err
	}
	defer root.Close()
	as := Base(name)
	if verb == In || as == "." {
		below, err := root.OpenRoot(path.Clean(name))
		if err != nil {
			return Result{}, err
		}
		defer below.Close()
		if verb == In {
			return Unpack(in, below, "")
		}
		return Pack(out, below, ".", as)
	}
	return Pack(out, root, path.Clean(name), as)
}

// Open opens a directory; with confined only if no symbolic link leads there.
func Open(dir string, confined bool) (*os.Root, error) {
	root, err := os.OpenRoot(dir)
	if err != nil || !confined {
		return root, err
	}
	f, err := root.Open(".")
	if err == nil {
		defer f.Close()
		var is string
		if is, err = os.Readlink(fmt.Sprintf("/proc/self/fd/%d", f.Fd())); err == nil && is != filepath.Clean(dir) {
			err = fmt.Errorf("%s is reached over a symbolic link, to %s, that was not there when the worker was first started", dir, is)
		}
	}
	if err != nil {
		_ = root.Close()
		return nil, err
	}
	return root, nil
}

// Reason returns the text of an error without the system calls in it.
func Reason(err error) string {
	if e, ok := errors.AsType[*os.PathError](err); ok && strings.HasSuffix(err.Error(), e.Error()) {
		if strings.Contains(e.Err.Error(), "escapes from parent") {
			return e.Path + " leads out of the directory of the worker; name it by its absolute path"
		}
		return e.Path + ": " + e.Err.Error()
	}
	return err.Error()
}
