package server

import (
	"errors"
	"io/fs"
	"os"
	"strings"

	"golang.org/x/sys/unix"
)

// defaultPath is the search path of a worker without a PATH, as in execvp(3).
const defaultPath = "/usr/local/bin:/usr/bin:/bin"

func checkDir(dir string) error {
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

// lookPath finds a command as a shell in dir with that environment would.
func lookPath(command, dir string, env []string) (string, error) {
	if strings.Contains(command, "/") {
		return command, executable(absolute(command, dir), command)
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
		file := absolute(d+"/"+command, dir)
		if d == "" {
			file = dir + "/" + command
		}
		if executable(file, command) == nil {
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

func executable(file, command string) error {
	fi, err := os.Stat(file)
	switch {
	case errors.Is(err, fs.ErrPermission):
		return errors.New("permission denied: " + command)
	case err != nil:
		return errors.New("command not found: " + command)
	case fi.IsDir():
		return errors.New("is a directory: " + command)
	case unix.Faccessat(unix.AT_FDCWD, file, unix.X_OK, unix.AT_EACCESS) != nil:
		return errors.New("permission denied: " + command)
	}
	return nil
}
