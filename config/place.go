package config

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"github.com/swarmhost/swarm/shared/errtext"
)

// leadsOut reports whether a path of a file leads out of the directory that it is
// relative to: it is absolute, it climbs, or it begins with a home directory.
func leadsOut(path string) bool {
	return path != "" && (strings.HasPrefix(path, "~") || !filepath.IsLocal(path))
}

// misplaced reports whether a path that is relative to the directory above a
// repository leads out of it, into a hidden directory there, or into one of programs: if that
// directory is the user's home, programs read their settings from the former, and are found
// in the latter.
func misplaced(path string) bool {
	if leadsOut(path) {
		return true
	}
	parts := strings.Split(filepath.Clean(path), "/")
	return slices.ContainsFunc(parts, func(part string) bool {
		return len(part) > 1 && part[0] == '.' || part == "bin" || part == "node_modules"
	})
}

// maxLinks is how many symbolic links a path may lead over, as on Linux.
const maxLinks = 40

// realPath returns an absolute path without symbolic links, also if its last parts do not
// exist yet.
func realPath(path string) (string, error) {
	at := "/"
	rest := strings.Split(filepath.Clean(path), "/")
	for links := 0; len(rest) > 0; {
		part := rest[0]
		rest = rest[1:]
		switch part {
		case "", ".":
			continue
		case "..":
			at = filepath.Dir(at)
			continue
		}
		next := filepath.Join(at, part)
		info, err := os.Lstat(next)
		switch {
		case errors.Is(err, fs.ErrNotExist):
		case err != nil:
			return "", err
		case info.Mode()&fs.ModeSymlink != 0:
			if links++; links > maxLinks {
				return "", &fs.PathError{Op: "lstat", Path: path, Err: syscall.ELOOP}
			}
			target, err := os.Readlink(next)
			if err != nil {
				return "", err
			}
			if filepath.IsAbs(target) {
				at = "/"
			}
			rest = append(strings.Split(target, "/"), rest...)
			continue
		}
		at = next
	}
	return at, nil
}

// strays reports whether symbolic links lead a path out of a directory, or may do so.
func strays(path, dir string) bool {
	top, err := realPath(dir)
	if err != nil {
		return true
	}
	real, err := realPath(path)
	return err != nil || !inside(real, top)
}

func inside(path, dir string) bool {
	return path == dir || strings.HasPrefix(path, strings.TrimSuffix(dir, "/")+"/")
}

// readInside reads a file of a project whose file is not trusted. A link that is exchanged
// meanwhile does not lead it out of the project.
func readInside(path, dir string) ([]byte, error) {
	top, err := realPath(dir)
	if err != nil {
		return nil, errtext.Cause(err)
	}
	real, err := realPath(path)
	if err != nil {
		return nil, errtext.Cause(err)
	}
	if !inside(real, top) {
		return nil, errors.New(whyLink)
	}
	root, err := os.OpenRoot(top)
	if err != nil {
		return nil, errtext.Cause(err)
	}
	defer root.Close()
	f, err := root.OpenFile(cmp.Or(strings.TrimPrefix(strings.TrimPrefix(real, top), "/"), "."), os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, errtext.Cause(err)
	}
	defer f.Close()
	info, err := f.Stat()
	switch {
	case err != nil:
		return nil, errtext.Cause(err)
	case !info.Mode().IsRegular():
		return nil, errors.New("not a regular file")
	}
	return readAll(f)
}

// HoldsDir reports whether the working directory of a worker comes from a file that is not
// trusted: it must not be looked up over symbolic links again.
func (l *Loaded) HoldsDir(name string) bool {
	return l.untrusted != "" && l.Origins[WorkerKey(name, "")].File == l.untrusted
}

// CheckParent reports an error if the directory for the worktrees of the repository
// that dir is in comes from a project's file that is not trusted, and is reached over
// a symbolic link: a repository may hold links to anywhere. key is where the
// directory comes from.
func (l *Loaded) CheckParent(key, parent, dir string) error {
	at, set := l.Origins[key]
	if !set || at.File != l.untrusted || filepath.IsAbs(parent) {
		return nil
	}
	if real, err := filepath.EvalSymlinks(dir); err == nil {
		dir = real
	}
	// Only git knows which of the directories above dir holds the repository.
	for base := filepath.Clean(dir); ; base = filepath.Dir(base) {
		path := base
		for part := range strings.SplitSeq(filepath.Clean(parent), "/") {
			path = filepath.Join(path, part)
			if info, err := os.Lstat(path); err == nil && info.Mode()&fs.ModeSymlink != 0 {
				return l.Conceal(Problems{{At: at, Key: key, Text: fmt.Sprintf("%s is a symbolic link: %s", path, adviceTrust)}})
			}
		}
		if base == filepath.Dir(base) {
			return nil
		}
	}
}

const adviceTrust = "read the file, then run 'swarm config trust' to use it"

// Problems returns the problems of the key if it is needed: that the file is not trusted,
// and mistakes that remain once it is.
func (i Ignored) Problems() Problems {
	problems := Problems{{At: i.At, Key: i.Key, Text: i.Why + ", of a file that is not trusted: " + adviceTrust}}
	for _, path := range i.Paths {
		text := ""
		switch {
		case strings.HasSuffix(i.Key, ".env_file"):
			if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
				text = "no such file: " + path
			}
		case strings.HasSuffix(i.Key, ".cwd"):
			text = missingDir(path)
		}
		if text != "" {
			problems = append(problems, Problem{At: i.At, Key: i.Key, Text: text})
		}
	}
	return problems
}

// DirProblems returns the problems of the working directory that the file names for a
// worker on this machine.
func (l *Loaded) DirProblems(name string) Problems {
	key := WorkerKey(name, "cwd")
	at, set := l.Origins[key]
	if !set {
		return nil
	}
	if text := missingDir(l.Config.Workers[name].Dir); text != "" {
		return Problems{{At: at, Key: key, Text: text}}
	}
	return nil
}

// missingDir says why path is not a directory; empty if it is one.
func missingDir(path string) string {
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return "no such directory: " + path
	case err != nil:
		return path + ": " + errtext.Cause(err).Error()
	case !info.IsDir():
		return "not a directory: " + path
	}
	return ""
}
