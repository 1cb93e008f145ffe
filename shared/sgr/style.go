package sgr

import "strings"

// reset turns all colours off.
const reset = "\x1b[0m"

// Style is how a letter looks, as far as SGR sets it and a reset takes it back. Its zero value is
// the terminal's own. Fonts (10 to 19) are left out: on a console they change how bytes are read,
// and no reset takes that back.
type Style struct {
	// Text is the colour of the letter, Back the one behind it.
	Text, Back Colour
	line       Colour // of an underline
	// on has a bit for each attribute in attributes.
	on uint16
	// under is the kind of an underline; 0: none.
	under uint8
}

// attributes are the codes that turn attributes on, by their bits in Style.on, and those that
// turn them off.
var attributes = [...]struct{ on, off int }{
	{1, 22}, {2, 22}, {3, 23}, {5, 25}, {6, 25}, {7, 27}, {8, 28}, {9, 29}, {21, 24}, {53, 55},
}

// The bits of Style.on, by the order of attributes.
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

// Attributes are the names that [Style.Has] knows.
var Attributes = []string{"bold", "dim", "italic", "underline", "reverse", "strike", "hidden", "blink"}

var bits = map[string]uint16{
	"bold": bold, "dim": dim, "italic": italic, "reverse": reverse, "strike": strike, "hidden": hidden,
	"blink": slowBlink | fastBlink,
}

// Has reports whether the letters have one of [Attributes].
func (s Style) Has(attribute string) bool {
	if attribute == "underline" {
		return s.under != 0 || s.on&doubleUnderline != 0
	}
	return s.on&bits[attribute] != 0
}

// String returns the attributes and colours as a rule names them, such as "bold fg=red".
func (s Style) String() string {
	var words []string
	for _, a := range Attributes {
		if s.Has(a) {
			words = append(words, a)
		}
	}
	if s.Text != 0 {
		words = append(words, "fg="+s.Text.Name())
	}
	if s.Back != 0 {
		words = append(words, "bg="+s.Back.Name())
	}
	return strings.Join(words, " ")
}

// Append appends what makes the style of text that comes after text in style before.
func (s Style) Append(out []byte, before Style) []byte {
	if s == before {
		return out
	}
	if s == (Style{}) {
		return append(out, reset...)
	}
	out = append(out, "\x1b["...)
	begin := len(out)
	if s.lacks(before) {
		out = append(out, "0;"...)
		before = Style{}
	}
	for i, a := range attributes {
		if bit := uint16(1) << i; s.on&bit != 0 && before.on&bit == 0 {
			out = appendNumbers(out, ';', a.on)
		}
	}
	switch s.under {
	case before.under:
	case 1:
		out = append(out, "4;"...)
	default:
		out = appendNumbers(append(out, "4:"...), ';', int(s.under))
	}
	if s.Text != before.Text {
		out = s.Text.appendTo(out, 30)
	}
	if s.Back != before.Back {
		out = s.Back.appendTo(out, 40)
	}
	if s.line != before.line {
		out = s.line.appendTo(out, 50)
	}
	if len(out) == begin {
		out = append(out, ';')
	}
	out[len(out)-1] = 'm'
	return out
}

// lacks reports whether something of before is off in s.
func (s Style) lacks(before Style) bool {
	return before.on&^s.on != 0 || before.under != 0 && s.under == 0 ||
		before.Text != 0 && s.Text == 0 || before.Back != 0 && s.Back == 0 || before.line != 0 && s.line == 0
}

// Read sets the style that a sequence makes, which [Cut] has returned.
func (s *Style) Read(sequence string) {
	var ps Params
	for i := range len(sequence) {
		if isParam(sequence[i]) {
			ps.Add(sequence[i])
		}
	}
	if sequence != "" {
		s.Change(ps)
	}
}

// Change sets the style that a sequence with these parameters makes.
func (s *Style) Change(ps Params) {
	if len(ps) == 0 {
		*s = Style{}
	}
	for len(ps) > 0 {
		n := 1
		for n < len(ps) && ps[n-1].more {
			n++
		}
		if n == 1 {
			n = s.set(ps)
		} else {
			s.setSub(ps[:n])
		}
		ps = ps[n:]
	}
}

// set does what the first of ps says and returns how many it took.
func (s *Style) set(ps Params) int {
	switch code := ps.At(0); {
	case code == 0:
		*s = Style{}
	case code == 4:
		s.under = 1
	case code >= 30 && code <= 37, code >= 90 && code <= 97:
		s.Text = basicColour(code - 30)
	case code >= 40 && code <= 47, code >= 100 && code <= 107:
		s.Back = basicColour(code - 40)
	case code == 39:
		s.Text = 0
	case code == 49:
		s.Back = 0
	case code == 59:
		s.line = 0
	case code == 38, code == 48, code == 58:
		c, n := colourOf(ps[1:])
		s.paint(code, c)
		return 1 + n
	default:
		s.attribute(code)
	}
	return 1
}

func (s *Style) attribute(code int) {
	if code == 24 {
		s.under = 0
	}
	for i, a := range attributes {
		switch code {
		case a.on:
			s.on |= 1 << i
		case a.off:
			s.on &^= 1 << i
		}
	}
}

func (s *Style) paint(code int, c Colour) {
	switch {
	case c == 0:
	case code == 38:
		s.Text = c
	case code == 48:
		s.Back = c
	default:
		s.line = c
	}
}

// setSub does a parameter with parts: 4:3, 38:5:n, 38:2::r:g:b, 38:2:r:g:b.
func (s *Style) setSub(ps Params) {
	switch code := ps.At(0); code {
	case 4:
		if kind := ps[1].value; kind >= 0 && kind <= 5 {
			s.under = uint8(kind)
		}
	case 38, 48, 58:
		if ps.At(1) == 2 && len(ps) > 5 {
			// The part behind the 2 names a colour space.
			ps = append(append(Params{}, ps[:2]...), ps[3:]...)
		}
		c, _ := colourOf(ps[1:])
		s.paint(code, c)
	}
}
