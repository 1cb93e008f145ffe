// Package program finds the program of a command, and explains to users why one can't be
// started.
package program

import (
	"cmp"
	"errors"
	"io/fs"
	"os"
	"strings"

	"golang.org/x/sys/unix"
)

// defaultPath is the search path of a worker without a PATH, as in execvp(3).
const defaultPath = "/usr/local/bin:/usr/bin:/bin"

// CheckDir reports whether a command can start in a directory.
func CheckDir(dir string) error {
	if !strings.HasPrefix(dir, "/") {
		return errors.New("not an absolute directory: " + dir)
	}
	fi, err := os.Stat(dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return errors.New("no such directory: " + dir)
	case errors.Is(err, fs.ErrPermission):
		return errors.New("permission denied: " + dir)
	case err != nil:
		return err
	case !fi.IsDir():
		return errors.New("not a directory: " + dir)
	case unix.Faccessat(unix.AT_FDCWD, dir, unix.X_OK, unix.AT_EACCESS) != nil:
		return errors.New("permission denied: " + dir)
	}
	return nil
}

// Find finds a command as a shell in dir with that environment would.
func Find(command, dir string, env []string) (string, error) {
	if strings.Contains(command, "/") {
		return command, Executable(absolute(command, dir), command)
	}
	path := defaultPath
	for _, kv := range env {
		if v, ok := strings.CutPrefix(kv, "PATH="); ok {
			path = v
		}
	}
	denied := false
	for d := range strings.SplitSeq(path, ":") {
		if command == "" {
			break
		}
		// An empty entry is the working directory.
		file := absolute(cmp.Or(d, dir)+"/"+command, dir)
		if Executable(file, command) == nil {
			return file, nil
		}
		fi, err := os.Stat(file)
		denied = denied || err == nil && !fi.IsDir()
	}
	if denied {
		return "", errors.New("permission denied: " + command)
	}
	return "", errors.New("command not found: " + command)
}

func absolute(file, dir string) string {
	if strings.HasPrefix(file, "/") {
		return file
	}
	return dir + "/" + file
}

// Executable reports whether a file can be run; command is what the error calls it.
func Executable(file, command string) error {
	fi, err := os.Stat(file)
	switch {
	case errors.Is(err, fs.ErrPermission):
		return errors.New("permission denied: " + command)
	case err != nil:
		return errors.New("command not found: " + command)
	case fi.IsDir():
		return errors.New("is a directory: " + command)
	case !fi.Mode().IsRegular():
		return errors.New("permission denied: " + command) // as the kernel says
	case unix.Faccessat(unix.AT_FDCWD, file, unix.X_OK, unix.AT_EACCESS) != nil:
		return errors.New("permission denied: " + command)
	}
	return nil
}

// StartError turns an error of a start into a text that helps the user.
func StartError(command string, err error) error {
	switch {
	case errors.Is(err, unix.E2BIG):
		return errors.New("argument list too long")
	case errors.Is(err, unix.ENOENT):
		// The file exists: the interpreter in its first line is missing.
		return errors.New("the interpreter that the first line of " + command + " names does not exist")
	case errors.Is(err, unix.EACCES), errors.Is(err, unix.EPERM):
		return errors.New("permission denied: " + command)
	case errors.Is(err, unix.ENOEXEC):
		return errors.New("not a program: " + command + " (a script needs a first line such as #!/bin/sh)")
	default:
		return errors.New("cannot start " + command + ": " + err.Error())
	}
}
