package repo

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"

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
		if !filepath.IsAbs(dotGit) {
			dotGit = filepath.Join(a.Dir, dotGit)
		}
		a.Worktree = filepath.Dir(dotGit)
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
