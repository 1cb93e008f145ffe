package output

import (
	"strings"

	"github.com/swarmhost/swarm/host/condition"
)

// Style is how text looks on a terminal. The colours are those of the user's terminal.
type Style string

// The styles, by the numbers of their ANSI sequences.
const (
	Normal Style = ""
	Bold   Style = "1"
	Faint  Style = "2"
	Red    Style = "31"
	Green  Style = "32"
	Yellow Style = "33"
)

// Paint puts the style around a text, which must be visible already.
func (s Style) Paint(text string) string {
	if s == Normal || text == "" {
		return text
	}
	return "\x1b[" + string(s) + "m" + text + "\x1b[0m"
}

func StyleOf(t condition.Tone) Style { return Style(t.SGR()) }

// The values of --color.
const (
	ColourAuto   = "auto"
	ColourAlways = "always"
	ColourNever  = "never"
)

// WantsColour is the rule for colour: --color decides; then NO_COLOR, CLICOLOR_FORCE,
// TERM=dumb and CLICOLOR=0, in this order; else a terminal gets colours, and nothing else
// does.
func WantsColour(choice string, getenv func(string) string, terminal bool) bool {
	force := getenv("CLICOLOR_FORCE")
	switch {
	case choice == ColourAlways || choice == ColourNever:
		return choice == ColourAlways
	case getenv("NO_COLOR") != "":
		return false
	case force != "" && force != "0":
		return true
	case getenv("TERM") == "dumb" || getenv("CLICOLOR") == "0":
		return false
	default:
		return terminal
	}
}

// HasUnicode reports whether the locale of an environment can show characters beyond
// ASCII.
func HasUnicode(getenv func(string) string) bool {
	for _, name := range []string{"LC_ALL", "LC_CTYPE", "LANG"} {
		if value := getenv(name); value != "" {
			value = strings.ToLower(value)
			return strings.Contains(value, "utf-8") || strings.Contains(value, "utf8")
		}
	}
	return false
}
