package git

import (
	"bytes"
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/swarmhost/swarm/shared/swarm"
)

// File is what a file is, as git writes it: the mode, and the hash of the bytes as they
// are. A link has the hash of its target. A FIFO and an empty directory have only a mode.
type File struct{ Mode, Hash string }

const (
	ModeFile, ModeProgram, ModeLink, ModeModule = "100644", "100755", "120000", "160000"
	// ModePipe and ModeDir are those of a FIFO and of an empty directory in an archive.
	ModePipe, ModeDir = "010000", "040000"
)

// LsTree returns the files of a tree or a commit by their paths.
func (g Git) LsTree(ctx context.Context, tree string) (map[string]File, error) {
	lines, err := g.List(ctx, "ls-tree", "-r", "-z", "--full-tree", tree)
	if err != nil {
		return nil, err
	}
	files := make(map[string]File, len(lines))
	for _, line := range lines {
		what, path, ok := strings.Cut(line, "\t")
		words := strings.Fields(what)
		if !ok || len(words) != 3 {
			return nil, fmt.Errorf("cannot read git ls-tree: %q", line)
		}
		files[path] = File{Mode: words[0], Hash: words[2]}
	}
	return files, nil
}

// Entry is a file in the index.
type Entry struct {
	tag               byte
	Mode, Hash, Stage string
	Path              string
}

// Hidden reports whether the index says to ignore changes of the file. ls-files writes S
// for skip-worktree, and lower case for assume-unchanged.
func (e Entry) Hidden() bool { return e.Skipped() || e.tag >= 'a' && e.tag <= 'z' }

// Skipped reports whether the file is marked skip-worktree.
func (e Entry) Skipped() bool { return e.tag == 'S' || e.tag == 's' }

// Submodule reports whether it is a repository of its own.
func (e Entry) Submodule() bool { return e.Mode == ModeModule }

// LsFiles returns the files in the index.
func (g Git) LsFiles(ctx context.Context) ([]Entry, error) {
	lines, err := g.List(ctx, "ls-files", "-z", "-v", "--stage")
	if err != nil {
		return nil, err
	}
	entries := make([]Entry, 0, len(lines))
	for _, line := range lines {
		what, path, ok := strings.Cut(line, "\t")
		words := strings.Fields(what)
		if !ok || len(words) != 4 || len(words[0]) != 1 {
			return nil, fmt.Errorf("cannot read git ls-files: %q", line)
		}
		entries = append(entries, Entry{tag: words[0][0], Mode: words[1], Hash: words[2], Stage: words[3], Path: path})
	}
	return entries, nil
}

// Changes runs git, which compares two states, and returns the files that differ.
func (g Git) Changes(ctx context.Context, command string, args ...string) ([]swarm.FileChange, error) {
	args = append([]string{command, "-z", "--numstat", "--no-renames", "--no-ext-diff", "--no-textconv", "--ignore-submodules=dirty", "--no-relative", "-O/dev/null"}, args...)
	out, err := g.Run(ctx, append(args, "--")...)
	if err != nil {
		return nil, err
	}
	var files []swarm.FileChange
	for _, line := range Fields(out) {
		words := strings.SplitN(line, "\t", 3)
		if len(words) != 3 {
			return nil, fmt.Errorf("cannot read git %s: %q", command, line)
		}
		c := swarm.FileChange{Path: words[2], Added: -1, Removed: -1}
		if words[0] != "-" {
			c.Added, _ = strconv.Atoi(words[0])
			c.Removed, _ = strconv.Atoi(words[1])
		}
		files = append(files, c)
	}
	return files, nil
}

// LinesLimit is how many bytes of files are read to count their lines.
const LinesLimit = 8 << 20

// Lines returns how many lines a file has, or -1 if it is not text.
func Lines(text []byte) int {
	if bytes.IndexByte(text[:min(len(text), textLimit)], 0) >= 0 {
		return -1
	}
	n := bytes.Count(text, []byte{'\n'})
	if len(text) > 0 && text[len(text)-1] != '\n' {
		n++
	}
	return n
}

// textLimit is how many bytes git looks at to distinguish text from other files.
const textLimit = 8000
