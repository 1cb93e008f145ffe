package profile

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/swarmhost/swarm/shared/lazyregexp"
)

// Dialog is the whole of what a blocked agent asks: everything in the dialog's own frame at
// the bottom of the screen, and nothing of what is printed above it.
type Dialog struct {
	// Lines are the lines of the dialog down to its last choice, without the frame around
	// them; nil if no dialog is known. Text are those above its choices.
	Lines, Text []string
	// Command are the lines of the command that it asks about, as the screen shows them, or
	// those of the tool's input; nil: it asks about no command, or that is not known. A screen
	// does not show whether a line ends with a new line of the command or at its own edge.
	Command []string
	// Shell reports whether Command is a command of a shell, and not a plan or the input of
	// another tool.
	Shell bool
	// Framed reports whether the place of the dialog is certain: the agent's profile says how
	// its dialogs are framed, and this one is whole.
	Framed bool
	// Cut reports whether the dialog may begin above the screen: Lines lacks its beginning
	// then.
	Cut bool
	// Digest identifies the dialog. It changes with the question, the command and the
	// choices, and is the same whatever is selected, and whatever a spinner or a tip shows.
	// Empty: no dialog is known.
	Digest string
}

// dialogShape says how an agent frames its dialogs. Its zero value: it is not known.
type dialogShape struct {
	// top matches the line above a dialog. No line of a dialog itself can match it.
	top *regexp.Regexp
	// inside matches each line of a dialog above its menu, and head its first line. Several
	// lines may match head: what a dialog asks about may look like another dialog, so the
	// highest one counts.
	inside, head *regexp.Regexp
	// box matches the upper edge of a dialog that is drawn over the conversation, parts of
	// which are next to it.
	box *regexp.Regexp
	// volatile match lines that change while the dialog stays, such as tips.
	volatile []*regexp.Regexp
	// declined match the lines by which the agent shows that a dialog was closed without an
	// answer.
	declined []*regexp.Regexp
}

// Declined returns how many lines of a screen say that a dialog was closed without an answer.
func (p *Profile) Declined(s Screen) int {
	n := 0
	for _, line := range s.Text() {
		if matchesAny(p.dialog.declined, line) {
			n++
		}
	}
	return n
}

func (d *dialogShape) isZero() bool { return d.top == nil && d.inside == nil }

// between is a part of a dialog: it begins below the first line that matches from, or with
// the group of from if that has one, and ends above the last line that matches to.
type between struct {
	from, to *regexp.Regexp // to is nil: to the menu
}

// frame is the place of a dialog on the screen, in indexes of lines.
type frame struct {
	// top is its first line, menu the first row of its choices and end the line below the
	// last one.
	top, menu, end int
	// rows is the pattern of a choice; nil: the choices are not rows.
	rows *regexp.Regexp
	cut  bool
}

// unframedTop is the line above a dialog of an agent whose frames are not known.
var unframedTop = lazyregexp.New(`^[╭┌]?[─▔━]{10,}`)

// frame returns the place of the dialog whose choices are in the rows from menu to last.
// This function alone decides what belongs to a dialog: its question, command, choices and
// digest are read from nowhere else.
func (r *rule) frame(lines []string, shape *dialogShape, menu, last int) frame {
	f := frame{menu: menu, rows: r.choice}
	switch {
	case shape.inside != nil:
		f.top, f.cut = shape.highest(lines[:menu])
	case shape.top != nil:
		at := lastIndex(lines[:menu], shape.top)
		f.top, f.cut = at+1, at < 0
	default:
		f.top = lastIndex(lines[:menu], unframedTop()) + 1
	}
	f.end = min(last+1, len(lines))
	for f.end < len(lines) && r.continues(lines[f.end]) { // the rest of the last choice
		f.end++
	}
	return f
}

// highest returns the first line of a dialog that reaches down to the end of lines.
func (d *dialogShape) highest(lines []string) (top int, cut bool) {
	top = len(lines)
	for top > 0 && d.inside.MatchString(lines[top-1]) {
		top--
	}
	if d.head != nil {
		if at := slices.IndexFunc(lines[top:], d.head.MatchString); at >= 0 {
			return top + at, false
		}
	}
	return top, top == 0
}

// continues reports whether a line below the last choice is a part of that.
func (r *rule) continues(line string) bool {
	return r.choice != nil && strings.HasPrefix(line, "   ") && unboxed(line) != "" && bare(line) != "" && !matchesAny(r.footer, line)
}

