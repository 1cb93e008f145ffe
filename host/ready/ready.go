// Package ready decides from the screen of a program whether it waits for input: it knows
// the prompts of agents and of shells. host/display and host/ralph ask it for calls
// without a pattern and programs without a profile.
package ready

import (
	"slices"
	"strings"
	"unicode"

	"github.com/swarmhost/swarm/shared/lazyregexp"
)

// shown are what agents and shells show while they wait.
var shown = lazyregexp.New(
	`bypass\s+permissions`,
	`permissions?\s+mode`,
	`shift\+tab\s+to\s+cycle`,
	`Claude\s+Code\s+v\d`,
	`opencode\s+v\d`,
	`tab\s+switch\s+agent`,
	`ctrl\+p\s+commands`,
	// A prompt, also in a box: "> ", ">>> ", "❯ ".
	`^[\s│┃|]*(?:>|>>>|❯|›)(?:\s|$)`,
	// A shell's that nothing was typed at: "$ ", "sh-5.2$ ", "root@host:/# ",
	// "[me@host src]$ ".
	`^(?:\[[^\]]*\]|\S*[@:/~)-]\S*)?\s?[$#]\s*$`,
)

// choice is a line of a menu whose mark looks like a prompt: "❯ 1. Yes".
var choice = lazyregexp.New(`^[\s│┃|]*(?:>|❯|›)\s*\d+[.)]\s`)

// asking are dialogs that a person must answer before the agent takes any input:
// theme, login and trust. A program that moves the cursor in place of writing blanks
// leaves none between the words.
var asking = lazyregexp.New(
	`Choose\s*the\s*text\s*style`,
	`looks\s*best\s*with\s*your\s*terminal`,
	`Select\s*login\s*method`,
	`Paste\s*code\s*here`,
	`How\s*would\s*you\s*like\s*to\s*authenticate`,
	`Do\s*you\s*trust\s*(?:the|this)`,
	`Trust\s*this\s*folder\?`,
	`Yes,\s*I\s*trust\s*this\s*folder`,
)

// Lines reports whether these lines of plain text, the last ones of a screen or of
// an output, show a program that waits for input.
func Lines(lines []string) bool {
	return slices.ContainsFunc(lines, func(line string) bool {
		return shown().MatchString(line) && !choice().MatchString(line)
	}) && !Asking(lines)
}

// Asking reports whether these lines show a dialog that a person must answer first.
func Asking(lines []string) bool { return Question(lines) != "" }

const maxQuestion = 120

// Question returns the line that identifies such a dialog, without the frame around it, or
// "".
func Question(lines []string) string {
	at := slices.IndexFunc(lines, asking().MatchString)
	if at < 0 {
		return ""
	}
	line := strings.TrimFunc(lines[at], func(r rune) bool { return !unicode.IsLetter(r) && r != '?' })
	if text := []rune(line); len(text) > maxQuestion {
		line = string(text[:maxQuestion]) + "…"
	}
	return line
}
