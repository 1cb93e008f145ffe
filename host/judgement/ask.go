package judgement

import (
	"encoding/json"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/swarmhost/swarm/host/hookstate"
	"github.com/swarmhost/swarm/host/profile"
)

const (
	// drawnFor is how long after the report of a hook the dialog that it is about may be
	// drawn, and drawnBefore how long before it: the client runs the hook and draws the
	// dialog at the same time.
	drawnFor    = 10 * time.Second
	drawnBefore = 2 * time.Second
	// proof is how many characters of the end of a command identify it.
	proof = 24
)

// ask sets the question of a blocked agent, with what the hooks know of the same dialog.
func (j *judge) ask(s *State) {
	c := j.Hook
	if j.shown != profile.Blocked {
		s.Question, s.Origins.Question = c.Question, Origin{SourceHook, "the screen shows no dialog that a rule knows"}
		if s.Command = c.Command; s.Command != "" {
			s.Origins.Command = Origin{SourceHook, "the input of the tool that it asks for"}
		}
		return
	}
	l := j.Look
	s.Question, s.Choices, s.Dialog = l.Question, l.Choices, l.Dialog
	s.Origins.Question = Origin{SourceScreen, "the dialog"}
	if len(s.Choices) > 0 {
		s.Origins.Choices = Origin{SourceScreen, "the dialog"}
	}
	if c == nil || j.said != profile.Blocked {
		return
	}
	same, why := j.sameDialog()
	if !same {
		s.Origins.Question.Why = "the dialog; the report of the hooks is of another one: " + why
		return
	}
	s.Since, s.Origins.Since = c.Since, Origin{SourceHook, why}
	if s.Command = c.Command; s.Command != "" {
		s.Origins.Command = Origin{SourceHook, why}
	}
	what := whatOf(c)
	if what == "" || strings.Contains(squeeze(s.Question), squeeze(what)) {
		return
	}
	s.Question += " " + what
	s.Origins.Question = Origin{SourceScreen + "+" + SourceHook, "the dialog does not name all that it asks for; " + why}
}

// whatOf returns what a hook says that the agent wants to do, on one line.
func whatOf(c *hookstate.Claim) string {
	what := strings.ReplaceAll(c.Command, "\n", " ⏎ ")
	if strings.HasPrefix(what, "{") || what == "" {
		what = strings.TrimSpace(c.Tool + " " + what)
	}
	if c.Partial {
		what += "… (its end is missing)"
	}
	return what
}

// sameDialog reports whether the dialog on the screen is the one that the hooks reported, and
// why. A person may have left the reported dialog, which no hook reports, and opened another
// one. So a dialog with a text of its own must show the whole input that the hooks reported,
// or the part of it that fits on the screen, drawn when they reported it; one without has
// nothing but the time.
func (j *judge) sameDialog() (bool, string) {
	c, own := j.Hook, j.ownText()
	switch {
	case len(own) == 0 && j.drawnThen():
		return true, "the hooks reported it when the dialog was drawn, which has no text of its own"
	case len(own) == 0:
		return false, "it has no text of its own, and was drawn at another time"
	case c.Command != "" && showsCommand(own, c):
		return true, "the dialog shows the command that the hooks reported"
	case j.Look.Dialog.Cut && j.drawnThen() && showsEnd(own, c.Command):
		return true, "the dialog shows the end of the command that the hooks reported when it was drawn"
	case namesTool(own, c):
		return true, "the dialog names the tool that the hooks reported, and its input"
	default:
		return false, "it shows another text"
	}
}

// drawnThen reports whether the dialog was drawn when the hooks reported theirs.
func (j *judge) drawnThen() bool {
	if j.Unchanged.IsZero() {
		return false
	}
	after := j.Unchanged.Sub(j.Hook.Since)
	return after <= drawnFor && after >= -drawnBefore
}

// ownText returns the lines of the dialog above its choices, but for its question.
func (j *judge) ownText() []string {
	question := squeeze(j.Look.Question)
	var own []string
	for _, line := range j.Look.Dialog.Text {
		text := squeeze(line)
		isQuestion := strings.HasSuffix(text, "?") && strings.Contains(question, text)
		if text != "" && !isQuestion {
			own = append(own, line)
		}
	}
	return own
}

// showsCommand reports whether some lines, one after the other, are the command and nothing
// else. A command that is only a part of a line, or of more lines, is another one.
func showsCommand(lines []string, c *hookstate.Claim) bool {
	want := squeeze(c.Command)
	for first := range lines {
		rest := want
		for i, line := range lines[first:] {
			line = squeeze(line)
			if i == 0 {
				line = strings.TrimPrefix(line, "$")
			}
			if c.Partial && strings.HasPrefix(line, rest) {
				return true
			}
			var ok bool
			if rest, ok = strings.CutPrefix(rest, line); !ok {
				break
			}
			if rest == "" {
				return true
			}
		}
	}
	return false
}

// showsEnd reports whether the first lines are the end of a command that begins above the
// screen.
func showsEnd(lines []string, command string) bool {
	want, text := squeeze(command), ""
	for _, line := range lines {
		text += squeeze(line)
		if utf8.RuneCountInString(text) >= proof && strings.HasSuffix(want, text) {
			return true
		}
	}
	return false
}

// namesTool reports whether lines name a tool and each value of its input. All words of the
// name of an MCP tool are needed, such as mcp__swarm__read-messages.
func namesTool(lines []string, c *hookstate.Claim) bool {
	words := strings.Split(c.Tool, "__")
	if len(words) < 3 || words[0] != "mcp" {
		return false
	}
	text := strings.Join(strings.Fields(strings.Join(lines, " ")), " ")
	for _, w := range words[1:] {
		if !strings.Contains(text, w) {
			return false
		}
	}
	var input map[string]any
	if c.Partial || c.Command != "" && json.Unmarshal([]byte(c.Command), &input) != nil {
		return false
	}
	for _, v := range input {
		b, err := json.Marshal(v)
		if err != nil || !hasValue(text, strings.Trim(string(b), `"`)) {
			return false
		}
	}
	return true
}

// hasValue reports whether a value is in a text and is not a part of a longer one.
func hasValue(text, value string) bool {
	for value != "" {
		before, after, ok := strings.Cut(text, value)
		if !ok {
			return false
		}
		begins := before == "" || strings.ContainsRune(` "'([{,:=`, rune(before[len(before)-1]))
		ends := after == "" || strings.ContainsRune(` "')]},`, rune(after[0]))
		if begins && ends {
			return true
		}
		text = after
	}
	return true
}

// squeeze returns a text without white space and the frames around its lines: a screen breaks
// lines where it likes.
func squeeze(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsSpace(r) || r == '⏎' || r >= 0x2500 && r <= 0x259f {
			return -1
		}
		return r
	}, text)
}
