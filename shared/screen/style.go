package screen

import (
	"fmt"
	"strconv"
)

// reset turns all colours off.
const reset = "\x1b[0m"

// style is how a letter looks, as far as SGR sets it and a reset takes it back. Fonts
// (10 to 19) are left out: on a console they change how bytes are read, and no reset
// takes that back.
type style struct {
	text, back, line colour
	// on has a bit for each attribute in attributes.
	on uint16
	// under is the kind of an underline; 0: none.
	under uint8
}

// colour is of one of the kinds below, with its value in the lower 24 bits; 0: the
// terminal's own.
type colour uint32

const (
	basic   colour = 1 << 24 // 0 to 15
	indexed colour = 2 << 24 // 0 to 255
	direct  colour = 3 << 24 // red, green, blue
	kind    colour = 0xff << 24
)

// attributes are the codes that turn attributes on, by their bits in style.on, and
// those that turn them off.
var attributes = [...]struct{ on, off int }{
	{1, 22}, {2, 22}, {3, 23}, {5, 25}, {6, 25}, {7, 27}, {8, 28}, {9, 29}, {21, 24}, {53, 55},
}

// after appends what makes the style of text that comes after text in style before.
func (s style) after(out []byte, before style) []byte {
	if s == before {
		return out
	}
	if s == (style{}) {
		return append(out, reset...)
	}
	out = append(out, "\x1b["...)
	begin := len(out)
	if s.lacks(before) {
		out = append(out, "0;"...)
		before = style{}
	}
	for i, a := range attributes {
		if bit := uint16(1) << i; s.on&bit != 0 && before.on&bit == 0 {
			out = append(strconv.AppendInt(out, int64(a.on), 10), ';')
		}
	}
	switch s.under {
	case before.under:
	case 1:
		out = append(out, "4;"...)
	default:
		out = append(strconv.AppendInt(append(out, "4:"...), int64(s.under), 10), ';')
	}
	if s.text != before.text {
		out = s.text.sgr(out, 30)
	}
	if s.back != before.back {
		out = s.back.sgr(out, 40)
	}
	if s.line != before.line {
		out = s.line.sgr(out, 50)
	}
	if len(out) == begin {
		out = append(out, ';')
	}
	out[len(out)-1] = 'm'
	return out
}

// lacks reports whether something of before is off in s.
func (s style) lacks(before style) bool {
	return before.on&^s.on != 0 || before.under != 0 && s.under == 0 ||
		before.text != 0 && s.text == 0 || before.back != 0 && s.back == 0 || before.line != 0 && s.line == 0
}

// sgr appends the parameters that set the colour, with a semicolon behind them. base
// is 30 for text, 40 for what is behind it, 50 for underlines.
func (c colour) sgr(out []byte, base int64) []byte {
	v := int64(c &^ kind)
	numbers := func(ns ...int64) {
		for _, n := range ns {
			out = append(strconv.AppendInt(out, n, 10), ';')
		}
	}
	if base == 50 {
		// A terminal that does not know these must not take their parts for other codes.
		out = append(out, "58:"...)
		if c&kind == indexed {
			return append(strconv.AppendInt(append(out, "5:"...), v, 10), ';')
		}
		return fmt.Appendf(out, "2::%d:%d:%d;", v>>16, v>>8&0xff, v&0xff)
	}
	switch c & kind {
	case basic:
		if v >= 8 {
			v += 60 - 8
		}
		numbers(base + v)
	case indexed:
		numbers(base+8, 5, v)
	case direct:
		numbers(base+8, 2, v>>16, v>>8&0xff, v&0xff)
	default: // the terminal's own
	}
	return out
}

// param is a parameter of a sequence; more says that the next one belongs to it, as
// the colon in 4:3 has it.
type param struct {
	value int
	more  bool
}

// missing is the value of a parameter that was left out.
const missing = -1

// change sets the style that an SGR sequence with these parameters makes.
func (s *style) change(ps []param) {
	if len(ps) == 0 {
		*s = style{}
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
func (s *style) set(ps []param) int {
	code := max(ps[0].value, 0)
	switch {
	case code == 0:
		*s = style{}
	case code == 4:
		s.under = 1
	case code >= 30 && code <= 37, code >= 90 && code <= 97:
		s.text = basicColour(code - 30)
	case code >= 40 && code <= 47, code >= 100 && code <= 107:
		s.back = basicColour(code - 40)
	case code == 39:
		s.text = 0
	case code == 49:
		s.back = 0
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

func (s *style) attribute(code int) {
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

func (s *style) paint(code int, c colour) {
	switch {
	case c == 0:
	case code == 38:
		s.text = c
	case code == 48:
		s.back = c
	default:
		s.line = c
	}
}

// setSub does a parameter with parts: 4:3, 38:5:n, 38:2::r:g:b, 38:2:r:g:b.
func (s *style) setSub(ps []param) {
	switch code := ps[0].value; code {
	case 4:
		if kind := ps[1].value; kind >= 0 && kind <= 5 {
			s.under = uint8(kind)
		}
	case 38, 48, 58:
		if ps[1].value == 2 && len(ps) > 5 {
			// The part behind the 2 names a colour space.
			ps = append(append([]param{}, ps[:2]...), ps[3:]...)
		}
		c, _ := colourOf(ps[1:])
		s.paint(code, c)
	}
}

func basicColour(n int) colour {
	if n >= 60 {
		n -= 60 - 8
	}
	return basic | colour(n)
}

// colourOf returns the colour that ps begin with, and how many of them say it.
func colourOf(ps []param) (colour, int) {
	part := func(i int) colour {
		if i >= len(ps) {
			return 0
		}
		return colour(min(max(ps[i].value, 0), 255))
	}
	switch {
	case len(ps) == 0:
	case ps[0].value == 5:
		return indexed | part(1), min(2, len(ps))
	case ps[0].value == 2:
		return direct | part(1)<<16 | part(2)<<8 | part(3), min(4, len(ps))
	}
	return 0, len(ps)
}
