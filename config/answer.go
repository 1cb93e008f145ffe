package config

import (
	"cmp"
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/BurntSushi/toml"

	"github.com/swarmhost/swarm/shared/tomlscan"
)

// Answer is a rule that answers questions of agents.
type Answer struct {
	// Profile, Tool and Worker are patterns of names, Command is one of a command; empty: any.
	Profile, Tool, Command, Worker string
	// Project is a directory, absolute; empty: any.
	Project string
	// Answer is one of the words, or a choice of a dialog.
	Answer string
	// For is one of the words, or empty.
	For string
	// Source says for people where the rule is.
	Source string
}

// The words for Answer.Answer, and those for Answer.For.
const (
	AnswerAllow = "allow"
	AnswerDeny  = "deny"
	AnswerAsk   = "ask"

	ForOnce    = "once"
	ForSession = "session"
	ForAlways  = "always"
)

// The words for Team.Answers.
const (
	AnswersPerson = "person"
	AnswersLeader = "leader"
)

// Stops returns the words for Team.Notify.
func Stops() []string { return []string{"blocked", "idle", "limited", "broken"} }

// answersKey is the key of the rules.
const answersKey = "answers"

func answerFields() []field[Answer] {
	return []field[Answer]{
		newField("profile", patternKind, func(a *Answer) *string { return &a.Profile },
			"Only agents with such a profile, as in \"claude\". A star stands for any characters, here and in tool and worker."),
		newField("tool", patternKind, func(a *Answer) *string { return &a.Tool },
			"Only questions about such a tool, by the client's own name for it, as in \"Bash\". Only the client's hook names the tool."),
		newField("command", patternKind, func(a *Answer) *string { return &a.Command },
			"Only questions about such a command of a shell: the whole command has to match. In a rule that allows, a star matches no operator, quote, variable or comment of a shell and no new line."),
		newField("worker", patternKind, func(a *Answer) *string { return &a.Worker },
			"Only workers with such a name."),
		newField("project", patternKind, func(a *Answer) *string { return &a.Project },
			"Only workers of this directory, or below it. A path is relative to this file."),
		newField("answer", patternKind, func(a *Answer) *string { return &a.Answer },
			"\"allow\", \"deny\", \"ask\" (a person), or a choice of the dialog: its key or the beginning of its label. If several rules match, \"deny\" counts before \"ask\", and that before all others."),
		newField("for", choiceKind(ForOnce, ForSession, ForAlways), func(a *Answer) *string { return &a.For },
			"How long the client is to remember what is allowed, where it offers that. Without it: \"once\"."),
	}
}

var patternKind = kind[string]{readPattern, showText, Schema{Type: "string", MinLength: 1}}

func readPattern(v any) (string, error) {
	s, err := readText(v)
	if err == nil && s == "" {
		err = errors.New("expected a text that is not empty")
	}
	return s, err
}

// isAnswers reports whether a key is the array of rules or in it.
func isAnswers(key toml.Key) bool { return key[0] == answersKey }

// rules reads the whole array of rules at its first key. spots are the places of all keys of the
// document.
func (d *decoder) rules(keys []toml.Key, spots []tomlscan.Spot, first tomlscan.Spot) {
	d.done[answersKey] = true
	tables, ok := tablesOf(d.root[answersKey])
	if !ok {
		d.problems = append(d.problems, Problem{
			At: d.source.position(first.Key), Key: answersKey,
			Text: "expected an array of tables: begin each rule with [[answers]]",
		})
		return
	}
	d.origins[answersKey] = d.source.position(first.Key)
	places := placesOf(keys, spots)
	if len(places) != len(tables) { // they are inline tables
		places = make([]map[string]tomlscan.Spot, len(tables))
	}
	for i, table := range tables {
		d.rule(i+1, table, first, places[i])
	}
}

// tablesOf returns the tables of an array of them.
func tablesOf(v any) (tables []map[string]any, ok bool) {
	if tables, ok = v.([]map[string]any); ok {
		return tables, true
	}
	list, ok := v.([]any)
	for _, v := range list {
		table, isTable := v.(map[string]any)
		tables, ok = append(tables, table), ok && isTable
	}
	return tables, ok
}

