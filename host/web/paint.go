package web

import (
	"fmt"
	"html"
	"html/template"
	"strconv"
	"strings"

	"github.com/swarmhost/swarm/shared/safetext"
)

// look is how letters look, as SGR sequences say it.
type look struct {
	// text and back are colours of the palette of 256, plus one; 0: those of the page.
	text, back int
	// on has the attributes that are on, by the parameters that switch them on. The
	// parameter that switches one off is 20 more, for bold 22.
	on [10]bool
}

// The attributes that the code names.
const attrBold, attrFaint, attrUnderline, attrInvert = 1, 2, 4, 7

// attributes are the classes of the style sheet for attributes.
var attributes = [10]string{
	attrBold: "bold", attrFaint: "faint", 3: "italic", attrUnderline: "under", attrInvert: "inv", 8: "conceal", 9: "strike",
}

// paint returns a line of output as HTML: its SGR sequences become classes of the style
// sheet, all else is text. Hidden characters are shown as escapes. No byte of the line
// becomes part of a tag.
func paint(line string) template.HTML {
	var b strings.Builder
	var l look
	for line != "" {
		before, rest, found := strings.Cut(line, "\x1b")
		l.write(&b, before)
		if !found {
			break
		}
		params, after, ok := sgr(rest)
		if !ok {
			l.write(&b, "\x1b")
			line = rest
			continue
		}
		l.change(params)
		line = after
	}
	return template.HTML(b.String())
}

func (l look) write(b *strings.Builder, text string) {
	if text == "" {
		return
	}
	text = html.EscapeString(strings.ReplaceAll(safetext.Block(text), "\n", `\n`))
	class := l.class()
	if class == "" {
		b.WriteString(text)
		return
	}
	b.WriteString(`<span class="` + class + `">` + text + `</span>`)
}

// class returns the classes of the style sheet that make the look.
func (l look) class() string {
	var all []string
	text, back := l.text, l.back
	if l.on[attrInvert] {
		text, back = back, text
	}
	if text > 0 {
		all = append(all, "f"+strconv.Itoa(text-1))
	}
	if back > 0 {
		all = append(all, "b"+strconv.Itoa(back-1))
	}
	for code, name := range attributes {
		if l.on[code] && name != "" {
			all = append(all, name)
		}
	}
	return strings.Join(all, " ")
}

// maxParams is how long the parameters of a sequence may be.
const maxParams = 200

// sgr reads the rest of an SGR sequence behind its ESC.
func sgr(text string) (params, after string, ok bool) {
	if !strings.HasPrefix(text, "[") {
		return "", text, false
	}
	for i := 1; i < len(text) && i < maxParams; i++ {
		switch c := text[i]; {
		case c == 'm':
			return text[1:i], text[i+1:], true
		case c != ';' && c != ':' && (c < '0' || c > '9'):
			return "", text, false
		}
	}
	return "", text, false
}

// change does what the parameters of an SGR sequence say.
func (l *look) change(params string) {
	fields := strings.Split(params, ";")
	for len(fields) > 0 {
		first, sub, hasSub := strings.Cut(fields[0], ":")
		code, _ := strconv.Atoi(first) // an empty parameter is 0
		fields = fields[1:]
		switch code {
		case 38, 48, 58:
			parts, taken := fields, 0
			if hasSub {
				parts = strings.Split(sub, ":")
			}
			colour, taken := colourOf(parts, hasSub)
			if !hasSub {
				fields = fields[min(taken, len(fields)):]
			}
			switch {
			case colour == 0:
			case code == 38:
				l.text = colour
			case code == 48:
				l.back = colour
			}
		case 4:
			l.on[attrUnderline] = sub != "0"
		default:
			l.set(code)
		}
	}
}

// set does what a parameter says that stands for itself.
func (l *look) set(code int) {
	switch {
	case code == 0:
		*l = look{}
	case code < len(l.on):
		l.on[code] = true
	case code == 21:
		l.on[attrUnderline] = true // twice
	case code == 22:
		l.on[attrBold], l.on[attrFaint] = false, false
	case code > 22 && code < 30:
		l.on[code-20] = false
	case code >= 30 && code <= 37:
		l.text = code - 30 + 1
	case code == 39:
		l.text = 0
	case code >= 40 && code <= 47:
		l.back = code - 40 + 1
	case code == 49:
		l.back = 0
	case code >= 90 && code <= 97:
		l.text = code - 90 + 8 + 1
	case code >= 100 && code <= 107:
		l.back = code - 100 + 8 + 1
	}
}

// colourOf returns the colour that parts begin with, plus one, and how many parts say it;
// 0 if they say none. In a parameter with colons a colour space may stand before the three
// numbers.
func colourOf(parts []string, colons bool) (colour, taken int) {
	number := func(i int) int {
		if i >= len(parts) {
			return 0
		}
		n, _ := strconv.Atoi(parts[i])
		return min(max(n, 0), 255)
	}
	if len(parts) == 0 {
		return 0, 0
	}
	switch parts[0] {
	case "5":
		return number(1) + 1, 2
	case "2":
		at := 1
		if colons && len(parts) > 4 {
			at = 2
		}
		return nearest(number(at), number(at+1), number(at+2)) + 1, at + 3
	default:
		return 0, 1
	}
}

var steps = [6]int{0, 95, 135, 175, 215, 255}

// nearest returns the number of the colour of the palette that is most like one of 24 bits.
// A strict Content-Security-Policy allows no colours outside of the style sheet.
func nearest(r, g, b int) int {
	step := func(v int) int {
		best := 0
		for i, s := range steps {
			if abs(v-s) < abs(v-steps[best]) {
				best = i
			}
		}
		return best
	}
	distance := func(r2, g2, b2 int) int {
		return (r-r2)*(r-r2) + (g-g2)*(g-g2) + (b-b2)*(b-b2)
	}
	ri, gi, bi := step(r), step(g), step(b)
	grey := min(max(((r+g+b)/3-8+5)/10, 0), 23)
	level := 8 + 10*grey
	if distance(level, level, level) < distance(steps[ri], steps[gi], steps[bi]) {
		return 232 + grey
	}
	return 16 + 36*ri + 6*gi + bi
}

func abs(n int) int { return max(n, -n) }

// palette returns the rules of the style sheet for the colours from 16 on. The first 16 are
// in the sheet itself, since they differ between light and dark.
func palette() []byte {
	var b []byte
	for i := 16; i < 256; i++ {
		r, g, bl := 8+10*(i-232), 8+10*(i-232), 8+10*(i-232)
		if i < 232 {
			n := i - 16
			r, g, bl = steps[n/36], steps[n/6%6], steps[n%6]
		}
		b = fmt.Appendf(b, ".f%d{color:#%02x%02x%02x}.b%d{background:#%02x%02x%02x}\n", i, r, g, bl, i, r, g, bl)
	}
	return b
}
