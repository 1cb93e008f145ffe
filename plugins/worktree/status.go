package worktree

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/swarmhost/swarm/shared/swarm"
)

type status struct {
	// lines is how many lines "git status --porcelain" has.
	lines int
	// untracked and ignored are single files; for an untracked repository, and
	// for nothing else, its directory with a slash behind it.
	untracked, ignored []string
	// ignoredDirs are directories whose contents are all ignored, with a slash behind them.
	ignoredDirs []string
}

func readStatus(ctx context.Context, g git) (status, error) {
	var s status
	short, err := g.list(ctx, "status", "--porcelain=v2", "-z", "--ignore-submodules=dirty", "--untracked-files=normal")
	if err != nil {
		return s, err
	}
	if err := eachStatus(short, func(byte, string) { s.lines++ }); err != nil {
		return s, err
	}
	// Untracked directories hide the ignored files in them, unless git lists all.
	full, err := g.list(ctx, "status", "--porcelain=v2", "-z", "--ignore-submodules=dirty", "--untracked-files=all", "--ignored=matching")
	if err != nil {
		return s, err
	}
	err = eachStatus(full, func(kind byte, path string) {
		switch {
		case kind == '?':
			s.untracked = append(s.untracked, path)
		case kind == '!' && strings.HasSuffix(path, "/"):
			s.ignoredDirs = append(s.ignoredDirs, path)
		case kind == '!':
			s.ignored = append(s.ignored, path)
		}
	})
	return s, err
}

// eachStatus calls each for every entry, with the path of those that are
// untracked or ignored.
func eachStatus(entries []string, each func(kind byte, path string)) error {
	for i := 0; i < len(entries); i++ {
		kind, path, ok := strings.Cut(entries[i], " ")
		if !ok || len(kind) != 1 {
			return fmt.Errorf("cannot read git status: %q", entries[i])
		}
		switch kind[0] {
		case '#':
			continue
		case '1', 'u', '?', '!':
		case '2':
			i++ // a rename names two paths
		default:
			return fmt.Errorf("cannot read git status: %q", entries[i])
		}
		each(kind[0], path)
	}
	return nil
}

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
