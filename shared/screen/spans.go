package screen

import (
	"slices"
	"strings"
	"unicode/utf8"
)

// Style is how letters look. Its zero value is the terminal's own style.
type Style struct{ style style }

// Span is a part of a line whose letters look the same.
type Span struct {
	Text  string
	Style Style
}

// Spans returns the parts of a line with SGR sequences. The line begins in the terminal's
// own style. Other sequences, and control characters other than the tab, are left out.
func Spans(line string) []Span {
	var spans []Span
	scan(line, func(text string, st style) {
		if n := len(spans); n > 0 && spans[n-1].Style.style == st {
			spans[n-1].Text += text
			return
		}
		spans = append(spans, Span{text, Style{st}})
	})
	return spans
}

// Styled returns the lines of a text with SGR sequences in which a style continues in the next
// line, as 'tmux capture-pane -e' prints it. Each returned line stands for itself: it begins
// in the terminal's own style and returns to it, and it has no other sequences than SGR.
// Blanks at the ends of lines are left out.
func Styled(text string) []string {
	var lines []string
	var line []Span
	end := func() {
		lines = append(lines, render(line))
		line = line[:0]
	}
	scan(text, func(part string, st style) {
		for {
			before, after, found := strings.Cut(part, "\n")
			if before != "" {
				line = append(line, Span{before, Style{st}})
			}
			if !found {
				return
			}
			end()
			part = after
		}
	})
	end()
	return lines
}

// Plain returns a line without its sequences and control characters other than the tab.
func Plain(line string) string {
	if strings.IndexFunc(line, isControl) < 0 {
		return line
	}
	var text strings.Builder
	scan(line, func(part string, _ style) { text.WriteString(part) })
	return text.String()
}

func isControl(c rune) bool { return c < 0x20 && c != '\t' || c == 0x7f }

// Render returns a line with SGR sequences that [Spans] takes apart again. Blanks at its end are
// left out.
func Render(line []Span) string { return render(slices.Clone(line)) }

func render(line []Span) string {
	for n := len(line); n > 0; n = len(line) {
		line[n-1].Text = strings.TrimRight(line[n-1].Text, " ")
		if line[n-1].Text != "" {
			break
		}
		line = line[:n-1]
	}
	var out []byte
	var now style
	for _, s := range line {
		out = append(s.Style.style.after(out, now), s.Text...)
		now = s.Style.style
	}
	return string(style{}.after(out, now))
}

// scan calls add with each piece of a text that is not empty, and its style.
func scan(text string, add func(text string, st style)) {
	var st style
	for text != "" {
		n := strings.IndexFunc(text, func(c rune) bool { return isControl(c) && c != '\n' })
		if n < 0 {
			n = len(text)
		}
		if n > 0 {
			add(text[:n], st)
		}
		text = text[n:]
		if text == "" {
			return
		}
		size, params, isSGR := sequenceAt(text)
		if isSGR {
			st.change(params)
		}
		text = text[size:]
	}
}

// sequenceAt returns the size of the control character or sequence that a text begins with,
// and its parameters if it is SGR.
func sequenceAt(text string) (size int, params []param, isSGR bool) {
	if text[0] != 0x1b || len(text) == 1 {
		return 1, nil, false
	}
	switch text[1] {
	case '[':
		var q sequences
		for i := 2; i < len(text); i++ {
			switch b := text[i]; {
			case b >= '0' && b <= ';':
				q.param(b)
			case b >= 0x40 && b <= 0x7e:
				return i + 1, q.params, b == 'm' && q.prefix == 0 && q.inter == 0
			case b >= '<' && b <= '?':
				q.prefix = b
			case b >= 0x20 && b <= '/':
				q.inter = b
			default:
				return i, nil, false // not a sequence
			}
		}
		return len(text), nil, false
	case ']', 'P', 'X', '^', '_':
		for i := 2; i < len(text); i++ {
			switch {
			case text[i] == '\a':
				return i + 1, nil, false
			case text[i] == '\n':
				return i, nil, false
			case strings.HasPrefix(text[i:], "\x1b\\"):
				return i + 2, nil, false
			}
		}
		return len(text), nil, false
	}
	i := 1
	for i < len(text) && text[i] >= 0x20 && text[i] <= '/' {
		i++
	}
	if i == len(text) {
		return i, nil, false
	}
	_, n := utf8.DecodeRuneInString(text[i:])
	if text[i] == '\n' {
		n = 0
	}
	return i + n, nil, false
}

