package profile

import (
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"
)

type input struct {
	// prompt matches the line that text is typed at; its group "draft" is the text.
	prompt *regexp.Regexp
	// above matches one of the near lines above it, end the line below it that ends the
	// draft; nil matches any.
	above, end *regexp.Regexp
	near       int
	// margin matches what stands before the text in the lines of a draft below the first;
	// nil: nothing does.
	margin *regexp.Regexp
	// footer matches the first line below end. It ends a draft that itself has lines like
	// end.
	footer *regexp.Regexp
	// open is how many lines of a draft may be at the bottom of the screen without an end
	// below them, since a long draft leaves no space for it.
	open int
	// below is how many lines that are not empty may follow that.
	below int
	// idleOnly says that it has a prompt only while it does not work: what looks like one
	// then is the text that it works on.
	idleOnly bool
	// hints match the text of an empty prompt.
	hints []*regexp.Regexp
	// looks are the styles of such a text; nil: they are not known.
	looks []style
	// pasted match the placeholder of a long text or of an image.
	pasted []*regexp.Regexp
	// attached matches a line right above the box of the prompt that names what is sent with
	// the text; its group is a part of the draft.
	attached *regexp.Regexp
}

// view is a screen as rules see it.
type view struct {
	lines []string
	// looks are the styles of the lines; nil: they are not known.
	looks *looks
	// prompt and end are the first line of the prompt and the one after its draft;
	// prompt is -1 if none is shown.
	prompt, end int
	// certain says that no row of a menu can look like the prompt: it has a mark, and the
	// line below it is not empty.
	certain bool
}

func (in *input) view(s Screen) view {
	v := view{lines: s.Text(), prompt: -1}
	v.looks = newLooks(s, v.lines)
	if in.prompt == nil {
		return v
	}
	for i, line := range slices.Backward(v.lines) {
		if !in.prompt.MatchString(line) || in.above != nil && !matchesOne(in.above, v.lines[max(0, i-in.near):i]) {
			continue
		}
		end, ok := in.endOf(v.lines, i)
		if !ok {
			continue
		}
		if filled(v.lines[end:]) <= in.below+1 { // the line of the end
			v.prompt, v.end = i, end
			v.certain = !in.idleOnly && !in.prompt.MatchString("") && in.end != nil &&
				(!in.end.MatchString("") || in.footer != nil && in.footer.MatchString(at(v.lines, end+1)))
		}
		return v
	}
	return v
}

// endOf returns the index of the line below the draft of a prompt, and whether there is
// one.
func (in *input) endOf(lines []string, prompt int) (int, bool) {
	first := prompt + 1
	if in.end == nil {
		return first, true
	}
	for first < len(lines) && !in.end.MatchString(lines[first]) {
		first++
	}
	if first == len(lines) {
		return first, in.open > 0 && first-prompt >= in.open
	}
	for end := len(lines) - 2; in.footer != nil && end > first; end-- {
		if in.end.MatchString(lines[end]) && in.footer.MatchString(lines[end+1]) {
			return end, true
		}
	}
	return first, true
}

// isHint reports whether the text at the prompt looks like one that the agent shows there
// itself. The cursor may be on its first letter.
func (in *input) isHint(v view) bool {
	if v.looks == nil || len(in.looks) == 0 {
		return false
	}
	m := in.prompt.FindStringSubmatchIndex(v.lines[v.prompt])
	i := 2 * in.prompt.SubexpIndex("draft")
	if i < 0 || m == nil || m[i] < 0 {
		return false
	}
	_, size := utf8.DecodeRuneInString(v.lines[v.prompt][m[i]:])
	text := v.lines[v.prompt][min(m[i]+size, m[i+1]):m[i+1]]
	return strings.TrimSpace(text) != "" && v.looks.has(v.prompt, min(m[i]+size, m[i+1]), m[i+1], in.looks)
}

func (in *input) draft(v view) string {
	if v.prompt < 0 {
		return ""
	}
	if in.isHint(v) {
		return in.attachments(v)
	}
	m := in.prompt.FindStringSubmatch(v.lines[v.prompt])
	draft := []string{in.attachments(v), bare(group(in.prompt, m, "draft"))}
	for _, line := range v.lines[v.prompt+1 : v.end] {
		if in.margin != nil {
			line = in.margin.ReplaceAllString(line, "")
		}
		draft = append(draft, bare(line))
	}
	text := strings.TrimSpace(strings.Join(draft, "\n"))
	if rest := strings.TrimSpace(strings.TrimPrefix(text, in.attachments(v))); matchesAny(in.hints, rest) {
		return in.attachments(v)
	}
	return text
}

// attachments returns what is attached to the text at the prompt; empty: nothing.
func (in *input) attachments(v view) string {
	if in.attached == nil {
		return ""
	}
	above := v.lines[max(0, v.prompt-in.near-1):v.prompt]
	if at := lastIndex(above, in.attached); at >= 0 {
		return groupOrAll(in.attached, above[at])
	}
	return ""
}
