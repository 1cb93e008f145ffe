package answers

import (
	"regexp"
	"slices"
	"strings"

	"github.com/swarmhost/swarm/host/profile"
	"github.com/swarmhost/swarm/shared/lazyregexp"
)

// Pick returns the choice of a dialog that a decision means. It reports false if none or more
// than one could be meant: nothing is answered then. An answer that is to hold longer than the
// dialog offers holds as long as it offers; it never holds longer than the rule says.
func Pick(d Decision, choices []profile.Choice) (profile.Choice, bool) {
	switch d.Answer {
	case Deny:
		return choiceFor(choices, Deny)
	case Allow:
		longest := max(0, slices.Index(durations, d.For))
		for _, word := range slices.Backward(durations[:longest+1]) {
			if c, ok := choiceFor(choices, word); ok {
				return c, true
			}
		}
		return profile.Choice{}, false
	default:
		return single(profile.ChoicesNamed(choices, d.Answer))
	}
}

// durations are the words for how long an answer holds, the shortest first.
var durations = []string{Once, Session, Always}

// choiceFor returns the only choice that means a word: [Deny], or how long the answer holds.
func choiceFor(choices []profile.Choice, word string) (profile.Choice, bool) {
	return single(slices.DeleteFunc(slices.Clone(choices), func(c profile.Choice) bool { return meaningOf(c.Label) != word }))
}

func single(choices []profile.Choice) (profile.Choice, bool) {
	if len(choices) != 1 {
		return profile.Choice{}, false
	}
	return choices[0], true
}

// labels are the labels of choices as the known clients word them, without what is in
// parentheses. A label that none of them matches is never picked for [Allow] or [Deny].
var labels = []struct {
	word   string
	labels func() *regexp.Regexp
}{
	{Deny, lazyregexp.New(`(?i)^(?:no|no, and tell \S+ what to do differently|no, suggest changes|reject|deny|don't allow|no, continue without running it)$`)},
	{Once, lazyregexp.New(`(?i)^(?:yes|yes, proceed|yes, allow once|allow once|yes, just this once|allow)$`)},
	{Session, lazyregexp.New(`(?i)^(?:allow for this session|yes, allow for this session|yes, and don't ask again this session|yes, and don't ask again for this command in this session|yes, allow all edits during this session|yes, allow reading from \S+ during this session)$`)},
	{Always, lazyregexp.New(`(?i)^(?:yes, and don't ask again for .*|allow always|yes, allow always|allow for all future sessions|always allow .*)$`)},
}

var inParentheses = lazyregexp.New(`\s*\([^()]*\)\s*$`)

// meaningOf returns the word that a label means; empty if that is not known.
func meaningOf(label string) string {
	label = strings.TrimSpace(inParentheses().ReplaceAllString(strings.TrimSpace(label), ""))
	for _, l := range labels {
		if l.labels().MatchString(label) {
			return l.word
		}
	}
	return ""
}
