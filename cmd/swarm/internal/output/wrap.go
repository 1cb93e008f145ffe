package output

import (
	"strings"

	"github.com/swarmhost/swarm/shared/lazyregexp"
)

const leastWidth = 20

// Wrapped divides a text into parts that fit, between words if that is possible. Without a
// width it is one part.
func Wrapped(text string, width int) []string {
	if width < leastWidth {
		return []string{text}
	}
	var parts []string
	for Columns(text) > width {
		begin := Head(text, width)
		if i := strings.LastIndexByte(begin, ' '); i > 0 && text[len(begin)] != ' ' {
			begin = begin[:i]
		}
		parts = append(parts, begin)
		text = strings.TrimPrefix(text[len(begin):], " ")
	}
	return append(parts, text)
}

// WrappedUnder is text wrapped to lines of a width. All but the first begin with indent
// spaces.
func WrappedUnder(text string, indent, width int) string {
	if width-indent < leastWidth || Columns(text) <= width {
		return text
	}
	first := text[:min(indent, len(text))]
	if Columns(first) < len(first) {
		indent, first = 0, "" // it is cut in the middle of something
	}
	parts := Wrapped(text[len(first):], width-indent)
	return first + strings.Join(parts, "\n"+strings.Repeat(" ", indent))
}

// term is the beginning of a line that explains something, such as a flag: what is explained,
// and two spaces or more.
var term = lazyregexp.New(`^ *\S.*?\S {2,}(\S)|^ *\S {2,}(\S)`)

// Where less than leastText columns are left for explanations, they are below what they
// explain, underTerm columns from the left.
const leastText, underTerm = 40, 10

// Reflow makes the text of a help fit a width: paragraphs, and lines of lists with what
// belongs to them. Blocks that fit are unchanged, and so are examples. Without a width it
// returns text.
func Reflow(text string, width int) string {
	if width < 2*leastWidth {
		return text
	}
	var out, block []string
	hang := -1 // the indent of the lines that continue with the block
	flush := func() {
		if len(block) > 0 && hang > underTerm && width-hang < leastText {
			var text strings.Builder
			text.WriteString(block[0][hang:])
			for _, line := range block[1:] {
				text.WriteString(" " + strings.TrimSpace(line))
			}
			out = append(out, strings.TrimRight(block[0][:hang], " "))
			for _, part := range Wrapped(text.String(), width-underTerm) {
				out = append(out, strings.Repeat(" ", underTerm)+part)
			}
			block = nil
			return
		}
		for _, line := range block {
			if Columns(line) > width {
				for i := range block[1:] {
					block[i+1] = strings.TrimSpace(block[i+1])
				}
				block = []string{WrappedUnder(strings.Join(block, " "), hang, width)}
				break
			}
		}
		out, block = append(out, block...), nil
	}
	examples := false
	for line := range strings.SplitSeq(text, "\n") {
		indent := len(line) - len(strings.TrimLeft(line, " "))
		switch {
		case line == "Examples:":
			flush()
			examples = true
		case examples && line != "" && indent == 0:
			examples = false
		}
		switch {
		case examples || line == "":
			flush()
			out = append(out, line)
			continue
		case len(block) > 0 && indent == hang && (indent <= 0 || !term().MatchString(line)):
			block = append(block, line)
			continue
		}
		flush()
		block, hang = []string{line}, indent
		if at := term().FindStringSubmatchIndex(line); at != nil {
			hang = max(at[2], at[4])
		}
	}
	flush()
	return strings.Join(out, "\n")
}
