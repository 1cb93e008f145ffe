package profile

import (
	"cmp"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/BurntSushi/toml"

	"github.com/swarmhost/swarm/shared/lazyregexp"
	"github.com/swarmhost/swarm/shared/tomlscan"
)

type file struct {
	Name    string   `toml:"name"`
	Title   string   `toml:"title"`
	Extends string   `toml:"extends"`
	Remove  []string `toml:"remove"`
	// Verified are the versions with which the recorded screens were made.
	Verified []string    `toml:"verified"`
	Match    recognition `toml:"match"`
	Input    struct {
		Prompt     string   `toml:"prompt"`
		Above      string   `toml:"above"`
		Near       int      `toml:"near"`
		Margin     string   `toml:"margin"`
		End        string   `toml:"end"`
		Footer     string   `toml:"footer"`
		Open       int      `toml:"open"`
		Below      *int     `toml:"below"`
		Hints      []string `toml:"hints"`
		HintStyle  []string `toml:"hint_style"`
		Pasted     []string `toml:"pasted"`
		Attached   string   `toml:"attached"`
		PasteGuard int64    `toml:"paste_guard_ms"`
		Settle     int64    `toml:"settle_ms"`
		Reenter    *bool    `toml:"reenter"`
		IdleOnly   bool     `toml:"idle_only"`
	} `toml:"input"`
	Dialog struct {
		Top      string   `toml:"top"`
		Inside   string   `toml:"inside"`
		Head     string   `toml:"head"`
		Box      string   `toml:"box"`
		Volatile []string `toml:"volatile"`
		Declined []string `toml:"declined"`
	} `toml:"dialog"`
	Run struct {
		Flags         []string `toml:"flags"`
		Headless      []string `toml:"headless"`
		HeadlessFlags []string `toml:"headless_flags"`
		Resume        []string `toml:"resume"`
		// PromptFlags are those whose value is the prompt: without them, or with a value,
		// the headless form reads standard input.
		PromptFlags []string `toml:"prompt_flags"`
		// Prompt are the arguments that give an agent with a screen its first prompt.
		Prompt []string `toml:"prompt"`
		// HeadlessResume is for a headless agent; nil: Resume with its options.
		HeadlessResume []string `toml:"headless_resume"`
		// Conversation are patterns of paths: where the agent keeps a conversation that can be
		// resumed. Begun matches a line of such a file if an agent without a prompt has one, too.
		// NoConversation matches what it writes if it has none to resume.
		Conversation   []string `toml:"conversation"`
		Begun          string   `toml:"conversation_begun"`
		NoConversation []string `toml:"no_conversation"`
		// NewSession are the arguments that give a new conversation its session.
		NewSession []string `toml:"new_session"`
		// Takes are the options with a value, "..." behind those with several, and Drops
		// those that choose a conversation.
		Takes   []string `toml:"takes"`
		Drops   []string `toml:"resume_drops"`
		Session string   `toml:"session"`
		Env     []string `toml:"env"`
	} `toml:"run"`
	Rules []fileRule `toml:"rules"`
}

// recognition holds the names by which a command is recognised.
type recognition struct {
	Programs []string `toml:"programs"`
	Packages []string `toml:"packages"`
	Paths    []string `toml:"paths"`
	Bare     bool     `toml:"bare"`
}

type fileRule struct {
	Name      string       `toml:"name"`
	Before    string       `toml:"before"`
	After     string       `toml:"after"`
	State     State        `toml:"state"`
	In        string       `toml:"in"`
	Last      int          `toml:"last"`
	From      string       `toml:"from"`
	Prompt    bool         `toml:"prompt"`
	All       []string     `toml:"all"`
	Any       []string     `toml:"any"`
	None      []string     `toml:"none"`
	Style     []string     `toml:"style"`
	Question  []string     `toml:"question"`
	Title     []string     `toml:"title"`
	First     string       `toml:"first"`
	Command   [][]string   `toml:"command"`
	Choice    string       `toml:"choice"`
	Below     *int         `toml:"below"`
	Footer    []string     `toml:"footer"`
	Submit    []string     `toml:"submit"`
	SubmitRow string       `toml:"submit_row"`
	Press     string       `toml:"press"`
	Spaced    bool         `toml:"spaced"`
	Described []string     `toml:"description_style"`
	Dismiss   string       `toml:"dismiss"`
	Text      []string     `toml:"text"`
	Hazard    []string     `toml:"hazard"`
	Choices   []fileChoice `toml:"choices"`
	Settle    int64        `toml:"settle_ms"`
}