// placesOf returns the places of the keys of each [[answers]], by their names; that of the table
// itself is that of the empty name.
func placesOf(keys []toml.Key, spots []tomlscan.Spot) []map[string]tomlscan.Spot {
	var places []map[string]tomlscan.Spot
	for i, key := range keys {
		switch {
		case !isAnswers(key):
		case len(key) == 1:
			places = append(places, map[string]tomlscan.Spot{"": spots[i]})
		case len(places) > 0:
			last := places[len(places)-1]
			last[key[1]] = cmp.Or(last[key[1]], spots[i])
		}
	}
	return places
}

// rule reads one rule, the nth of the file.
func (d *decoder) rule(n int, table map[string]any, first tomlscan.Spot, places map[string]tomlscan.Spot) {
	name := fmt.Sprintf("%s[%d]", answersKey, n)
	begin := cmp.Or(places[""], first)
	wrong := func(key string, text string, value bool) {
		spot := cmp.Or(places[key], begin)
		offset := spot.Key
		if value && spot.Value > 0 {
			offset = spot.Value
		}
		p := Problem{At: d.source.position(offset), Key: name, Text: text}
		if key != "" {
			p.Key = name + "." + bare(key)
		}
		d.problems = append(d.problems, p)
	}
	found := len(d.problems)
	a := Answer{Source: fmt.Sprintf("rule %d of %s", n, d.source.file)}
	for _, key := range sortedKeys(table) {
		f, known := d.answer.field(key)
		if !known {
			wrong(key, "unknown key"+didYouMean(nearestKey(key, keysBelow("", d.answer.fields))), false)
			continue
		}
		if err := f.set(&a, table[key]); err != nil {
			wrong(key, err.Error(), true)
		}
	}
	if len(d.problems) > found {
		return
	}
	if word := strings.ToLower(a.Answer); word == AnswerAllow || word == AnswerDeny || word == AnswerAsk {
		a.Answer = word
	}
	allows := a.Answer != AnswerDeny && a.Answer != AnswerAsk
	switch {
	case a.Answer == "":
		wrong("", `the answer is missing, such as answer = "ask"`, false)
	case allows && a.Tool == "" && a.Command == "":
		wrong("", "a rule that allows something needs a tool or a command: this one would allow everything", false)
	case !allows && a.For != "":
		wrong("for", fmt.Sprintf("it is only for a rule that allows something, and this one has answer = %q", a.Answer), false)
	default:
		d.into.Answers = append(d.into.Answers, a)
	}
}

// dropAnswers removes the rules of a project's file that do more than ask, whether or not the
// file is trusted, and returns a record of them.
func (c *Config) dropAnswers(origins map[string]Position, have *Config) []Ignored {
	var kept []Answer
	var dropped []Ignored
	for _, a := range c.Answers {
		if r := ruleOf(answersKey + ".answer"); r.needsTrust(offer{file: c, answer: &a, have: have}) {
			if dropped == nil {
				dropped = []Ignored{{Key: answersKey, At: origins[answersKey], UserOnly: true}}
			}
			continue
		}
		kept = append(kept, a)
	}
	c.Answers = kept
	return dropped
}

// locate makes the path of a rule absolute.
func (a *Answer) locate(dir, home string) {
	if a.Project != "" {
		a.Project = absolute(a.Project, dir, home)
	}
}

// showAnswers returns rules in TOML, and "" for no rules.
func showAnswers(all []Answer) string {
	if len(all) == 0 {
		return ""
	}
	shown := make([]string, len(all))
	for i, a := range all {
		var pairs []string
		for _, f := range answerFields() {
			if value := f.show(&a); value != "" {
				pairs = append(pairs, f.key+" = "+value)
			}
		}
		shown[i] = "{" + strings.Join(pairs, ", ") + "}"
	}
	return "[" + strings.Join(shown, ", ") + "]"
}

// ProjectAnswers returns the rules of the project's file for a directory. A file that breaks the
// owner rule has none, and no trust is needed: all that they can do is to ask.
func ProjectAnswers(dir, home string, checks Checks) ([]Answer, error) {
	path := FindProject(filepath.Clean(dir))
	if path == "" {
		return nil, nil
	}
	l, err := Load(Options{Project: path, Home: home, Checks: checks})
	return l.Config.Answers, err
}
