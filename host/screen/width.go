package screen

import (
	"unicode"

	"golang.org/x/text/width"
)

// joins reports whether c is shown in the cell of the letter before it.
func joins(c rune) bool {
	switch {
	case c >= 0x1160 && c <= 0x11ff: // vowels and finals of Hangul syllables
		return true
	case c >= 0x200b && c <= 0x200f, c >= 0x2060 && c <= 0x2064, c == 0xfeff:
		return true
	case c >= 0x1f3fb && c <= 0x1f3ff: // skin tones
		return true
	case c < 0x2e80 || c >= 0xa66f:
		return unicode.In(c, unicode.Mn, unicode.Me)
	}
	return false
}

// runeWidth returns how many cells a letter takes that has its own.
func runeWidth(c rune) int {
	if c < 0x1100 {
		return 1
	}
	switch width.LookupRune(c).Kind() {
	case width.EastAsianWide, width.EastAsianFullwidth:
		return 2
	default:
		return 1
	}
}
