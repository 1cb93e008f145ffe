package git

import (
	"fmt"
	"io"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/swarmhost/swarm/shared/safetext"
)

// Unique sorts texts and removes repetitions.
func Unique(paths []string) []string {
	slices.Sort(paths)
	return slices.Compact(paths)
}

// Fields splits an answer of NUL-terminated fields.
func Fields(out string) []string {
	if out == "" {
		return nil
	}
	return strings.Split(strings.TrimSuffix(out, "\x00"), "\x00")
}

// Input makes of strings what git reads with -z --stdin.
func Input(ss []string) io.Reader {
	var b strings.Builder
	for _, s := range ss {
		b.WriteString(s + "\x00")
	}
	return strings.NewReader(b.String())
}

// Quote makes a path from the worktree readable in a message.
func Quote(path string) string {
	if strings.ContainsFunc(path, func(r rune) bool { return !strconv.IsPrint(r) }) {
		return strconv.Quote(path)
	}
	return "'" + strings.TrimSuffix(path, "/") + "'"
}

var plain = regexp.MustCompile(`^[A-Za-z0-9._/-]+$`)

// Word makes one word of the shell of any text.
func Word(s string) string {
	if plain.MatchString(s) {
		return s
	}
	if !strings.ContainsFunc(s, safetext.IsHidden) {
		return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
	}
	// One line in any case; dash has no such quotes, the others do.
	var b strings.Builder
	for _, c := range []byte(s) {
		switch {
		case c < ' ' || c >= 0x7f:
			fmt.Fprintf(&b, `\%03o`, c)
		case c == '\'' || c == '\\':
			b.WriteByte('\\')
			fallthrough
		default:
			b.WriteByte(c)
		}
	}
	return "$'" + b.String() + "'"
}
