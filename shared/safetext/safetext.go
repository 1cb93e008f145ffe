// Package safetext makes text that others wrote fit for a terminal: names, screens,
// messages, errors of plugins and repositories, contents of files. Such text must neither
// change the terminal nor hide or reorder the text next to it. The package imports the
// standard library and shared/sgr only, so every layer may use it, plugins included.
package safetext

import (
	"io"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/swarmhost/swarm/shared/sgr"
)

// IsHidden reports whether r changes a terminal or how the text around it is shown
// instead of being shown itself: control characters (C0, DEL, C1), format characters
// (the bidirectional controls, everything of zero width, tags) and the separators
// of lines and paragraphs. Newline and tab are control characters too.
func IsHidden(r rune) bool {
	if r < utf8.RuneSelf {
		return r < ' ' || r == 0x7f
	}
	return unicode.IsControl(r) || r == '\u2028' || r == '\u2029' ||
		unicode.Is(unicode.Cf, r) && !unicode.Is(unicode.Prepended_Concatenation_Mark, r)
}

// Line returns s on one line and harmless: each hidden character (see [IsHidden]) and each
// byte that is not UTF-8 is replaced by its escape in Go's notation, such as \n, \x1b or
// \u202e. Text without any is returned unchanged. Escapes are not meant to be read back: a
// backslash in s is not escaped.
func Line(s string) string {
	return escape(s, false)
}

// Block is [Line] for text of several lines: newlines and tabs stay.
func Block(s string) string {
	return escape(s, true)
}

// Writer returns a writer that applies [Block] to all text and writes it to w. Each call
// must hold whole characters, as the calls of loggers and of fmt do.
func Writer(w io.Writer) io.Writer { return writer{w} }

type writer struct{ to io.Writer }

func (w writer) Write(p []byte) (int, error) {
	if _, err := io.WriteString(w.to, Block(string(p))); err != nil {
		return 0, err
	}
	return len(p), nil
}

func escape(s string, block bool) string {
	at := 0
	var b strings.Builder
	for i := 0; i < len(s); {
		r, size := utf8.DecodeRuneInString(s[i:])
		invalid := r == utf8.RuneError && size == 1
		if !invalid && (!IsHidden(r) || block && (r == '\n' || r == '\t')) {
			i += size
			continue
		}
		b.WriteString(s[at:i])
		if invalid {
			b.WriteString(`\x` + hex(rune(s[i]), 2))
		} else {
			quoted := strconv.QuoteRuneToASCII(r)
			b.WriteString(quoted[1 : len(quoted)-1])
		}
		i += size
		at = i
	}
	if at == 0 {
		return s
	}
	b.WriteString(s[at:])
	return b.String()
}

// JSON returns the JSON text b with each hidden character inside its strings
// replaced by its \u escape; those above U+FFFF become two. A decoder reads the same
// values from both. The white space between values stays. Bytes that are not UTF-8
// become \ufffd, which is what a decoder makes of them. b itself is not changed,
// and is returned if there is nothing to replace.
func JSON(b []byte) []byte {
	at := 0
	var out []byte
	for i := 0; i < len(b); {
		r, size := utf8.DecodeRune(b[i:])
		invalid := r == utf8.RuneError && size == 1
		// Go's encoder and every other one escape C0 inside strings.
		if !invalid && (!IsHidden(r) || r == '\n' || r == '\t' || r == '\r') {
			i += size
			continue
		}
		out = append(out, b[at:i]...)
		if r > 0xffff {
			high, low := (r-0x10000)>>10+0xd800, (r-0x10000)&0x3ff+0xdc00
			out = append(out, `\u`+hex(high, 4)+`\u`+hex(low, 4)...)
		} else {
			out = append(out, `\u`+hex(r, 4)...)
		}
		i += size
		at = i
	}
	if at == 0 {
		return b
	}
	return append(out, b[at:]...)
}

// hex returns r in hexadecimal, padded to at least that many digits.
func hex(r rune, digits int) string {
	s := strconv.FormatInt(int64(r), 16)
	return strings.Repeat("0", max(digits-len(s), 0)) + s
}

// Cut returns the beginning of s, at most n bytes of whole characters.
func Cut(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n]
}

// Whole returns b without the character at its end of which more bytes are to come.
// Bytes that are not UTF-8 stay.
func Whole(b []byte) []byte {
	for i := len(b) - 1; i >= max(0, len(b)-utf8.UTFMax); i-- {
		if utf8.RuneStart(b[i]) {
			if !utf8.FullRune(b[i:]) {
				return b[:i]
			}
			break
		}
	}
	return b
}

// Colours is [Line] for a line with colours: SGR sequences stay, and tabs. All other
// sequences are escaped, and so is one that is not complete.
func Colours(line []byte) string {
	var b strings.Builder
	for rest := string(line); rest != ""; {
		text, sequence, after := sgr.Cut(rest)
		b.WriteString(strings.ReplaceAll(Block(text), "\n", `\n`))
		b.WriteString(sequence)
		rest = after
	}
	return b.String()
}