type fileChoice struct {
	Key   string `toml:"key"`
	Label string `toml:"label"`
}

type problem struct {
	file string
	line int // 0: the file as a whole
	key  string
	text string
}

func (p problem) Error() string {
	at := p.file
	if p.line > 0 {
		at = fmt.Sprintf("%s:%d", p.file, p.line)
	}
	if p.key != "" {
		at += ": " + p.key
	}
	return at + ": " + p.text
}

// typeError matches the TOML library's error for a value of the wrong type.
var typeError = lazyregexp.New(`^line (\d+) \(last key "(.*?)"\): (.*)$`)

type reader struct {
	path  string
	lines map[string]int
	// problems make a profile useless, and notes do not.
	problems, notes []error
}

func (r *reader) wrong(key, format string, args ...any) {
	r.problems = append(r.problems, r.problem(key, format, args...))
}

func (r *reader) note(key, format string, args ...any) {
	r.notes = append(r.notes, r.problem(key, format, args...))
}

func (r *reader) problem(key, format string, args ...any) problem {
	line := r.lines[key]
	if dot := strings.LastIndexByte(key, '.'); line == 0 && dot > 0 {
		line = r.lines[key[:dot]]
	}
	return problem{file: r.path, line: line, key: key, text: fmt.Sprintf(format, args...)}
}

// parse reads a profile. base returns another profile that this one may extend; nil: it may not
// extend any. The profile is nil if it is useless; otherwise the error says what of it does not
// count.
func parse(path, name, text string, base func(name string) *Profile) (*Profile, error) {
	p := &Profile{Text: text}
	if _, over := tomlscan.Keys(text); over != nil {
		return nil, problem{file: path, line: 1 + strings.Count(text[:over.At], "\n"), text: over.Why}
	}
	meta, err := toml.Decode(text, &p.file)
	if err != nil {
		if at, ok := errors.AsType[toml.ParseError](err); ok {
			return nil, problem{file: path, line: at.Position.Line, text: at.Message}
		}
		text := strings.TrimPrefix(err.Error(), "toml: ")
		if m := typeError().FindStringSubmatch(text); m != nil {
			line, _ := strconv.Atoi(m[1]) // digits
			return nil, problem{file: path, line: line, key: m[2], text: m[3]}
		}
		return nil, problem{file: path, text: text}
	}
	r := &reader{path: path, lines: keyLines(text)}
	for _, key := range meta.Undecoded() {
		r.wrong(r.first(key), "unknown key; see 'swarm agent profiles claude' for the known ones")
	}
	p.file.Name = cmp.Or(p.file.Name, name)
	if !validName(p.file.Name) {
		r.wrong("name", "expected lower-case letters, digits and dashes, such as \"my-agent\", got %q", p.file.Name)
	}
	if words := p.file.Run.Prompt; len(words) > 0 && !strings.Contains(strings.Join(words, " "), placePrompt) {
		r.wrong("run.prompt", "expected arguments of which one is %q, got %q", placePrompt, words)
	}
	b := r.base(&p.file, base)
	if b != nil {
		p.inherit(b, &meta)
	}
	r.conversation(&p.file)
	p.input = r.input(&p.file)
	p.dialog = r.dialog(&p.file)
	for i := range p.file.Rules {
		p.rules = append(p.rules, r.rule(i, &p.file.Rules[i]))
	}
	r.unique(p.rules)
	if b != nil {
		r.override(p, b)
	}
	switch {
	case len(p.rules) == 0:
		r.wrong("rules", "at least one [[rules]] is needed, or extends = \"NAME\" for those of another profile")
	case len(p.Recognised()) == 0:
		r.wrong("match", "expected programs, packages or paths by which a command is recognised")
	}
	p.file.Title = cmp.Or(p.file.Title, p.file.Name)
	if len(r.problems) > 0 {
		return nil, errors.Join(append(r.problems, r.notes...)...)
	}
	return p, errors.Join(r.notes...)
}

func validName(name string) bool {
	return regexp.MustCompile(`^[a-z0-9][a-z0-9-]{0,31}$`).MatchString(name)
}

