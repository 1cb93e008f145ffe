package git

import (
	"context"
	"fmt"
	"strings"
)

// Status is what "git status" says of a working tree.
type Status struct {
	// Lines is how many lines "git status --porcelain" has.
	Lines int
	// Untracked and Ignored are single files; for an untracked repository, and
	// for nothing else, its directory with a slash behind it.
	Untracked, Ignored []string
	// IgnoredDirs are directories whose contents are all ignored, with a slash behind them.
	IgnoredDirs []string
}

// Status reads the status of the working tree.
func (g Git) Status(ctx context.Context) (Status, error) {
	var s Status
	short, err := g.List(ctx, "status", "--porcelain=v2", "-z", "--ignore-submodules=dirty", "--untracked-files=normal")
	if err != nil {
		return s, err
	}
	if err := eachStatus(short, func(byte, string) { s.Lines++ }); err != nil {
		return s, err
	}
	// Untracked directories hide the ignored files in them, unless git lists all.
	full, err := g.List(ctx, "status", "--porcelain=v2", "-z", "--ignore-submodules=dirty", "--untracked-files=all", "--ignored=matching")
	if err != nil {
		return s, err
	}
	err = eachStatus(full, func(kind byte, path string) {
		switch {
		case kind == '?':
			s.Untracked = append(s.Untracked, path)
		case kind == '!' && strings.HasSuffix(path, "/"):
			s.IgnoredDirs = append(s.IgnoredDirs, path)
		case kind == '!':
			s.Ignored = append(s.Ignored, path)
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
