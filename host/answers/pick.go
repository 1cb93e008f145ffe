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
		return only(choices, func(c profile.Choice) bool { return durationOf(c.Label) == refused })
	case Allow:
		for _, l := range []struct {
			word  string
			lasts duration
		}{{Always, always}, {Session, session}, {Once, once}} {
			if order(d.For) < order(l.word) {
				continue
			}
			if c, ok := only(choices, func(c profile.Choice) bool { return durationOf(c.Label) == l.lasts }); ok {
				return c, true
			}
		}
		return profile.Choice{}, false
	default:
		return named(d.Answer, choices)
	}
}

func order(word string) int { return max(0, slices.Index([]string{Once, Session, Always}, word)) }

// named returns the choice with a key, a label or the beginning of a label.
func named(text string, choices []profile.Choice) (profile.Choice, bool) {
	for _, same := range []func(profile.Choice) bool{
		func(c profile.Choice) bool { return strings.EqualFold(c.Key, text) },
		func(c profile.Choice) bool { return strings.EqualFold(c.Label, text) },
		func(c profile.Choice) bool {
			return text != "" && strings.HasPrefix(strings.ToLower(c.Label), strings.ToLower(text))
		},
	} {
		if slices.ContainsFunc(choices, same) {
			return only(choices, same)
		}
	}
	return profile.Choice{}, false
}

func only(choices []profile.Choice, is func(profile.Choice) bool) (profile.Choice, bool) {
	at := slices.IndexFunc(choices, is)
	if at < 0 || slices.ContainsFunc(choices[at+1:], is) {
		return profile.Choice{}, false
	}
	return choices[at], true
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
