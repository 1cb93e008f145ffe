// Package trust holds the owner rule, which decides which files swarm believes and runs: a
// file or directory is trusted only if it and every directory above it are owned by the
// effective user or root and can't be written by others.
//
// Two things that look like exceptions follow from the rule's purpose. A sticky
// directory that everybody can write, such as /tmp, may contain what the user
// owns, because nobody else can replace it there. A group may have write
// permission if the user is its only member, which is how many systems create
// users.
//
// The package is imported by everything that reads or runs a file by its place.
// It links neither fmt nor encoding/json, so that the shim can use it.
package trust

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
)

// maxLinks bounds the symbolic links of one path, as the kernel does.
const maxLinks = 40

// Error says which part of a path breaks the owner rule.
type Error struct {
	// Path is the path that was asked about.
	Path string
	// At is the file or directory that breaks the rule: Path itself, one above
	// it, or one that a link leads through.
	At string
	// Reason completes the sentence "At ...", such as "is owned by uid 1001".
	Reason string
}

func (e *Error) Error() string { return e.At + " " + e.Reason }

// Mend returns the command that makes At obey the rule if only its mode breaks it. It
// returns "" for a wrong owner, who may have put anything into the file.
func (e *Error) Mend() string {
	switch e.Reason {
	case writtenByAll:
		return "chmod o-w " + e.At
	case writtenByGroup:
		return "chmod g-w " + e.At
	}
	return ""
}

const (
	writtenByAll   = "can be written by everybody"
	writtenByGroup = "can be written by its group"
)

// Path reports whether an absolute path obeys the owner rule. It follows
// symbolic links and checks every directory that the path leads through. It
// returns an [*Error] if the rule is broken, and the error of lstat, such as
// [fs.ErrNotExist], if a part of the path can't be examined.
func Path(path string) error {
	if !filepath.IsAbs(path) {
		return &Error{Path: path, At: path, Reason: "is not an absolute path"}
	}
	w := walk{path: path}
	return w.check(path)
}

// Dir is [Path] for a directory whose files are believed whoever created them: so others
// may not create files there either, not even in a sticky directory.
func Dir(path string) error {
	if err := Path(path); err != nil {
		return err
	}
	info, err := os.Stat(path)
	if err != nil {
		return err
	}
	if reason := writers(path, info); reason != "" {
		return &Error{Path: path, At: path, Reason: reason}
	}
	return nil
}

// Info reports whether a file that was examined already obeys the owner rule itself; path
// names it in the error. The caller checks the directories with [Path]. A symbolic link is
// judged by its owner alone.
func Info(path string, info fs.FileInfo) error {
	if reason := judge(path, info, false); reason != "" {
		return &Error{Path: path, At: path, Reason: reason}
	}
	return nil
}

// Owned reports whether the effective user or root owns a file.
func Owned(info fs.FileInfo) bool {
	owner, ok := ownerOf(info)
	return ok && (owner == uint32(os.Geteuid()) || owner == 0)
}

// walk is one path on its way from the root.
type walk struct {
	path  string
	links int
}

func (w *walk) check(path string) error {
	at := "/"
	sticky, err := w.step(at, false)
	if err != nil {
		return err
	}
	rest := parts(path)
	for len(rest) > 0 {
		name := rest[0]
		rest = rest[1:]
		if name == ".." {
			// The directory that it leads back to was examined on the way here.
			at = filepath.Dir(at)
			if sticky, err = w.step(at, false); err != nil {
				return err
			}
			continue
		}
		at = filepath.Join(at, name)
		info, err := os.Lstat(at)
		if err != nil {
			return err
		}
		if reason := judge(at, info, sticky); reason != "" {
			return &Error{Path: w.path, At: at, Reason: reason}
		}
		if info.Mode()&fs.ModeSymlink == 0 {
			sticky = info.IsDir() && isSticky(info)
			if len(rest) > 0 && !info.IsDir() {
				return &fs.PathError{Op: "open", Path: w.path, Err: syscall.ENOTDIR}
			}
			continue
		}
		if w.links++; w.links > maxLinks {
			return &fs.PathError{Op: "open", Path: w.path, Err: syscall.ELOOP}
		}
		target, err := os.Readlink(at)
		if err != nil {
			return err
		}
		rest = append(parts(target), rest...)
		at = filepath.Dir(at)
		if filepath.IsAbs(target) {
			at = "/"
		}
		if sticky, err = w.step(at, false); err != nil {
			return err
		}
	}
	return nil
}

// step examines a directory that the walk stands in, and reports whether it is
// sticky and can be written by others.
func (w *walk) step(dir string, inSticky bool) (sticky bool, err error) {
	info, err := os.Lstat(dir)
	if err != nil {
		return false, err
	}
	if reason := judge(dir, info, inSticky); reason != "" {
		return false, &Error{Path: w.path, At: dir, Reason: reason}
	}
	return isSticky(info), nil
}

func parts(path string) []string {
	var names []string
	for name := range strings.SplitSeq(path, "/") {
		if name != "" && name != "." {
			names = append(names, name)
		}
	}
	return names
}

// isSticky reports whether others can create files in a directory, but can't
// replace those of its owners.
func isSticky(info fs.FileInfo) bool {
	return info.IsDir() && info.Mode()&fs.ModeSticky != 0 && info.Mode().Perm()&0o022 != 0
}

// judge returns how one file breaks the rule; empty if it does not. inSticky
// says that the file lies in a sticky directory that others can write.
func judge(path string, info fs.FileInfo, inSticky bool) string {
	owner, ok := ownerOf(info)
	if !ok {
		return "has no owner that could be determined"
	}
	user := uint32(os.Geteuid())
	switch {
	case owner == user:
	case owner == 0:
	case owner == overflow() && !inSticky:
		// In a user namespace without root, root's files look like this.
	default:
		return "is owned by " + userName(owner) + ", not by you or root"
	}
	if info.Mode()&fs.ModeSymlink != 0 || isSticky(info) {
		return ""
	}
	return writers(path, info)
}

// writers says which others can write a file by its mode; empty if nobody can.
func writers(path string, info fs.FileInfo) string {
	switch perm := info.Mode().Perm(); {
	case perm&0o002 != 0:
		return writtenByAll
	case perm&0o020 != 0 && !privateGroup(path, info):
		return writtenByGroup
	default:
		return ""
	}
}

func ownerOf(info fs.FileInfo) (uid uint32, ok bool) {
	st, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return 0, false
	}
	return st.Uid, true
}

// As reports whether err says that the owner rule is broken, and how.
func As(err error) (*Error, bool) {
	var broken *Error
	ok := errors.As(err, &broken)
	return broken, ok
}
