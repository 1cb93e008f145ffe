package answers

import (
	"cmp"
	"path/filepath"
	"slices"
	"strings"
)

// The words that a [Rule] can answer, other than a choice.
const (
	Allow = "allow"
	Deny  = "deny"
	Ask   = "ask"
)

// The words for how long an answer that allows something holds.
const (
	Once    = "once"
	Session = "session"
	Always  = "always"
)

// Rule says what to answer to some questions. An empty field matches every question.
type Rule struct {
	// Source says for people where the rule is, such as "rule 2 of /home/me/.config/swarm/config.toml".
	Source string
	// Profile, Tool and Worker are patterns of names: a star matches any characters, a
	// question mark one.
	Profile, Tool, Worker string
	// Command is a pattern of a whole command of a shell, see [MatchCommand].
	Command string
	// Project is an absolute path: that of a directory which the worker belongs to, or one
	// above it.
	Project string
	// Answer is [Allow], [Deny], [Ask], or a choice: its key or the beginning of its label.
	Answer string
	// For is how long an answer holds; empty: [Once].
	For string
}

// Question is what is known of the question of an agent.
type Question struct {
	// Profile and Worker are the names of the agent's profile and of its worker.
	Profile, Worker string
	// Projects are the directories that the worker belongs to, absolute.
	Projects []string
	// Tool is the client's own name of the tool that it asks about; empty: not known.
	Tool string
	// Command is the whole command that the agent wants a shell to run, as the shell will
	// get it; empty: it asks about something else, or the command is not known.
	Command string
	// Certain says that Command and Tool come from the client's own hook, or from a dialog
	// that is whole and whose frame is certain. No rule answers without it.
	Certain bool
}

// Decision is the answer of a rule.
type Decision struct {
	// Answer is [Allow], [Deny], or a choice as [Rule.Answer] has it.
	Answer string
	// For is how long it holds: [Once], [Session] or [Always].
	For  string
	Rule Rule
}

// Decide returns the answer of the rules to a question. It reports false if a person has to
// answer: no rule is for the question, a rule says [Ask], rules contradict each other, or too
// little is known of the question.
func Decide(rules []Rule, q Question) (Decision, bool) {
	if !q.Certain {
		return Decision{}, false
	}
	asks := false
	var allowing []Rule
	for _, r := range rules {
		switch {
		case !r.meets(q):
		case r.Answer == Deny && r.mentions(q):
			return r.decision(), true
		case r.Answer == Deny || r.Answer == Ask:
			asks = asks || r.mayMention(q)
		case r.isFor(q):
			allowing = append(allowing, r)
		}
	}
	if asks || len(allowing) == 0 {
		return Decision{}, false
	}
	for _, r := range allowing[1:] {
		if !strings.EqualFold(r.Answer, allowing[0].Answer) {
			return Decision{}, false
		}
	}
	return allowing[0].decision(), true
}

func (r Rule) decision() Decision {
	return Decision{Answer: r.Answer, For: cmp.Or(r.For, Once), Rule: r}
}

// isFor reports whether a rule that allows something is for what is asked. One that names
// neither a tool nor a command would allow everything, and is for no question.
func (r Rule) isFor(q Question) bool {
	return (r.Tool != "" || r.Command != "") &&
		(r.Tool == "" || q.Tool != "" && matchName(r.Tool, q.Tool)) &&
		(r.Command == "" || q.Command != "" && MatchCommand(r.Command, q.Command))
}

// mentions reports whether a rule that denies something, or asks, is for what is asked.
func (r Rule) mentions(q Question) bool {
	return (r.Tool == "" || q.Tool != "" && matchName(r.Tool, q.Tool)) &&
		(r.Command == "" || q.Command != "" && mentions(r.Command, q.Command))
}

// mayMention is like mentions, and true also if the tool or the command is not known, or if
// another command may start the one that is meant. A question with a tool and without a command
// is about something else than a command.
func (r Rule) mayMention(q Question) bool {
	return (r.Tool == "" || q.Tool == "" || matchName(r.Tool, q.Tool)) &&
		(r.Command == "" || q.Command == "" && q.Tool == "" ||
			q.Command != "" && (mentions(r.Command, q.Command) || hides(r.Command, q.Command)))
}

// meets reports whether a rule is for the agent that asks a question.
func (r Rule) meets(q Question) bool {
	return (r.Profile == "" || matchName(r.Profile, q.Profile)) && (r.Worker == "" || matchName(r.Worker, q.Worker)) &&
		(r.Project == "" || isWithin(r.Project, q.Projects))
}

// isWithin reports whether one of the directories is dir, or below it.
func isWithin(dir string, directories []string) bool {
	return slices.ContainsFunc(directories, func(d string) bool {
		rel, err := filepath.Rel(dir, d)
		return err == nil && filepath.IsLocal(rel)
	})
}
