package integration

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"github.com/rogpeppe/go-internal/diff"

	"github.com/swarmhost/swarm/cmd/internal/jsonc"
	"github.com/swarmhost/swarm/shared/safefile"
)

// maxFile bounds the files that are edited. Claude Code keeps much in its own.
const maxFile = 64 << 20

// Setup is what an integration is made with.
type Setup struct {
	// Getenv returns a variable of the user's environment.
	Getenv func(string) string
	// Environ are the names of all of them.
	Environ []string
	// Swarm is the absolute path of swarm that the client's files get.
	Swarm string
	// Skill is the skill's text.
	Skill string
	// Pass are the variables that workers need: names, or the beginnings of names
	// with a "*".
	Pass []string
	// ConfigFile is the path of the user's config file of swarm; empty if no directory for
	// it is known.
	ConfigFile string
	// AllowTools says that the client need not ask before it uses Tools, tools of swarm that
	// start and end nothing but the agent itself.
	AllowTools bool
	Tools      []string
	// Answers says whether the hooks of questions wait for an answer by swarm; nil: as they are.
	Answers *bool
	// Remove says to undo the integration.
	Remove bool
	// Notes are what earlier integrations have done.
	Notes Notes
}

// Change is one thing to do: a file to write or to remove, or a command to run.
type Change struct {
	// Path is the file; if it is a link, the one that the link leads to.
	Path string
	// Before and After are its texts. Existed and Exists say whether there is a file.
	Before, After   string
	Existed, Exists bool
	// Command is the client's own, which changes its file itself.
	Command []string

	edits []jsonc.Edit
	mode  fs.FileMode
}

// Empty reports whether there is nothing to do.
func (c *Change) Empty() bool {
	return c.Command == nil && c.Existed == c.Exists && c.Before == c.After
}

// Diff returns the change of a file as a unified diff.
func (c *Change) Diff() string {
	from, to := c.Path, c.Path
	if !c.Existed {
		from = "/dev/null"
	}
	if !c.Exists {
		to = "/dev/null"
	}
	header := fmt.Sprintf("--- %s\n+++ %s\n", from, to)
	// The library's header has a line more, and is missing if only the existence changes.
	_, hunks, _ := strings.Cut(string(diff.Diff(from, []byte(c.Before), to, []byte(c.After))), header)
	return header + hunks
}

// Changes returns what has to be done to integrate swarm into the client, or to undo
// that. It changes nothing.
func (c *Client) Changes(s Setup) ([]Change, error) {
	changes, err := c.changes(c, s)
	return slices.DeleteFunc(changes, func(c Change) bool { return c.Empty() }), err
}

// plan collects changes, and the first error among them.
type plan struct {
	changes []Change
	err     error
}

func (p *plan) add(c Change, err error) {
	p.changes = append(p.changes, c)
	p.err = cmp.Or(p.err, err)
}

// Notes record the changes of files by path, so that they can be undone to the byte.
type Notes map[string]Note

// Note records the change of one file.
type Note struct {
	// Sum is the hash of the file afterwards.
	Sum string `json:"sha256"`
	// Created says that the file was not there before.
	Created bool         `json:"created,omitempty"`
	Edits   []jsonc.Edit `json:"edits,omitempty"`
}

// ReadNotes reads notes from a file. A file that is missing or damaged holds no notes: they
// are only needed to undo changes to the byte.
func ReadNotes(path string) (Notes, error) {
	b, err := safefile.Read(path, maxFile)
	notes := Notes{}
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return notes, nil
	case err != nil:
		return notes, err
	}
	if json.Unmarshal(b, &notes) != nil || notes == nil {
		return Notes{}, nil //nolint:nilerr // unreadable notes are ignored
	}
	return notes, nil
}

// Write writes the notes to a file. It removes the file if the notes are empty.
func (n Notes) Write(path string) error {
	if len(n) == 0 {
		if err := os.Remove(path); !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		return nil
	}
	b, err := json.MarshalIndent(n, "", "  ")
	if err == nil {
		err = os.MkdirAll(filepath.Dir(path), 0o700)
	}
	if err != nil {
		return err
	}
	return safefile.Replace(path, append(b, '\n'), 0o600)
}

func (n Notes) take(c Change, remove bool) {
	if remove || !c.Exists {
		delete(n, c.Path)
		return
	}
	note := Note{Sum: sum(c.After), Created: !c.Existed || n[c.Path].Created, Edits: c.edits}
	if before := n[c.Path]; before.Sum == sum(c.Before) {
		note.Edits = append(slices.Clone(before.Edits), c.edits...)
	}
	n[c.Path] = note
}

func sum(text string) string { return fmt.Sprintf("%x", sha256.Sum256([]byte(text))) }

