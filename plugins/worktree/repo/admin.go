package repo

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/swarmhost/swarm/plugins/worktree/gitdir"
	"github.com/swarmhost/swarm/shared/safefile"
)

// markerFile, in a worktree's administrative directory, holds the id of the worker that the
// worktree was made for. It is removed with the worktree, and moves with it.
const markerFile = "swarm-worker"

// madeFile exists next to it once Create is done.
const madeFile = "swarm-made"

// aboveFile holds how many directories above the worktree were made for worktrees.
const aboveFile = "swarm-above"

// Admin is the administrative directory of a linked worktree, as described in
// gitrepository-layout(5).
type Admin struct {
	// Dir is the directory, Worktree the path that it says it belongs to.
	Dir, Worktree string
	// ID is the worker's; empty if swarm did not make this worktree.
	ID string
	// Made says that Create has completed it.
	Made bool
	// Above is how many directories above it were created for worktrees.
	Above int
}

// Admins returns the administrative directories in the directory that working trees share.
func Admins(common string) ([]Admin, error) {
	top := filepath.Join(common, "worktrees")
	entries, err := os.ReadDir(top)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var all []Admin
	for _, e := range entries {
		a := Admin{Dir: filepath.Join(top, e.Name())}
		dotGit, err := gitdir.ReadLine(filepath.Join(a.Dir, "gitdir"))
		if err != nil || dotGit == "" {
			// Half made or damaged; git leaves such entries out as well.
			continue
		}
		a.Worktree = filepath.Dir(gitdir.From(a.Dir, dotGit))
		a.ID, err = gitdir.ReadLine(filepath.Join(a.Dir, markerFile))
		// If its worker has replaced it, the worktrees of others are not concerned.
		if err != nil && !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, safefile.ErrUnsafe) {
			return nil, err
		}
		if _, err = os.Lstat(filepath.Join(a.Dir, madeFile)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
		a.Made = err == nil
		if n, err := gitdir.ReadLine(filepath.Join(a.Dir, aboveFile)); err == nil {
			// A number that can't be read leaves directories where they are.
			a.Above, _ = strconv.Atoi(n)
		}
		all = append(all, a)
	}
	return all, nil
}

// mark writes the worker's id, and the steps to undo.
func (a Admin) mark(id string) error {
	if err := a.write(markerFile, id+"\n"); err != nil || a.Above == 0 {
		return err
	}
	return a.write(aboveFile, strconv.Itoa(a.Above)+"\n")
}

func (a Admin) write(name, content string) error {
	f, err := os.OpenFile(filepath.Join(a.Dir, name), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return fmt.Errorf("mark worktree: %w", err)
	}
	_, err = f.WriteString(content)
	return errors.Join(err, f.Sync(), f.Close())
}

// logLimit bounds a log of HEAD that git can't show.
const logLimit = 64 << 20

// LoggedIn returns the commits in a log of git, one a line.
func LoggedIn(path string) (string, error) {
	log, err := safefile.ReadForeign(path, logLimit)
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	var b strings.Builder
	for line := range strings.Lines(string(log)) {
		before, rest, _ := strings.Cut(line, " ")
		after, _, _ := strings.Cut(rest, " ")
		for _, hash := range []string{before, after} {
			if hash != Zeros(hash) {
				b.WriteString(hash + "\n")
			}
		}
	}
	return b.String(), err
}

// FirstHead returns the commit that was checked out when the worktree was made: the first one
// in the log of its HEAD; empty without that log.
func (a Admin) FirstHead() string {
	log, err := safefile.ReadForeign(filepath.Join(a.Dir, "logs", "HEAD"), logLimit)
	if err != nil {
		return ""
	}
	first, _, _ := strings.Cut(string(log), "\n")
	words := strings.Fields(first)
	if len(words) < 2 || strings.Trim(words[1], "0123456789abcdef") != "" {
		return ""
	}
	return words[1]
}
