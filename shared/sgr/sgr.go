// Package sgr reads and writes the sequences that give the letters of a terminal their looks
// (Select Graphic Rendition of ECMA-48, and what terminals add to it). It imports the standard
// library only, so every layer may use it.
package sgr

import "strings"

// Cut cuts text at its first whole sequence: before and after are what stands around it. Without
// one, before is the text.
func Cut(text string) (before, sequence, after string) {
	for at := 0; ; {
		n := strings.Index(text[at:], "\x1b[")
		if n < 0 {
			return text, "", ""
		}
		at += n
		end := at + 2
		for end < len(text) && isParam(text[end]) {
			end++
		}
		if end < len(text) && text[end] == 'm' {
			return text[:at], text[at : end+1], text[end+1:]
		}
		at = end
	}
}

func isParam(b byte) bool { return b >= '0' && b <= ';' }

// Params are the parameters of a sequence.
type Params []param

// param is a parameter; more says that the next one belongs to it, as the colon in 4:3 has it.
type param struct {
	value int
	more  bool
}

const (
	// missing is the value of a parameter that was left out.
	missing = -1
	// maxParams is how many parameters of a sequence count.
	maxParams = 32
)

// Add adds the next byte of a sequence: a digit, a semicolon or a colon.
func (ps *Params) Add(b byte) {
	if len(*ps) == 0 {
		*ps = append(*ps, param{value: missing})
	}
	last := &(*ps)[len(*ps)-1]
	switch {
	case b == ';' || b == ':':
		last.more = b == ':'
		if len(*ps) < maxParams {
			*ps = append(*ps, param{value: missing})
		}
	case last.value < 1<<20:
		last.value = max(last.value, 0)*10 + int(b-'0')
	}
}

// At returns the parameter at i, 0 if it was left out.
func (ps Params) At(i int) int {
	if i >= len(ps) {
		return 0
	}
	return max(ps[i].value, 0)
}