// The bits of style.on, by the order of attributes.
const (
	bold uint16 = 1 << iota
	dim
	italic
	slowBlink
	fastBlink
	reverse
	hidden
	strike
	doubleUnderline
)

var styleBits = map[string]uint16{
	"bold": bold, "dim": dim, "italic": italic, "reverse": reverse, "strike": strike, "hidden": hidden,
	"blink": slowBlink | fastBlink,
}

// Colours are the names that [Style.Foreground] and [Style.Background] return. An exact
// colour is not known: programs choose it by their theme, and terminals with fewer colours
// get a similar one.
var Colours = []string{"default", "black", "grey", "white", "red", "orange", "yellow", "green", "cyan", "blue", "magenta"}

// Attributes are the names that [Style.Has] knows.
var Attributes = []string{"bold", "dim", "italic", "underline", "reverse", "strike", "hidden", "blink"}

// Has reports whether the letters have one of [Attributes].
func (s Style) Has(attribute string) bool {
	if attribute == "underline" {
		return s.style.under != 0 || s.style.on&doubleUnderline != 0
	}
	return s.style.on&styleBits[attribute] != 0
}

// IsZero reports whether it is the terminal's own style.
func (s Style) IsZero() bool { return s.style == style{} }

// Foreground returns one of [Colours] for the colour of the letters. "default" is the
// terminal's own; "black", "grey" and "white" are those without a hue.
func (s Style) Foreground() string { return s.style.text.name() }

// Background is [Style.Foreground] for what is behind the letters.
func (s Style) Background() string { return s.style.back.name() }

// String returns the attributes and colours as a rule names them, such as "bold fg=red".
func (s Style) String() string {
	var words []string
	for _, a := range Attributes {
		if s.Has(a) {
			words = append(words, a)
		}
	}
	if c := s.Foreground(); c != "default" {
		words = append(words, "fg="+c)
	}
	if c := s.Background(); c != "default" {
		words = append(words, "bg="+c)
	}
	return strings.Join(words, " ")
}

// cube are the values of the 256 colours' 6×6×6 cube.
var cube = [...]int{0, 95, 135, 175, 215, 255}

// basicNames are the names of the 16 basic colours.
var basicNames = [...]string{
	"black", "red", "green", "yellow", "blue", "magenta", "cyan", "white",
	"grey", "red", "green", "yellow", "blue", "magenta", "cyan", "white",
}

func (c colour) name() string {
	v := int(c &^ kind)
	switch {
	case c == 0:
		return "default"
	case c&kind == direct:
		return hue(v>>16, v>>8&0xff, v&0xff)
	case v < len(basicNames):
		return basicNames[v]
	case v >= 232:
		v = 8 + 10*(v-232)
		return hue(v, v, v)
	default:
		v -= 16
		return hue(cube[v/36], cube[v/6%6], cube[v%6])
	}
}

// hue returns the name of a colour.
func hue(r, g, b int) string {
	highest, lowest := max(r, g, b), min(r, g, b)
	chroma := highest - lowest
	switch {
	case highest < 48:
		return "black"
	case chroma*8 <= highest && lowest >= 216:
		return "white"
	case chroma*8 <= highest:
		return "grey"
	}
	var degrees int
	switch highest {
	case r:
		degrees = (60*(g-b)/chroma + 360) % 360
	case g:
		degrees = 60*(b-r)/chroma + 120
	default:
		degrees = 60*(r-g)/chroma + 240
	}
	for _, h := range []struct {
		below int
		name  string
	}{{12, "red"}, {45, "orange"}, {70, "yellow"}, {165, "green"}, {200, "cyan"}, {260, "blue"}, {335, "magenta"}} {
		if degrees < h.below {
			return h.name
		}
	}
	return "red"
}
