package profile

import (
	"slices"
	"strings"
	"unicode"
)

// placePrompt stands for the prompt in the arguments of a profile.
const placePrompt = "{prompt}"

// maxPrompt is the longest prompt that is given as an argument, in bytes: Linux takes less
// than 128 KiB as one.
const maxPrompt = 100_000

// WithPrompt returns a command that the profile was found for with the first prompt of its
// agent as an argument, right after its program, so that no option takes it for one of its
// values. It is nil if the prompt has to be typed: the agent has no such argument, the script
// of a shell runs it, the command has a prompt or a subcommand already, or the prompt is too
// long or would be taken for something else.
func (p *Profile) WithPrompt(command []string, prompt string) []string {
	at, words := p.place(command)
	switch {
	case len(p.file.Run.Prompt) == 0, at < 0, p.Headless(command), p.operands(words[1:]), slices.ContainsFunc(words[1:], p.givesPrompt):
		return nil
	case len(prompt) > maxPrompt, strings.ContainsRune(prompt, 0), strings.TrimSpace(prompt) == "":
		return nil
	case p.file.Run.Prompt[0] == placePrompt && !isText(prompt), isCommand(prompt):
		return nil
	}
	full := slices.Clone(command[:at+1])
	for _, word := range p.file.Run.Prompt {
		full = append(full, strings.Replace(word, placePrompt, prompt, 1))
	}
	return append(full, words[1:]...)
}

// isText reports whether an argument is neither an option nor a subcommand: it has several
// words.
func isText(arg string) bool {
	return !strings.HasPrefix(arg, "-") && strings.ContainsFunc(strings.TrimSpace(arg), unicode.IsSpace)
}

// givesPrompt reports whether an argument is an option whose value is a prompt.
func (p *Profile) givesPrompt(arg string) bool {
	name, _, _ := strings.Cut(arg, "=")
	return slices.Contains(p.file.Run.PromptFlags, name)
}

// isCommand reports whether a client may take a prompt for a command of its own, or for one of a
// shell: Codex runs what is behind a "!".
func isCommand(prompt string) bool {
	prompt = strings.TrimSpace(prompt)
	return strings.HasPrefix(prompt, "!") || strings.HasPrefix(prompt, "/")
}

// isOption reports whether an argument is an option, with or without its value.
func isOption(arg string) bool {
	return strings.HasPrefix(arg, "-") && arg != "-" && arg != "--"
}

// holdsPrompt reports whether an argument has a place for a prompt.
func holdsPrompt(arg string) bool { return strings.Contains(arg, "{prompt") }

// split divides arguments into options with their values, and single other arguments.
func (p *Profile) split(args []string) (parts [][]string) {
	takes := p.file.Run.Takes
	for len(args) > 0 {
		name, _, hasValue := strings.Cut(args[0], "=")
		n := 1
		switch {
		case !isOption(args[0]) || hasValue:
		case slices.Contains(takes, name):
			n = min(2, len(args))
		case slices.Contains(takes, name+"..."):
			for n < len(args) && !strings.HasPrefix(args[n], "-") {
				n++
			}
		case p.namesSession(args[0]) && len(args) > 1 && !strings.HasPrefix(args[1], "-") && !holdsPrompt(args[1]):
			n = 2
		}
		parts, args = append(parts, args[:n]), args[n:]
	}
	return parts
}

// operands reports whether some arguments are neither options nor their values.
func (p *Profile) operands(args []string) bool {
	return slices.ContainsFunc(p.split(args), func(part []string) bool { return !isOption(part[0]) })
}

// aside is how far a line is indented that a client shows next to the conversation, such as a
// notice at the right edge.
const aside = 20

// Answer returns what a screen shows behind the last echo of a prompt and above the place for
// input, in lines with letters: what the agent answered, with what its client adds. It is nil
// if the screen does not show the prompt.
func (p *Profile) Answer(s Screen, prompt string) []string {
	v := p.input.view(s)
	shown := v.lines
	if v.prompt >= 0 {
		shown = shown[:v.prompt]
	}
	first := p.behindEcho(shown, letters(prompt))
	var lines []string
	for _, line := range shown[first:] {
		if letters(line) != "" && len(line)-len(strings.TrimLeft(line, " ")) < aside {
			lines = append(lines, bare(line))
		}
	}
	return lines
}

// behindEcho returns the index of the line behind the last one that shows a prompt with these
// letters, or what stands for a long one; the number of lines if none does.
func (p *Profile) behindEcho(shown []string, prompt string) int {
	end := tail(prompt)
	// The echo is wrapped and framed as the agent likes: its letters alone count. The echo of a short
	// prompt is a line of its own.
	before := "" // the end of what is above
	last := -1
	for i, line := range shown {
		own := letters(line)
		text := before + own
		before = text[max(0, len(text)-len(end)+1):]
		switch {
		case matchesAny(p.input.pasted, line):
			last = i
		case len(prompt) < fewest && own == prompt && own != "":
			last = i
		case len(prompt) >= fewest && strings.Contains(text, end) && own != "":
			last = i
		}
	}
	if last < 0 {
		return len(shown)
	}
	return last + 1
}

func letters(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) || unicode.IsDigit(r) {
			return r
		}
		return -1
	}, text)
}
