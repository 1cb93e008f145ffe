package dash

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/swarmhost/swarm/shared/environ"
	"github.com/swarmhost/swarm/shared/safetext"
	"github.com/swarmhost/swarm/shared/swarm"
)

// Differ compares workspaces with their beginnings. [host.Host.Workspaces] returns one.
type Differ interface {
	Compare(ctx context.Context, name string, o swarm.DiffOptions) (swarm.WorkspaceRef, swarm.Diff, error)
}

// Changes are what the work in a workspace has changed, as far as a person reads it.
type Changes struct {
	Workspace swarm.WorkspaceRef
	Files     []swarm.FileChange
	// Parts are the differences.
	Parts []DiffPart
	// Cut says that there is more than the parts hold.
	Cut bool
}

// DiffPart is the difference of one file. Its texts are fit for a terminal.
type DiffPart struct {
	// Path is the file's, as the difference names it.
	Path string
	// Notes are what is said of the file as a whole, such as "new file".
	Notes          []string
	Added, Removed int
	Lines          []DiffLine
	// plain says that the difference names files without a prefix, and named that the path
	// is known for sure.
	plain, named bool
}

// DiffLine is a line of a difference.
type DiffLine struct {
	Kind DiffKind
	// Number is that of the line in its file, in the old one if it was removed; 0: none.
	Number int
	Text   string
}

// DiffKind says what a line of a difference is.
type DiffKind int

// The kinds of lines.
const (
	// DiffSame is a line that did not change.
	DiffSame DiffKind = iota
	DiffAdded
	DiffRemoved
	// DiffPlace says where in the file the lines below it are.
	DiffPlace
	// DiffRemark is about the line above it.
	DiffRemark
)

const (
	// diffBytes, diffLines and diffLine bound what is read of a difference: its bytes, its
	// lines, and the bytes of each line.
	diffBytes, diffLines, diffLine = 4 << 20, 4000, 1000
	// diffNotes is how many notes a file has at most.
	diffNotes = 20
	// diffLimit is how long a difference may take.
	diffLimit = 30 * time.Second
)

// Diff returns what the workspace of a worker has changed.
func Diff(ctx context.Context, from Differ, id string) (Changes, error) {
	ctx, cancel := context.WithTimeout(ctx, diffLimit)
	defer cancel()
	ref, diff, err := from.Compare(ctx, id, swarm.DiffOptions{})
	if err != nil {
		return Changes{}, err
	}
	c := Changes{Workspace: ref, Files: diff.Files}
	if len(diff.Files) == 0 || len(diff.Command) == 0 {
		return c, nil
	}
	err = c.read(ctx, diff)
	return c, err
}

func (c *Changes) read(ctx context.Context, diff swarm.Diff) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	cmd := exec.CommandContext(ctx, diff.Command[0], diff.Command[1:]...)
	cmd.Env = usualPrefixes(append(environ.Unset(os.Environ(), diff.Unset...), diff.Env...))
	cmd.WaitDelay = time.Second
	said := &head{}
	cmd.Stderr = said
	out, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("cannot compare the workspace: %w", err)
	}
	c.Parts, c.Cut, err = parseDiff(out)
	if c.Cut {
		cancel() // the rest is not read
	}
	if werr := cmd.Wait(); !c.Cut && err == nil && werr != nil {
		err = said.reason(werr)
	}
	if err != nil {
		return fmt.Errorf("cannot compare the workspace: %w", err)
	}
	return nil
}

