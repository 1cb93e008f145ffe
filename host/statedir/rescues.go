package statedir

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/swarmhost/swarm/shared/safefile"
)

// rescuesFile lists the repositories in which work of removed workspaces was saved, one
// quoted path a line. It outlives the records of the workers.
const rescuesFile = "rescues"

// rescuesLimit bounds what is read of the list.
const rescuesLimit = 1 << 20

// RescueBases returns the repositories in which work was saved. A list that can't be read
// is empty: the repositories themselves hold the work.
func (d Dir) RescueBases() []string {
	text, err := safefile.Read(filepath.Join(string(d), rescuesFile), rescuesLimit)
	if err != nil {
		return nil
	}
	var bases []string
	for line := range strings.Lines(string(text)) {
		base, err := strconv.Unquote(strings.TrimSuffix(line, "\n"))
		if err == nil && filepath.IsAbs(base) && !slices.Contains(bases, base) {
			bases = append(bases, base)
		}
	}
	return bases
}

// NoteRescueBase adds a repository to the list.
func (d Dir) NoteRescueBase(base string) error {
	if slices.Contains(d.RescueBases(), base) {
		return nil
	}
	// One write at the end of the file: two calls at once leave two whole lines.
	f, err := os.OpenFile(filepath.Join(string(d), rescuesFile), os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		return err
	}
	_, err = f.WriteString(strconv.Quote(base) + "\n")
	return errors.Join(err, f.Close())
}
