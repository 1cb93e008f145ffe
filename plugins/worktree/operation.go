package worktree

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/swarmhost/swarm/shared/swarm"
)

// operations are the files in an administrative directory that show an unfinished
// operation, see gitrepository-layout(5) and git-status's wt-status.c.
var operations = []struct{ file, name string }{
	{"rebase-apply/applying", "git am"},
	{"rebase-apply", "a rebase"},
	{"rebase-merge", "a rebase"},
	{"MERGE_HEAD", "a merge"},
	{"CHERRY_PICK_HEAD", "a cherry-pick"},
	{"REVERT_HEAD", "a revert"},
	{"sequencer", "a cherry-pick or revert"},
	{"BISECT_LOG", "a bisect"},
	{"NOTES_MERGE_PARTIAL", "a merge of notes"},
	{"index.lock", "a git command"},
	{"HEAD.lock", "a git command"},
}

// operation reports the unfinished operation.
func (t *tree) operation(context.Context) (*swarm.Kept, error) {
	return operationIn(t.admin.dir, "%s is in progress")
}

func operationIn(gitDir, format string) (*swarm.Kept, error) {
	for _, o := range operations {
		_, err := os.Lstat(filepath.Join(gitDir, o.file))
		if err == nil {
			return keep(format, o.name), nil
		}
		if !errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
	}
	return nil, nil
}