// read returns the question of a dialog, on one line, and the dialog.
func (r *rule) read(lines []string, f frame, shape *dialogShape) (string, Dialog) {
	first, end, starts := r.commandIn(lines, f)
	d := Dialog{Cut: f.cut, Framed: !shape.isZero() && !f.cut, Lines: unframed(lines[f.top:f.end], first-f.top, end-f.top)}
	d.Text = unframed(lines[f.top:f.menu], first-f.top, end-f.top)
	d.Digest = r.digest(lines, f, first, end, shape)
	above := slices.Concat(lines[f.top:first], lines[end:f.menu])
	if r.choice == nil {
		above = append(above, lines[f.menu:f.end]...) // the question may be next to the choices
	}
	var parts []string
	for _, p := range r.question {
		if at := lastIndex(above, p); at >= 0 {
			parts = append(parts, groupOrAll(p, above[at]))
		}
	}
	for _, p := range r.title {
		if first < end {
			break
		}
		if at := slices.IndexFunc(above, p.MatchString); at >= 0 {
			parts = append(parts, groupOrAll(p, above[at]))
		}
	}
	question := strings.Join(parts, " ")
	if question == "" && r.choice != nil {
		if at := lastIndex(above, questionLine()); at >= 0 {
			question = bare(above[at])
		}
		for i := 0; i < len(above) && question == ""; i++ {
			question = bare(above[i])
		}
	}
	var command []string
	for i, line := range lines[first:end] {
		if line = unboxed(line); i == 0 && starts != "" {
			line = starts
		}
		if line != "" {
			command = append(command, line)
		}
	}
	d.Command = command
	d.Shell = len(command) > 0 && (strings.HasSuffix(r.name, "command") || strings.HasPrefix(unboxed(lines[first]), "$ "))
	question = summary(question, command)
	if f.cut && len(r.command) > 0 {
		question += " (cut: the dialog begins above the screen)"
	}
	return question, d
}

// groupOrAll returns what a pattern is for: its group, or the text that it matches.
func groupOrAll(p *regexp.Regexp, line string) string {
	m := p.FindStringSubmatch(line)
	return bare(m[len(m)-1])
}

// commandIn returns the range of the lines of the command in a dialog, which is empty if it
// has none. starts is the command's part of its first line; empty: all of it. If it is not clear where the command begins or ends, the range is the larger
// one: what a person approves must be in it.
func (r *rule) commandIn(lines []string, f frame) (first, end int, starts string) {
	inner := lines[f.top:f.menu]
	for _, b := range r.command {
		from := slices.IndexFunc(inner, b.from.MatchString)
		to := len(inner)
		if b.to != nil {
			if at := lastIndex(inner, b.to); at >= 0 {
				to = at
			}
		}
		starts = ""
		switch {
		case from < 0 && !f.cut:
			continue
		case from < 0, from == to: // its first line is above the screen
			from = 0
			if !f.cut {
				from, to = to+1, len(inner)
			}
		case b.from.NumSubexp() == 0:
			from++
		default:
			starts = groupOrAll(b.from, inner[from])
		}
		for from < to && unboxed(inner[from]) == "" {
			from++
		}
		for from < to && unboxed(inner[to-1]) == "" {
			to--
		}
		if from < to {
			return f.top + from, f.top + to, starts
		}
	}
	return f.menu, f.menu, ""
}

// digest returns the identity of a dialog whose command is in the lines from first to end.
func (r *rule) digest(lines []string, f frame, first, end int, shape *dialogShape) string {
	h := sha256.New()
	width := 0
	for _, line := range lines {
		width = max(width, utf8.RuneCountInString(line))
	}
	wrapped := false // the line before was a tip, which continues in the next line
	for i := f.top; i < f.end; i++ {
		line := lines[i]
		command := i >= first && i < end
		switch {
		case command:
			wrapped = false
		case matchesAny(shape.volatile, line), wrapped && bare(line) != "":
			word, _, _ := strings.Cut(strings.TrimSpace(at(lines, i+1)), " ")
			wrapped = utf8.RuneCountInString(line)+1+utf8.RuneCountInString(word) > width && !strings.HasPrefix(word, "╌")
			continue
		default:
			wrapped = false
			line = r.steady(line, f.rows != nil && i >= f.menu)
		}
		if line != "" || command {
			fmt.Fprintf(h, "%t %s\n", command, line)
		}
	}
	return hex.EncodeToString(h.Sum(nil)[:16])
}

