package worktree

import (
	"strconv"
	"strings"

	"github.com/swarmhost/swarm/shared/errtext"
	"github.com/swarmhost/swarm/shared/safetext"
	"github.com/swarmhost/swarm/shared/swarm"
)

// reason is the text of an error inside a sentence.
func reason(err error) string {
	return oneLine(errtext.Without(err, swarm.ErrInvalidSpec, swarm.ErrUnavailable))
}

// oneLine keeps a file's name from breaking a message.
func oneLine(s string) string { return safetext.Line(s) }

// quote makes a path from the worktree readable in a message.
func quote(path string) string {
	if strings.ContainsFunc(path, func(r rune) bool { return !strconv.IsPrint(r) }) {
		return strconv.Quote(path)
	}
	return "'" + strings.TrimSuffix(path, "/") + "'"
}

// shellQuote makes one word of the shell of any path.
func shellQuote(s string) string {
	if strings.ContainsFunc(s, safetext.IsHidden) {
		// One line in any case; dash has no such quotes, the others do.
		var b strings.Builder
		for i := range len(s) {
			switch c := s[i]; {
			case c < ' ' || c >= 0x7f:
				b.WriteString("\\" + strconv.FormatInt(int64(c)|0o1000, 8)[1:])
			case c == '\'' || c == '\\':
				b.WriteByte('\\')
				fallthrough
			default:
				b.WriteByte(c)
			}
		}
		return "$'" + b.String() + "'"
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}
