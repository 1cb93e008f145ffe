package statedir

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"

	"github.com/swarmhost/swarm/shared/safefile"
	"github.com/swarmhost/swarm/shared/swarm"
)

// rescuesFile lists what workspaces were made of whose work was saved, one a line: the path, the
// host and the plugin, each of them quoted. It outlives the records of the workers.
const rescuesFile = "rescues"

// Repository is what workspaces are made of.
type Repository struct {
	// Base and Host are as in [swarm.WorkspaceRef].
	Base, Host string
	// Plugin is the one that makes workspaces of it: on another machine a backend. Empty: the
	// host's default one.
	Plugin string
}

func (r Repository) String() string { return swarm.OnHost(r.Host, r.Base) }

func (r Repository) line() string {
	return strconv.Quote(r.Base) + " " + strconv.Quote(r.Host) + " " + strconv.Quote(r.Plugin) + "\n"
}

func parseRepository(line string) (Repository, bool) {
	var words []string
	for rest := strings.TrimSpace(line); rest != ""; rest = strings.TrimLeft(rest, " ") {
		quoted, err := strconv.QuotedPrefix(rest)
		if err != nil {
			return Repository{}, false
		}
		word, err := strconv.Unquote(quoted)
		if err != nil {
			return Repository{}, false
		}
		words, rest = append(words, word), rest[len(quoted):]
	}
	if len(words) != 3 || !filepath.IsAbs(words[0]) {
		return Repository{}, false
	}
	return Repository{Base: words[0], Host: words[1], Plugin: words[2]}, true
}

// rescuesLimit bounds what is read of the list.
const rescuesLimit = 1 << 20

// RescueBases returns the repositories in which work was saved. A list that can't be read
// is empty: the repositories themselves hold the work.
func (d Dir) RescueBases() []Repository {
	text, err := safefile.Read(filepath.Join(string(d), rescuesFile), rescuesLimit)
	if err != nil {
		return nil
	}
	var bases []Repository
	for line := range strings.Lines(string(text)) {
		if r, ok := parseRepository(line); ok && !slices.Contains(bases, r) {
			bases = append(bases, r)
		}
	}
	return bases
}

// NoteRescueBase adds a repository to the list.
func (d Dir) NoteRescueBase(r Repository) error {
	if slices.Contains(d.RescueBases(), r) {
		return nil
	}
	// One write at the end of the file: two calls at once leave two whole lines.
	path := filepath.Join(string(d), rescuesFile)
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_APPEND|syscall.O_NOFOLLOW|syscall.O_NONBLOCK, 0o600)
	if err != nil {
		return err
	}
	line := r.line()
	if text, rerr := safefile.Read(path, rescuesLimit); rerr == nil && len(text) > 0 && text[len(text)-1] != '\n' {
		line = "\n" + line // a crash of the machine cut the last one off
	}
	_, err = f.WriteString(line)
	err = errors.Join(err, f.Sync(), f.Close())
	if err != nil {
		return err
	}
	// The list may be new: the saved work is found by it once the worker is cleaned.
	dir, err := safefile.OpenDir(string(d))
	if err != nil {
		return err
	}
	return errors.Join(dir.Sync(), dir.Close())
}
