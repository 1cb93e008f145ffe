package sandbox

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/swarmhost/swarm/shared/safefile"
)

// maxGitFile is more than the size of the small files of git that lead to directories.
const maxGitFile = 8 << 10

// git adds what git needs of a writable directory that is the top of a repository or of a
// worktree, and protects what would have git run programs outside of the sandbox.
//
// In a worktree the worker can commit: the objects, the references and the worktree's own
// part of the repository are writable. Its hooks and its configuration are not, nor are the
// files that say where those are. In the main directory of a repository all of .git is
// read-only: a file there could make another directory the one with the configuration, and
// a file that is not there can't be protected.
//
// A directory within a repository shows the rest of it. The error is [ErrTooWide] for a
// repository whose configuration can't be kept from the worker.
func (p *Plan) git(top string, guarded []string) error {
	dot := filepath.Join(top, ".git")
	fi, err := os.Lstat(dot)
	switch {
	case err != nil:
		if above := repositoryAbove(top); above != "" && holds(above, guarded) == "" {
			p.Read = append(p.Read, above)
		}
		return nil
	case !fi.IsDir() && !fi.Mode().IsRegular():
		return fmt.Errorf("%w: %s is a symbolic link, which the worker could replace", ErrTooWide, dot)
	}
	p.Protected = append(p.Protected, dot)
	if fi.IsDir() {
		return nil
	}
	admin, common, ok := worktree(dot)
	if dir := gitDir(dot); !ok && dir != "" && within(dir, top) {
		common, ok = dir, true
	}
	if !ok {
		return nil
	}
	p.repositories = append(p.repositories, common)
	p.Read = append(p.Read, common)
	for _, name := range []string{"objects", "refs", "logs"} {
		if path := filepath.Join(common, name); isDir(path) {
			p.Write = append(p.Write, path)
		}
	}
	p.Write = append(p.Write, admin)
	for _, name := range []string{"commondir", "gitdir"} {
		p.Protected = append(p.Protected, filepath.Join(admin, name))
	}
	p.Absent = append(p.Absent, filepath.Join(admin, "config.worktree"))
	return nil
}

// isBare reports whether git takes a directory for a repository without a .git.
func isBare(dir string) bool {
	_, err := os.Lstat(filepath.Join(dir, "HEAD"))
	return err == nil && isDir(filepath.Join(dir, "objects")) && isDir(filepath.Join(dir, "refs"))
}

// gitDir returns the directory that a file .git leads to; empty if it leads nowhere.
func gitDir(dot string) string {
	text, ok := line(dot)
	path, isGit := strings.CutPrefix(text, "gitdir: ")
	if !ok || !isGit {
		return ""
	}
	r, _ := follow(path, filepath.Dir(dot))
	return r
}

// follow returns the real path that a file in a directory names, and whether it exists.
func follow(path, dir string) (string, bool) {
	if !filepath.IsAbs(path) {
		path = filepath.Join(dir, path)
	}
	return real(path)
}

// worktree returns the directory of a worktree in its repository, and the repository, from
// the file .git. Both have to lead to each other: the file may be any.
func worktree(dot string) (admin, common string, ok bool) {
	admin = gitDir(dot)
	if admin == "" || !isDir(admin) || filepath.Base(filepath.Dir(admin)) != "worktrees" {
		return "", "", false
	}
	common = filepath.Dir(filepath.Dir(admin))
	for file, want := range map[string]string{"commondir": common, "gitdir": dot} {
		text, ok := line(filepath.Join(admin, file))
		if !ok {
			return "", "", false
		}
		if r, ok := follow(text, admin); !ok || r != want {
			return "", "", false
		}
	}
	return admin, common, true
}

// line reads a file of one line.
func line(name string) (string, bool) {
	b, err := safefile.Read(name, maxGitFile)
	text := strings.TrimRight(string(b), "\r\n")
	return text, err == nil && text != "" && !strings.ContainsAny(text, "\n\x00")
}

func repositoryAbove(dir string) string {
	for dir != "/" {
		dir = filepath.Dir(dir)
		if _, err := os.Lstat(filepath.Join(dir, ".git")); err == nil && dir != "/" {
			return dir
		}
	}
	return ""
}

func isDir(path string) bool {
	fi, err := os.Lstat(path)
	return err == nil && fi.IsDir()
}
