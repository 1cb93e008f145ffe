// Package notice words what a person is notified about an event of a worker: on a terminal, on the
// desktop, by a server.
package notice

import (
	"cmp"
	"strings"

	"github.com/swarmhost/swarm/shared/safetext"
)

// longest is how many bytes of a text are shown.
const longest = 200

// needs is what is said of a worker, by the words of the events that need a person, see
// docs/hooks.md.
var needs = map[string]string{
	"failed": "failed", "lost": "is lost", "crash-loop": "is in a crash loop",
	"blocked": "asks", "limited": "is at a usage limit", "broken": "stopped with an error",
}

// Says returns what is said of a worker for an event with these words, such as "is lost"; empty if
// it needs no person.
func Says(words []string) string {
	says := ""
	for _, word := range words {
		says = cmp.Or(says, needs[word])
	}
	return says
}

// Clean returns a text of a worker as one short line without control characters.
func Clean(s string) string { return safetext.Cut(safetext.Line(s), longest) }

// Desktop returns the command line that shows a notice on the desktop. The texts hold no control
// characters, but for line feeds in the body.
func Desktop(title, body string) []string {
	// In bodies only: notify-send reads escapes there, and ends itself at one that is not
	// UTF-8, such as \377; the desktop reads markup.
	plain := strings.NewReplacer(`\`, `\\`, "&", "&amp;", "<", "&lt;", ">", "&gt;")
	return []string{"notify-send", "--app-name=swarm", "--", title, plain.Replace(body)}
}
