package answers

import (
	"slices"
	"strings"
	"unicode"
)

// MatchCommand reports whether a pattern matches a whole command. In the pattern, a star
// matches any number of characters and a question mark one, but neither matches what a shell
// could take for more than a part of one simple command: the characters of [special], control
// characters, and characters that are not visible. A backslash takes the meaning from a star, a
// question mark or a backslash behind it. All other characters match themselves: a pattern that
// has an operator matches this operator in the same place.
func MatchCommand(pattern, command string) bool {
	return match(parse(pattern), []rune(command), isPlain)
}

// special are the characters that only a literal pattern matches: operators, quotes, expansions
// and comments of a shell. The last one is how clients shorten a command on their screens.
const special = ";&|<>(){}$`\\\"'#!" + "…"

// isPlain reports whether a star of a command pattern matches a character. The only
// white space that it matches is the blank.
func isPlain(c rune) bool { return unicode.IsPrint(c) && !strings.ContainsRune(special, c) }

// matchName reports whether a pattern matches a whole name.
func matchName(pattern, name string) bool {
	return match(parse(pattern), []rune(name), anything)
}

// mentions reports whether a pattern matches a command, or one of the simple commands that it
// may consist of. Here a star matches everything.
func mentions(pattern, command string) bool {
	p := parse(pattern)
	return slices.ContainsFunc(append(simple(command), command), func(part string) bool {
		return match(p, []rune(strings.TrimSpace(part)), anything)
	})
}

func anything(rune) bool { return true }

// simple returns the simple commands that a command may consist of.
func simple(command string) []string {
	return strings.FieldsFunc(command, func(c rune) bool { return strings.ContainsRune(";&|(){}`\n\r", c) })
}

// hides reports whether a pattern matches a command that another one may start, or that is
// written in another way, such as "rm *" in "sudo rm x", "/bin/rm x" or "\rm x". It is not
// certain that such a command is meant.
func hides(pattern, command string) bool {
	p := parse(pattern)
	if len(p) == 0 || p[0].many {
		return false // it would match the whole command
	}
	unquote := strings.NewReplacer(`\`, "", `"`, "", "'", "", "$", "")
	for _, part := range simple(command) {
		words := strings.Fields(unquote.Replace(part))
		for i := range words {
			words[i] = words[i][strings.LastIndexByte(words[i], '/')+1:]
			if rest := []rune(strings.Join(words[i:], " ")); len(rest) > 0 && (p[0].any || rest[0] == p[0].char) && match(p, rest, anything) {
				return true
			}
			if i == maxWords {
				return true
			}
		}
	}
	return false
}

// maxWords bounds the words that are looked at: a person reads what has more.
const maxWords = 1000

// symbol is a part of a pattern: a character, or a wild card.
type symbol struct {
	char rune
	// any says that it matches one character, and many that it matches any number of them.
	any, many bool
}

func parse(pattern string) []symbol {
	var out []symbol
	escaped := false
	for _, c := range pattern {
		switch {
		case escaped:
			if c != '*' && c != '?' && c != '\\' {
				out = append(out, symbol{char: '\\'})
			}
			out = append(out, symbol{char: c})
			escaped = false
		case c == '\\':
			escaped = true
		case c == '*':
			out = append(out, symbol{many: true})
		case c == '?':
			out = append(out, symbol{any: true})
		default:
			out = append(out, symbol{char: c})
		}
	}
	if escaped {
		out = append(out, symbol{char: '\\'})
	}
	return out
}

// match reports whether a pattern matches a whole text, where wild cards match only the
// characters that wild allows.
func match(pattern []symbol, text []rune, wild func(rune) bool) bool {
	// reached[j] says that the part of the pattern so far matches the first j characters.
	reached := make([]bool, len(text)+1)
	reached[0] = true
	for _, s := range pattern {
		next := make([]bool, len(text)+1)
		next[0] = s.many && reached[0]
		for j, c := range text {
			switch {
			case s.many:
				next[j+1] = reached[j+1] || next[j] && wild(c)
			case s.any:
				next[j+1] = reached[j] && wild(c)
			default:
				next[j+1] = reached[j] && s.char == c
			}
		}
		reached = next
	}
	return reached[len(text)]
}
