package worktree

import (
	"context"
	"fmt"
	"strings"
)

// status is the answer of git status.
type status struct {
	// lines is how many lines "git status --porcelain" has.
	lines int
	// untracked and ignored are single files; for an untracked repository, and
	// for nothing else, its directory with a slash behind it.
	untracked, ignored []string
}

func readStatus(ctx context.Context, g git) (status, error) {
	var s status
	short, err := g.list(ctx, "status", "--porcelain=v2", "-z", "--ignore-submodules=none", "--untracked-files=normal")
	if err != nil {
		return s, err
	}
	err = eachStatus(short, func(byte, string) { s.lines++ })
	if err != nil {
		return s, err
	}
	// Untracked directories hide the ignored files in them, unless git lists all.
	full, err := g.list(ctx, "status", "--porcelain=v2", "-z", "--ignore-submodules=none", "--untracked-files=all", "--ignored=matching")
	if err != nil {
		return s, err
	}
	err = eachStatus(full, func(kind byte, path string) {
		switch {
		case kind == '?':
			s.untracked = append(s.untracked, path)
		case kind == '!' && !strings.HasSuffix(path, "/"):
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