// usualPrefixes adds settings of git to an environment: whatever the user has configured, the
// two names of a file begin with a/ and b/.
func usualPrefixes(env []string) []string {
	n := 0
	for _, entry := range env {
		if text, ok := strings.CutPrefix(entry, "GIT_CONFIG_COUNT="); ok {
			n, _ = strconv.Atoi(text) // the last one counts
		}
	}
	for _, setting := range [][2]string{
		{"diff.noprefix", "false"}, {"diff.mnemonicPrefix", "false"}, {"diff.srcPrefix", "a/"}, {"diff.dstPrefix", "b/"},
	} {
		env = append(env, fmt.Sprintf("GIT_CONFIG_KEY_%d=%s", n, setting[0]), fmt.Sprintf("GIT_CONFIG_VALUE_%d=%s", n, setting[1]))
		n++
	}
	return append(env, fmt.Sprintf("GIT_CONFIG_COUNT=%d", n))
}

// head keeps the beginning of what a command writes on its standard error.
type head struct{ text []byte }

func (b *head) Write(p []byte) (int, error) {
	const limit = 4 << 10
	b.text = append(b.text, p[:min(len(p), limit-len(b.text))]...)
	return len(p), nil
}

// reason returns an error of the command with what the command said about it: git begins the
// line that matters with a word of its own, and hints follow.
func (b *head) reason(err error) error {
	text := ""
	for line := range strings.Lines(string(b.text)) {
		line = strings.TrimSpace(line)
		what, rest, ok := strings.Cut(line, ": ")
		if ok && (what == "fatal" || what == "error") {
			text = rest
			break
		}
		text = cmp.Or(text, line)
	}
	if text == "" {
		return err
	}
	return fmt.Errorf("%s (%w)", safetext.Line(text), err)
}

// parseDiff reads a difference in the unified format of git. cut says that it has more than
// was read.
func parseDiff(out io.Reader) (parts []DiffPart, cut bool, err error) {
	limited := &io.LimitedReader{R: out, N: diffBytes}
	lines := bufio.NewReaderSize(limited, 64<<10)
	p := diffParser{}
	for n := 0; ; n++ {
		line, err := boundedLine(lines)
		if errors.Is(err, io.EOF) && len(line) == 0 {
			break
		}
		if err != nil && !errors.Is(err, io.EOF) {
			return p.parts, false, err
		}
		if n == diffLines {
			return p.parts, true, nil
		}
		p.line(line)
	}
	return p.parts, limited.N <= 0, nil
}

// boundedLine reads a line without its end, and skips what is too long of it.
func boundedLine(r *bufio.Reader) (string, error) {
	var text []byte
	for {
		piece, err := r.ReadSlice('\n')
		if space := diffLine - len(text); space > 0 {
			text = append(text, piece[:min(space, len(piece))]...)
		}
		if errors.Is(err, bufio.ErrBufferFull) {
			continue
		}
		return strings.TrimSuffix(string(text), "\n"), err
	}
}

type diffParser struct {
	parts []DiffPart
	// old and now are how many lines of the two files the present hunk still has, and
	// oldAt and nowAt the numbers of the next ones.
	old, now, oldAt, nowAt int
	// painted says that git is configured to use colours even where no terminal reads them.
	painted bool
}

var hunk = regexp.MustCompile(`^@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@`)

var colours = regexp.MustCompile("\x1b\\[[0-9;]*[mK]")

