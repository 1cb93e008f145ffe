package repo

import (
	"errors"
	"io/fs"
	"path/filepath"
	"strings"

	"github.com/swarmhost/swarm/shared/safefile"
)

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
