// Package trust holds the owner rule, which decides which files swarm believes and runs: a
// file or directory is trusted only if it and every directory above it are owned by the
// effective user or root and can't be written by others.
//
// Two things that look like exceptions follow from the rule's purpose. A sticky
// directory that everybody can write, such as /tmp, may contain what the user
// owns, because no one else can replace it there. A group may have write
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
	at, links := "/", 0
	info, err := step(path, at, false)
	for rest := parts(path); err == nil && len(rest) > 0; {
		name := rest[0]
		rest = rest[1:]
		if name == ".." {
			// The directory that it leads back to was examined on the way here.
			at = filepath.Dir(at)
			info, err = step(path, at, false)
			continue
		}
		at = filepath.Join(at, name)
		if info, err = step(path, at, isSticky(info)); err != nil {
			return err
		}
		if info.Mode()&fs.ModeSymlink == 0 {
			if len(rest) > 0 && !info.IsDir() {
				return &fs.PathError{Op: "open", Path: path, Err: syscall.ENOTDIR}
			}
			continue
		}
		if links++; links > maxLinks {
			return &fs.PathError{Op: "open", Path: path, Err: syscall.ELOOP}
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
		if info, err = step(path, at, false); err != nil {
			return err
		}
	}
	return err
}

// step examines a file on the way of path; inSticky says that it lies in a sticky directory.
func step(path, at string, inSticky bool) (fs.FileInfo, error) {
	info, err := os.Lstat(at)
	if err != nil {
		return nil, err
	}
	if reason := judge(at, info, inSticky); reason != "" {
		return nil, &Error{Path: path, At: at, Reason: reason}
	}
	return info, nil
}

// Dir is [Path] for a directory whose files are trusted without a check of their owners. So
// other users may not create files there either, not even in a sticky directory.
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

// writers returns which other users can write a file by its mode; empty if none can.
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
func As(err error) (*Error, bool) { return errors.AsType[*Error](err) }