func (p *diffParser) line(line string) {
	if p.painted = p.painted || len(p.parts) == 0 && strings.HasPrefix(line, "\x1b["); p.painted {
		line = colours.ReplaceAllString(line, "")
	}
	if line != "" && !strings.Contains(` +-\`, line[:1]) {
		p.old, p.now = 0, 0 // no line of a hunk begins so
	}
	if strings.HasPrefix(line, "diff ") {
		p.parts = append(p.parts, partOf(line))
		return
	}
	if len(p.parts) == 0 {
		p.parts = append(p.parts, DiffPart{})
	}
	part := &p.parts[len(p.parts)-1]
	switch {
	case p.old > 0 || p.now > 0:
		p.inHunk(part, line)
	case strings.HasPrefix(line, "@@"):
		p.begin(line)
		part.Lines = append(part.Lines, DiffLine{Kind: DiffPlace, Text: safetext.Line(line)})
	case strings.HasPrefix(line, `\`):
		part.Lines = append(part.Lines, DiffLine{Kind: DiffRemark, Text: safetext.Line(strings.TrimSpace(line[1:]))})
	default:
		part.note(line)
	}
}

func (p *diffParser) begin(head string) {
	m := hunk.FindStringSubmatch(head)
	if m == nil {
		return
	}
	count := func(text string) int {
		if text == "" {
			return 1
		}
		n, _ := strconv.Atoi(text)
		return n
	}
	p.oldAt, p.old, p.nowAt, p.now = count(m[1]), count(m[2]), count(m[3]), count(m[4])
}

func (p *diffParser) inHunk(part *DiffPart, line string) {
	l := DiffLine{}
	kind := byte(' ')
	if line != "" {
		kind = line[0]
		l.Text = shown([]byte(safetext.Block(line[1:])))
	}
	switch kind {
	case '+':
		l.Kind, l.Number = DiffAdded, p.nowAt
		p.nowAt, p.now, part.Added = p.nowAt+1, p.now-1, part.Added+1
	case '-':
		l.Kind, l.Number = DiffRemoved, p.oldAt
		p.oldAt, p.old, part.Removed = p.oldAt+1, p.old-1, part.Removed+1
	case '\\':
		l.Kind, l.Text = DiffRemark, strings.TrimSpace(l.Text)
	default:
		l.Number = p.nowAt
		p.nowAt, p.now, p.oldAt, p.old = p.nowAt+1, p.now-1, p.oldAt+1, p.old-1
	}
	part.Lines = append(part.Lines, l)
}

func (part *DiffPart) note(line string) {
	for _, prefix := range []string{"rename to ", "copy to "} {
		if path, ok := strings.CutPrefix(line, prefix); ok {
			part.Path, part.named = safetext.Line(unquoted(path)), true
			return
		}
	}
	for _, prefix := range []string{"+++ ", "--- "} {
		if path, ok := strings.CutPrefix(line, prefix); ok {
			if path = strings.TrimSuffix(path, "\t"); path != os.DevNull && !part.named {
				part.Path = pathOf(path, part.plain)
			}
			return
		}
	}
	switch {
	case line == "" || len(part.Notes) == diffNotes || strings.HasPrefix(line, "index ") || strings.HasPrefix(line, "similarity "):
		return
	case strings.HasPrefix(line, "Binary files "):
		line = "binary file"
	case strings.HasPrefix(line, "new file mode "), strings.HasPrefix(line, "deleted file mode "):
		line, _, _ = strings.Cut(line, " mode ")
	}
	part.Notes = append(part.Notes, safetext.Line(line))
}

// partOf begins the part of a file with the first line about it. It names the file twice, with
// nothing but a space between, unless the file was renamed: then a later line names it.
func partOf(line string) DiffPart {
	names := strings.TrimPrefix(strings.TrimPrefix(line, "diff "), "--git ")
	if half := len(names) / 2; len(names)%2 == 1 && names[half] == ' ' {
		before, now := names[:half], names[half+1:]
		if before == now {
			// With prefixes, which git can be configured to leave out, they would differ.
			return DiffPart{Path: pathOf(now, true), plain: true}
		}
		if pathOf(before, false) == pathOf(now, false) {
			return DiffPart{Path: pathOf(before, false)}
		}
	}
	return DiffPart{Path: pathOf(names[strings.LastIndexByte(names, ' ')+1:], false)}
}

// pathOf returns a path without git's prefix, if it has one.
func pathOf(name string, plain bool) string {
	name = unquoted(name)
	if !plain && len(name) > 2 && name[1] == '/' && strings.IndexByte("abciow12", name[0]) >= 0 {
		name = name[2:]
	}
	return safetext.Line(name)
}

func unquoted(name string) string {
	if text, err := strconv.Unquote(name); err == nil && strings.HasPrefix(name, `"`) {
		return text
	}
	return name
}
