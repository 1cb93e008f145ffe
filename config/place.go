package config

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/swarmhost/swarm/shared/errtext"
)

// leadsOut reports whether a path of a file leads out of the directory that it is
// relative to: it is absolute, it climbs, or it begins with a home directory.
func leadsOut(path string) bool {
	return path != "" && (strings.HasPrefix(path, "~") || !filepath.IsLocal(path))
}

// misplaced reports whether a path that is relative to the directory above a
// repository leads out of it, or into a hidden directory there: if that directory is
// the user's home, programs read their settings from those.
func misplaced(path string) bool {
	if leadsOut(path) {
		return true
	}
	parts := strings.Split(filepath.Clean(path), "/")
	return slices.ContainsFunc(parts, func(part string) bool { return len(part) > 1 && part[0] == '.' })
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
	text := "a path that leads out of the project"
	if strings.Contains(i.Key, ".sandbox") {
		text = "it takes protection away"
	}
	problems := Problems{{At: i.At, Key: i.Key, Text: text + ", of a file that is not trusted: " + adviceTrust}}
	for _, path := range i.Paths {
		text := ""
		switch {
		case strings.HasSuffix(i.Key, ".env_file"):
			text = missingFile(path)
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

func missingFile(path string) string {
	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
		return "no such file: " + path
	}
	return ""
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
