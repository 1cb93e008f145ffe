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
		return lasting(choices, refused)
	case Allow:
		for _, l := range []struct {
			word  string
			lasts duration
		}{{Always, always}, {Session, session}, {Once, once}} {
			if order(d.For) < order(l.word) {
				continue
			}
			if c, ok := lasting(choices, l.lasts); ok {
				return c, true
			}
		}
		return profile.Choice{}, false
	default:
		return single(profile.ChoicesNamed(choices, d.Answer))
	}
}

func order(word string) int { return max(0, slices.Index([]string{Once, Session, Always}, word)) }

// lasting returns the only choice whose answer holds so long.
func lasting(choices []profile.Choice, d duration) (profile.Choice, bool) {
	return single(slices.DeleteFunc(slices.Clone(choices), func(c profile.Choice) bool { return durationOf(c.Label) != d }))
}

func single(choices []profile.Choice) (profile.Choice, bool) {
	if len(choices) != 1 {
		return profile.Choice{}, false
	}
	return choices[0], true
}

// duration says how long the answer of a choice holds.
type duration int

const (
	unknown duration = iota
	refused
	once
	session
	always
)

// labels are the labels of choices as the known clients word them, without what is in
// parentheses. A label that none of them matches is never picked for [Allow] or [Deny].
var labels = []struct {
	lasts  duration
	labels func() *regexp.Regexp
}{
	{refused, lazyregexp.New(`(?i)^(?:no|no, and tell \S+ what to do differently|no, suggest changes|reject|deny|don't allow|no, continue without running it)$`)},
	{once, lazyregexp.New(`(?i)^(?:yes|yes, proceed|yes, allow once|allow once|yes, just this once|allow)$`)},
	{session, lazyregexp.New(`(?i)^(?:allow for this session|yes, allow for this session|yes, and don't ask again this session|yes, and don't ask again for this command in this session|yes, allow all edits during this session|yes, allow reading from \S+ during this session)$`)},
	{always, lazyregexp.New(`(?i)^(?:yes, and don't ask again for .*|allow always|yes, allow always|allow for all future sessions|always allow .*)$`)},
}

var inParentheses = lazyregexp.New(`\s*\([^()]*\)\s*$`)

func durationOf(label string) duration {
	label = strings.TrimSpace(inParentheses().ReplaceAllString(strings.TrimSpace(label), ""))
	for _, l := range labels {
		if l.labels().MatchString(label) {
			return l.lasts
		}
	}
	return unknown
}
