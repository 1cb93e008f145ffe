package profile

import (
	"errors"
	"slices"
	"strings"
)

var (
	// ErrNoResume says that the profile has no way to continue an earlier conversation.
	ErrNoResume = errors.New("it has no command that resumes a conversation")
	// ErrInScript says that a command runs the agent in the script of a shell, which can't
	// be changed.
	ErrInScript = errors.New("the script of a shell runs it")
)

// WantsPrompt reports whether a headless command lacks its prompt as its last argument.
func (p *Profile) WantsPrompt(command []string) bool {
	return len(command) > 0 && slices.Contains(p.file.Run.PromptFlags, command[len(command)-1])
}

// place returns where a command that the profile was found for runs its program, and the
// program with its arguments. The index is -1 in the script of a shell; words are nil if the
// command does not run it.
func (p *Profile) place(command []string) (at int, words []string) {
	all := programs(command, 0)
	i := slices.IndexFunc(all, p.runs)
	if i < 0 {
		return -1, nil
	}
	words = all[i]
	if at = len(command) - len(words); at >= 0 && &command[at] == &words[0] {
		return at, words
	}
	return -1, words
}

// withSession returns the words of a profile with a session, or its first characters, in the
// places for them.
func withSession(words []string, session string) []string {
	fill := strings.NewReplacer(placeSession, session, placeShort, session[:min(len(session), shortSession)])
	var full []string
	for _, word := range words {
		full = append(full, fill.Replace(word))
	}
	return full
}

// Resume returns the command that continues the conversation of a session, in place of a
// command of this profile. It keeps the options of that command, but neither its prompt nor
// a conversation that it names. The error is [ErrNoResume] or [ErrInScript].
func (p *Profile) Resume(command []string, session string) ([]string, error) {
	form := p.file.Run.Resume
	if p.Headless(command) && p.file.Run.HeadlessResume != nil {
		form = p.file.Run.HeadlessResume
	}
	if len(form) == 0 {
		return nil, ErrNoResume
	}
	at, words := p.place(command)
	if at < 0 {
		return nil, ErrInScript
	}
	return slices.Concat(command[:at+1], withSession(form[1:], session), p.options(words[1:], form)), nil
}

// Begin returns a command of this profile with the option that gives its conversation this
// session; nil if the agent has no such option, or the command names a session.
func (p *Profile) Begin(command []string, session string) []string {
	at, words := p.place(command)
	if len(p.file.Run.NewSession) == 0 || at < 0 || slices.ContainsFunc(words[1:], p.namesSession) {
		return nil
	}
	return slices.Concat(command[:at+1], withSession(p.file.Run.NewSession, session), words[1:])
}

// SessionIn returns the session that a command gives its new conversation, or "".
func (p *Profile) SessionIn(command []string) string {
	at, words := p.place(command)
	if len(p.file.Run.NewSession) != 2 || at < 0 {
		return ""
	}
	for i, word := range words {
		if id, ok := strings.CutPrefix(word, p.file.Run.NewSession[0]+"="); ok {
			return id
		}
		if word == p.file.Run.NewSession[0] && i+1 < len(words) {
			return words[i+1]
		}
	}
	return ""
}

// namesSession reports whether an argument chooses a conversation.
func (p *Profile) namesSession(arg string) bool {
	name, _, _ := strings.Cut(arg, "=")
	return slices.Contains(p.file.Run.Drops, name)
}

// options returns the options among arguments, with their values, that a resumed agent
// gets too. form is how it is resumed. Other arguments are prompts and subcommands; those
// with a place for a prompt stay.
func (p *Profile) options(args, form []string) (kept []string) {
	for _, part := range p.split(args) {
		arg := part[0]
		keeps := holdsPrompt(arg)
		if isOption(arg) {
			keeps = !p.namesSession(arg) && !slices.Contains(form, arg)
		}
		if keeps {
			kept = append(kept, part...)
		}
	}
	return kept
}