func (r *reader) input(f *file) input {
	in := f.Input
	r.milliseconds("input.paste_guard_ms", in.PasteGuard)
	r.milliseconds("input.settle_ms", in.Settle)
	if in.Open < 0 {
		r.wrong("input.open", "expected a number of lines, 0 if a prompt always shows the line below it, got %d", in.Open)
	}
	if in.Near < 0 {
		r.wrong("input.near", "expected a number of lines, 1 if above is right above the prompt, got %d", in.Near)
	}
	return input{
		prompt:   r.pattern("input.prompt", in.Prompt),
		above:    r.pattern("input.above", in.Above),
		below:    *cmp.Or(in.Below, new(defaultBelow)),
		margin:   r.pattern("input.margin", in.Margin),
		end:      r.pattern("input.end", in.End),
		near:     max(1, in.Near),
		footer:   r.pattern("input.footer", in.Footer),
		open:     in.Open,
		idleOnly: in.IdleOnly,
		hints:    r.patterns("input.hints", in.Hints),
		looks:    r.styles("input.hint_style", in.HintStyle),
		pasted:   r.patterns("input.pasted", in.Pasted), attached: r.pattern("input.attached", in.Attached),
	}
}

func (r *reader) dialog(f *file) dialogShape {
	d := f.Dialog
	if d.Head != "" && d.Inside == "" {
		r.wrong("dialog.head", "it goes with inside, which says how far the lines of a dialog can be")
	}
	if d.Top != "" && d.Inside != "" {
		r.wrong("dialog.top", "it can't be combined with inside: either a line above a dialog is known, or its own lines")
	}
	return dialogShape{
		top: r.pattern("dialog.top", d.Top), inside: r.pattern("dialog.inside", d.Inside), head: r.pattern("dialog.head", d.Head),
		box:      r.pattern("dialog.box", d.Box),
		volatile: r.patterns("dialog.volatile", d.Volatile),
		declined: r.patterns("dialog.declined", d.Declined),
	}
}

func (r *reader) milliseconds(key string, n int64) {
	if n < 0 || n > 10_000 {
		r.wrong(key, "expected milliseconds between 0 and 10000, got %d", n)
	}
}

// defaultBelow is how many lines there may be under a menu or a prompt: hints on keys.
const defaultBelow = 4

// ruleKey is the key of a rule, as errors name it.
func ruleKey(i int, key string) string { return fmt.Sprintf("rules[%d].%s", i+1, key) }

