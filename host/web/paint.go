package web

import (
	"fmt"
	"html"
	"html/template"
	"strconv"
	"strings"

	"github.com/swarmhost/swarm/shared/safetext"
	"github.com/swarmhost/swarm/shared/sgr"
)

// attributes are the classes of the style sheet for attributes.
var attributes = []struct{ name, class string }{
	{"bold", "bold"}, {"dim", "faint"}, {"italic", "italic"}, {"underline", "under"}, {"reverse", "inv"}, {"hidden", "conceal"}, {"strike", "strike"},
}

// paint returns a line of output as HTML: its SGR sequences become classes of the style
// sheet, all else is text. Hidden characters are shown as escapes. No byte of the line
// becomes part of a tag.
func paint(line string) template.HTML {
	var b strings.Builder
	var style sgr.Style
	for line != "" {
		text, sequence, after := sgr.Cut(line)
		write(&b, text, style)
		style.Read(sequence)
		line = after
	}
	return template.HTML(b.String())
}

func write(b *strings.Builder, text string, style sgr.Style) {
	if text == "" {
		return
	}
	text = html.EscapeString(strings.ReplaceAll(safetext.Block(text), "\n", `\n`))
	class := classesOf(style)
	if class == "" {
		b.WriteString(text)
		return
	}
	b.WriteString(`<span class="` + class + `">` + text + `</span>`)
}

// classesOf returns the classes of the style sheet that make a style. A strict
// Content-Security-Policy allows no colours outside of the sheet, so each is one of a palette.
func classesOf(s sgr.Style) string {
	var all []string
	text, back := s.Text, s.Back
	if s.Has("reverse") {
		text, back = back, text
	}
	if n, ok := text.Palette(); ok {
		all = append(all, "f"+strconv.Itoa(n))
	}
	if n, ok := back.Palette(); ok {
		all = append(all, "b"+strconv.Itoa(n))
	}
	for _, a := range attributes {
		if s.Has(a.name) {
			all = append(all, a.class)
		}
	}
	return strings.Join(all, " ")
}

// palette returns the rules of the style sheet for the colours from 16 on. The first 16 are
// in the sheet itself, since they differ between light and dark.
func palette() []byte {
	var b []byte
	for i := 16; i < 256; i++ {
		red, green, blue := sgr.RGB(i)
		b = fmt.Appendf(b, ".f%d{color:#%02x%02x%02x}.b%d{background:#%02x%02x%02x}\n", i, red, green, blue, i, red, green, blue)
	}
	return b
}