// Apply makes a change and takes it down in the notes. A file that is not as the change
// found it is left alone.
func (s Setup) Apply(ctx context.Context, c Change) error {
	if c.Command != nil {
		cmd := exec.CommandContext(ctx, c.Command[0], c.Command[1:]...)
		if out, err := cmd.CombinedOutput(); err != nil {
			return fmt.Errorf("'%s': %w: %s", strings.Join(c.Command, " "), err, strings.TrimSpace(string(out)))
		}
		return nil
	}
	now, err := readChange(c.Path)
	if err == nil && (now.Existed != c.Existed || now.Before != c.Before) {
		err = fmt.Errorf("%s has changed meanwhile: try again", c.Path)
	}
	if err != nil {
		return err
	}
	if c.Exists {
		if err = os.MkdirAll(filepath.Dir(c.Path), 0o700); err == nil {
			err = safefile.Replace(c.Path, []byte(c.After), c.mode)
		}
	} else {
		err = os.Remove(c.Path)
		// Directories that it leaves empty are removed as well, except the client's own.
		for dir := filepath.Dir(c.Path); err == nil && slices.Contains([]string{"swarm", "skills", "plugins", "policies"}, filepath.Base(dir)); dir = filepath.Dir(dir) {
			if os.Remove(dir) != nil {
				break
			}
		}
	}
	if err == nil {
		s.Notes.take(c, s.Remove)
	}
	return err
}

// readChange returns a change of a file that changes nothing yet. Links are followed: the
// file stays where a manager of dotfiles has put it. It must be the user's own.
func readChange(path string) (Change, error) {
	c := Change{Path: path}
	real, err := filepath.EvalSymlinks(path)
	if err == nil {
		c.Path = real
	} else if _, lerr := os.Lstat(path); lerr == nil {
		return c, fmt.Errorf("%s: this link can't be followed: %w", path, err)
	}
	if err := checkOwner(c.Path); err != nil {
		return c, err
	}
	b, err := safefile.Read(c.Path, maxFile)
	if errors.Is(err, fs.ErrNotExist) {
		c.mode = 0o600
		return c, nil
	}
	if err != nil {
		return c, err
	}
	info, err := os.Lstat(c.Path)
	if err != nil {
		return c, err
	}
	c.Existed, c.Exists, c.mode = true, true, info.Mode().Perm()
	c.Before, c.After = string(b), string(b)
	return c, nil
}

// checkOwner refuses a file of another user, or a place in a directory of one, such as
// root's call with the home of the user who called sudo.
func checkOwner(path string) error {
	for at := path; ; at = filepath.Dir(at) {
		info, err := os.Lstat(at)
		if errors.Is(err, fs.ErrNotExist) && at != filepath.Dir(at) {
			continue
		}
		if err != nil {
			return err
		}
		if st, ok := info.Sys().(*syscall.Stat_t); ok && int(st.Uid) != os.Geteuid() {
			return fmt.Errorf("%s is not edited: %s is owned by uid %d, not by you", path, at, st.Uid)
		}
		if info.IsDir() {
			return nil
		}
	}
}

// edited returns the change of a text to which add adds swarm, and from which remove
// removes it. A text that has not changed since the last integration is first restored
// to the byte.
func (s Setup) edited(path string, add, remove func(d *jsonc.Document) error) (Change, error) {
	c, err := readChange(path)
	if err != nil {
		return c, err
	}
	d := jsonc.Document{Text: c.Before}
	edit := add
	note, noted := s.Notes[c.Path]
	if s.Remove {
		if !c.Existed {
			return c, nil
		}
		edit = remove
		if noted && note.Sum == sum(c.Before) {
			for _, e := range slices.Backward(note.Edits) {
				var ok bool
				if d.Text, ok = e.Undo(d.Text); !ok {
					d.Text = c.Before
					break
				}
			}
		}
	}
	if err := edit(&d); err != nil {
		if _, ok := errors.AsType[*jsonc.SyntaxError](err); ok {
			return c, fmt.Errorf("%s:%w", c.Path, err)
		}
		return c, fmt.Errorf("%s: %w", c.Path, err)
	}
	c.After, c.edits = d.Text, d.Edits
	c.Exists = c.Existed || !s.Remove
	if s.Remove && note.Created {
		left := strings.TrimSpace(c.After)
		c.Exists = left != "" && left != "{}"
	}
	return c, nil
}

// whole returns the change of a file that is swarm's alone; ours reports whether a text
// is swarm's.
func (s Setup) whole(path, text string, ours func(string) bool) (Change, error) {
	c, err := readChange(path)
	foreign := c.Existed && !ours(c.Before)
	switch {
	case err != nil || foreign && s.Remove:
	case foreign:
		err = fmt.Errorf("%s exists and is not swarm's: move it away first", c.Path)
	case s.Remove:
		c.After, c.Exists = "", false
	default:
		c.After, c.Exists = text, true
	}
	return c, err
}