func (r *reader) rule(i int, f *fileRule) rule {
	key := func(name string) string { return ruleKey(i, name) }
	if f.Name == "" {
		r.wrong(key("name"), "a name is missing, such as name = \"permission\"")
	}
	if !slices.Contains([]State{Working, Idle, Blocked, Background, Compacting, Limited, Broken}, f.State) {
		r.wrong(key("state"), "expected working, idle, blocked, background, compacting, limited or broken, got %q", f.State)
	}
	if f.In != "" && !slices.Contains(regions, f.In) {
		r.wrong(key("in"), "expected one of %s, got %q", strings.Join(regions, ", "), f.In)
	}
	if len(f.Style) > 0 && len(f.All)+len(f.Any) == 0 {
		r.wrong(key("style"), "it goes with all and any: it is the style of what they match")
	}
	if len(f.Submit)+len(f.Text)+len(f.Hazard) > 0 && f.Choice == "" && len(f.Choices) == 0 {
		r.wrong(key("choice"), "submit, text and hazard match the labels of choices")
	}
	if f.Press != "" && !strings.Contains(f.Choice, "?P<box>") {
		r.wrong(key("press"), "it goes with a choice that has the group (?P<box>…): it is the key that checks a box")
	}
	if f.Last < 0 {
		r.wrong(key("last"), "expected a number of lines, 0 for the whole screen, got %d", f.Last)
	}
	if len(f.All) == 0 && len(f.Any) == 0 && f.Choice == "" && !f.Prompt {
		r.wrong(key("all"), "a rule needs all, any, choice or prompt = true: it would match every screen")
	}
	if f.State != Blocked && (f.Choice != "" || len(f.Question)+len(f.Title)+len(f.Command)+len(f.Choices) > 0) {
		r.wrong(key("state"), "question, title, command, choice and choices are for state = \"blocked\" only")
	}
	r.milliseconds(key("settle_ms"), f.Settle)
	made := rule{
		name: f.Name, state: f.State, settle: time.Duration(f.Settle) * time.Millisecond,
		in: f.In, last: f.Last, below: *cmp.Or(f.Below, new(defaultBelow)), prompt: f.Prompt,
		from: r.pattern(key("from"), f.From), footer: r.patterns(key("footer"), f.Footer),
		styles:    r.styles(key("style"), f.Style),
		submitRow: r.pattern(key("submit_row"), f.SubmitRow), press: f.Press, spaced: f.Spaced, described: r.styles(key("description_style"), f.Described), dismiss: f.Dismiss,
		submit: r.patterns(key("submit"), f.Submit), text: r.patterns(key("text"), f.Text), hazard: r.patterns(key("hazard"), f.Hazard),
		all: r.patterns(key("all"), f.All), any: r.patterns(key("any"), f.Any), none: r.patterns(key("none"), f.None),
		question: r.patterns(key("question"), f.Question), title: r.patterns(key("title"), f.Title), first: r.pattern(key("first"), f.First), choice: r.pattern(key("choice"), f.Choice),
	}
	if made.first != nil && made.choice == nil {
		r.wrong(key("first"), "it goes with choice: it is the first line of a dialog with a menu")
	}
	if p := made.choice; p != nil && p.SubexpIndex("label") < 0 {
		r.wrong(key("choice"), "expected the group (?P<label>…), and (?P<key>…) and (?P<selected>…) where rows have them")
	}
	if p := made.submitRow; p != nil && p.SubexpIndex("label") < 0 {
		r.wrong(key("submit_row"), "expected the group (?P<label>…), and (?P<selected>…) where rows show it")
	}
	for _, pair := range f.Command {
		if len(pair) < 1 || len(pair) > 2 {
			r.wrong(key("command"), "expected [[\"line above the command\", \"line below it\"]], got %d patterns in a pair", len(pair))
			continue
		}
		b := between{from: r.pattern(key("command"), pair[0])}
		if len(pair) == 2 {
			b.to = r.pattern(key("command"), pair[1])
		}
		if b.from == nil && pair[0] == "" {
			r.wrong(key("command"), "an empty pattern matches every line")
		} else if b.from != nil {
			made.command = append(made.command, b)
		}
	}
	for _, c := range f.Choices {
		if c.Label == "" {
			r.wrong(key("choices"), "expected {label = \"Yes\", key = \"1\"}; without key if none answers it")
		}
		made.choices = append(made.choices, Choice{Key: c.Key, Label: c.Label})
	}
	return made
}

func (r *reader) patterns(key string, texts []string) []*regexp.Regexp {
	var all []*regexp.Regexp
	for _, text := range texts {
		if p := r.pattern(key, text); p != nil {
			all = append(all, p)
		} else if text == "" {
			r.wrong(key, "an empty pattern matches every line")
		}
	}
	return all
}

func (r *reader) pattern(key, text string) *regexp.Regexp {
	if text == "" {
		return nil
	}
	p, err := regexp.Compile(text)
	if err != nil {
		r.wrong(key, "%s", strings.TrimPrefix(err.Error(), "error parsing regexp: "))
		return nil
	}
	return p
}

var (
	headerLine = lazyregexp.New(`^\s*\[(\[?)\s*([A-Za-z0-9_.-]+)\s*\]`)
	keyLine    = lazyregexp.New(`^\s*"?([A-Za-z0-9_.-]+)"?\s*=`)
)

// keyLines returns on which line each key of a TOML file is; the second table of an
// array is called table[2].
func keyLines(text string) map[string]int {
	lines, tables, count := map[string]int{}, "", map[string]int{}
	for i, line := range strings.Split(text, "\n") {
		if m := headerLine().FindStringSubmatch(line); m != nil {
			tables = m[2]
			if m[1] != "" {
				count[tables]++
				tables = fmt.Sprintf("%s[%d]", tables, count[tables])
			}
			lines[tables] = i + 1
			tables += "."
		} else if m := keyLine().FindStringSubmatch(line); m != nil {
			if key := tables + m[1]; lines[key] == 0 {
				lines[key] = i + 1
			}
		}
	}
	return lines
}

// first returns the name that a key has in lines. If several tables of an array have the key,
// it is the first.
func (r *reader) first(key toml.Key) string {
	name := key.String()
	if r.lines[name] > 0 {
		return name
	}
	best := name
	for known, line := range r.lines {
		open, end := strings.IndexByte(known, '['), strings.IndexByte(known, ']')
		if open < 0 || end < open || known[:open]+known[end+1:] != name {
			continue
		}
		if r.lines[best] == 0 || line < r.lines[best] {
			best = known
		}
	}
	return best
}