func at(lines []string, i int) string {
	if i >= len(lines) {
		return ""
	}
	return lines[i]
}

// spinner are the characters of an animation at the beginning of a line.
const spinner = "⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏⠁⠂⠄⡀⢀⠠⠐⠈✢✳✶✻✽◐◓◑◒"

// steady returns a line without what changes while a dialog stays: a spinner, and in a row
// of the menu the mark of the selection and whether its box is checked.
func (r *rule) steady(line string, row bool) string {
	if row {
		for _, p := range []*regexp.Regexp{r.submitRow, r.choice} {
			if p == nil {
				continue
			}
			m := p.FindStringSubmatchIndex(line)
			if m == nil {
				continue
			}
			for _, name := range []string{"box", "selected"} { // the box is behind the mark
				if i := 2 * p.SubexpIndex(name); i > 0 && m[i] >= 0 {
					line = line[:m[i]] + " " + line[m[i+1]:]
				}
			}
			break
		}
		return strings.Join(strings.Fields(line), " ")
	}
	return strings.TrimLeft(strings.TrimLeft(line, " "), spinner)
}

// maxQuestion is how many characters of a question there are on one line.
const maxQuestion = 2000

// summary returns a question and a command on one line. It says how many lines of a very
// long command are missing.
func summary(question string, command []string) string {
	text := []rune(question)
	cut := func(lines int) string {
		more := ""
		if lines > 0 {
			more = fmt.Sprintf(" (%d more lines)", lines)
		}
		return string(text[:maxQuestion]) + "…" + more
	}
	for i, line := range command {
		switch {
		case i > 0:
			text = append(text, []rune(" ⏎ ")...)
		case len(text) > 0:
			text = append(text, ' ')
		}
		text = append(text, []rune(line)...)
		if len(text) > maxQuestion {
			return cut(len(command) - i - 1)
		}
	}
	if len(text) > maxQuestion {
		return cut(0)
	}
	return string(text)
}

// walls are the characters of a frame at the sides of a line.
const walls = "│┃║"

// unboxed returns a line without the sides of frames around it. A line that is only the
// upper or the lower edge of a frame is empty.
func unboxed(line string) string {
	line = strings.TrimSpace(line)
	for line != "" {
		inner := strings.TrimSpace(strings.Trim(line, walls))
		if inner == line {
			break
		}
		line = inner
	}
	if strings.HasPrefix(line, "╭") && strings.Trim(line, "╭─╮") == "" || strings.HasPrefix(line, "╰") && strings.Trim(line, "╰─╯") == "" {
		return ""
	}
	return line
}

// longEdge is the edge of a frame in a dialog, which people need not see in its full length.
var longEdge = lazyregexp.New(`(?:╌{24,}|─{24,}|━{24,}|▔{24,})`)

const edgeLength = 24

// unframed returns the lines of a dialog for people: without the sides of its frame, blanks
// that all of them begin with, and empty lines around them. The command, from the line first
// to end, is not shortened.
func unframed(lines []string, first, end int) []string {
	var shown []string
	margin := -1
	for _, line := range lines {
		inner := strings.TrimLeft(line, " ")
		for _, wall := range []string{"│", "┃"} {
			if rest, ok := strings.CutPrefix(inner, wall); ok {
				line = strings.Repeat(" ", len(line)-len(inner)+1) + strings.TrimSuffix(rest, wall)
				break
			}
		}
		line = strings.TrimRight(line, " ")
		if indent := len(line) - len(strings.TrimLeft(line, " ")); line != "" && (margin < 0 || indent < margin) {
			margin = indent
		}
		shown = append(shown, line)
	}
	for i, line := range shown {
		line = line[min(len(line), max(margin, 0)):]
		if i < first || i >= end {
			line = longEdge().ReplaceAllStringFunc(line, func(edge string) string { return string([]rune(edge)[:edgeLength]) })
		}
		shown[i] = line
	}
	for len(shown) > 0 && shown[0] == "" {
		shown = shown[1:]
	}
	for len(shown) > 0 && shown[len(shown)-1] == "" {
		shown = shown[:len(shown)-1]
	}
	return shown
}
