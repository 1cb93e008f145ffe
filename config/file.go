package config

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/swarmhost/swarm/shared/errtext"
	"github.com/swarmhost/swarm/shared/safefile"
)

const maxFile = 1 << 20

// ProjectFile is the name of a project's file.
const ProjectFile = "swarm.toml"

// UserFile returns the path of the user's file, whether or not it exists; empty
// if neither XDG_CONFIG_HOME nor HOME is set. As the XDG specification says, a
// relative XDG_CONFIG_HOME is ignored.
func UserFile(getenv func(string) string) string {
	dir := getenv("XDG_CONFIG_HOME")
	if !filepath.IsAbs(dir) {
		home := getenv("HOME")
		if !filepath.IsAbs(home) {
			return ""
		}
		dir = filepath.Join(home, ".config")
	}
	return filepath.Join(dir, "swarm", "config.toml")
}

// ProfileDir returns the directory of the user's profiles of agents, next to the user's
// file, or "" if neither XDG_CONFIG_HOME nor HOME says where that is.
func ProfileDir(getenv func(string) string) string {
	file := UserFile(getenv)
	if file == "" {
		return ""
	}
	return filepath.Join(filepath.Dir(file), "profiles")
}

// FindProject returns the path of the nearest project's file in dir or above;
// empty if there is none. dir is absolute.
func FindProject(dir string) string {
	for ; ; dir = filepath.Dir(dir) {
		path := filepath.Join(dir, ProjectFile)
		if info, err := os.Stat(path); err == nil && !info.IsDir() {
			return path
		}
		if dir == filepath.Dir(dir) {
			return ""
		}
	}
}

// Read returns the content of a project's file.
func Read(path string) ([]byte, error) {
	content, err := read(path)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return content, nil
}

// read reads a regular file. It may be a link; opening what that leads to never
// waits.
func read(path string) ([]byte, error) {
	real, err := filepath.EvalSymlinks(path)
	if err != nil {
		return nil, errtext.Cause(err)
	}
	f, err := safefile.OpenForeign(real, 0)
	if errors.Is(err, safefile.ErrUnsafe) {
		return nil, errors.New("not a regular file")
	}
	if err != nil {
		return nil, errtext.Cause(err)
	}
	defer f.Close()
	return readAll(f)
}

// readAll reads a file that is not too large.
func readAll(f io.Reader) ([]byte, error) {
	content, err := io.ReadAll(io.LimitReader(f, maxFile+1))
	if err != nil {
		return nil, errtext.Cause(err)
	}
	if len(content) > maxFile {
		return nil, fmt.Errorf("larger than %s", FormatSize(maxFile))
	}
	return content, nil
}
