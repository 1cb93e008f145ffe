package answers

import (
	"testing"

	"github.com/swarmhost/swarm/host/profile"
)

func TestMatchCommand(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		pattern, command string
		want             bool
	}{
		{"git status", "git status", true},
		{"git status", "git status ", false},
		{"git status*", "git status --short", true},
		{"git status*", "git statusx", true},
		{"git status *", "git status", false},
		{"git * --dry-run", "git push origin main --dry-run", true},
		{"go test ./...", "go test ./...", true},
		{"ls ?", "ls a", true},
		{"ls ?", "ls ab", false},
		{"ls ?", "ls ;", false},
		{"*", "ls -l src/*.go ~/x [a-z] a=b HEAD^ ä", true},
		// A shell could take these for another command, or for the end of this one.
		{"git status*", "git status; rm -rf /", false},
		{"git status*", "git status && rm -rf /", false},
		{"git status*", "git status & rm -rf /", false},
		{"git status*", "git status | sh", false},
		{"git status*", "git status\nrm -rf /", false},
		{"git status*", "git status\r\nrm -rf /", false},
		{"git status*", "git status\rrm -rf /", false},
		{"git status*", "git status\x0brm -rf /", false},
		{"git status*", "git status\u2028rm -rf /", false},
		{"git status*", "git status\u202erm", false},
		{"git status*", "git status\u200b", false},
		{"git status*", "git status\u00a0x", false},
		{"git status*", "git status $(rm -rf /)", false},
		{"git status*", "git status `rm -rf /`", false},
		{"git status*", "git status ${x}", false},
		{"git status*", "git status > ~/.bashrc", false},
		{"git status*", "git status < /etc/passwd", false},
		{"git status*", "git status <(rm x)", false},
		{"git status*", "git status \\\nrm", false},
		{"git status*", "git status 'x", false},
		{"git status*", "git status \"x\"", false},
		{"git status*", "git status {a,b}", false},
		{"git status*", "git status !!", false},
		{"git status*", "git status\tx", false},
		{"git status*", "git status \x00x", false},
		{"git status*", "git status \xffx", true}, // the replacement character is not an operator
		{"git push * --dry-run", "git push origin # --dry-run", false},
		{"git log*", "git log --grep…", false},
		{"git*", "x; git status", false},
		{"*git status", "rm -rf /; git status", false},
		// Operators of the pattern itself.
		{"make test | tee *", "make test | tee log", true},
		{"make test | tee *", "make test | tee log | sh", false},
		{"make test | tee *", "make test ; tee log", false},
		{`git commit -m "*"`, `git commit -m "fix it"`, true},
		{`git commit -m "*"`, `git commit -m "fix" && rm "x"`, false},
		{`git commit -m "*"`, `git commit -m "$(rm x)"`, false},
		{"a\nb*", "a\nbc", true},
		{`ls \*`, "ls *", true},
		{`ls \*`, "ls x", false},
		{`printf \n`, `printf \n`, true},
		{`ls \`, `ls \`, true},
		{`ls \\`, `ls \`, true},
		{"", "", true},
		{"", "x", false},
	} {
		if got := MatchCommand(c.pattern, c.command); got != c.want {
			t.Errorf("%q and %q: got %t", c.pattern, c.command, got)
		}
	}
}

// FuzzMatchCommand: whatever a command is, wild cards match no operator.
func FuzzMatchCommand(f *testing.F) {
	f.Add("git status*", "git status; rm")
	f.Add("*", "a\nb")
	f.Fuzz(func(t *testing.T, pattern, command string) {
		if !MatchCommand(pattern, command) {
			return
		}
		inPattern := map[rune]int{}
		for _, c := range pattern {
			inPattern[c]++
		}
		for _, c := range command {
			if isPlain(c) {
				continue
			}
			if inPattern[c]--; inPattern[c] < 0 {
				t.Errorf("%q matches %q, which has %q more often", pattern, command, c)
			}
		}
	})
}

func TestDecide(t *testing.T) {
	t.Parallel()
	status := Rule{Source: "1", Command: "git status*", Answer: Allow}
	all := Rule{Source: "2", Command: "*", Answer: Allow}
	push := Rule{Source: "3", Command: "git push*", Answer: Deny}
	ask := Rule{Source: "4", Command: "git commit*", Answer: Ask}
	chain := Rule{Source: "5", Command: "git status && git *", Answer: Allow}
	shell := func(command string) Question {
		return Question{Profile: "claude", Worker: "w-1", Tool: "Bash", Command: command, Projects: []string{"/home/me/src/shop", "/home/me/src/shop-worktrees/w-1"}, Certain: true}
	}
	screen := func(command string) Question { q := shell(command); q.Tool = ""; return q }
	unsure := shell("git status")
	unsure.Certain = false
	file := Question{Tool: "Write", Certain: true}
	with := func(r Rule, change func(*Rule)) Rule { change(&r); return r }
	for _, c := range []struct {
		name  string
		rules []Rule
		q     Question
		want  string // the source of the rule, or empty
	}{
		{"no rules", nil, shell("git status"), ""},
		{"allowed", []Rule{status}, shell("git status -s"), "1"},
		{"allowed on a screen", []Rule{status}, screen("git status -s"), "1"},
		{"another command", []Rule{status}, shell("rm -rf /"), ""},
		{"smuggled", []Rule{status, all}, shell("git status; rm -rf /"), ""},
		{"not certain", []Rule{status}, unsure, ""},
		{"denied though not certain", []Rule{{Answer: Deny}}, unsure, ""},
		{"the first of several", []Rule{status, all}, shell("git status"), "1"},
		{"deny before allow", []Rule{all, push}, shell("git push"), "3"},
		{"deny before ask", []Rule{{Answer: Ask}, push}, shell("git push"), "3"},
		{"deny within a chain", []Rule{chain, push}, shell("git status && git push -f"), "3"},
		{"deny behind a new line", []Rule{push}, shell("cd x\n  git push"), "3"},
		{"ask before allow", []Rule{all, ask}, shell("git commit"), ""},
		{"ask within a chain", []Rule{chain, ask}, shell("git status && git commit"), ""},
		{"ask of something else", []Rule{status, ask}, shell("git status"), "1"},
		{"ask about a tool that a screen does not name", []Rule{status, {Tool: "Bash", Answer: Ask}}, screen("git status"), ""},
		{"deny of a tool that a screen does not name", []Rule{status, {Tool: "WebFetch", Answer: Deny}}, screen("git status"), ""},
		{"a denied command behind another one", []Rule{all, push}, shell("env A=1 git push"), ""},
		{"a denied command by its path", []Rule{all, push}, shell("/usr/bin/git push"), ""},
		{"a denied command in quotes", []Rule{{Source: "6", Command: `"*" push`, Answer: Allow}, push}, shell(`"git" push`), ""},
		{"ask behind another one", []Rule{all, ask}, shell("nice -n 5 git commit"), ""},
		{"a word of a denied command", []Rule{all, push}, shell("git log push"), "2"},
		{"contradiction", []Rule{status, {Command: "git *", Answer: "2"}}, shell("git status"), ""},
		{"no contradiction", []Rule{status, {Command: "git *", Answer: "ALLOW"}}, shell("git status"), "1"},
		{"allow without tool and command", []Rule{{Answer: Allow}}, shell("ls"), ""},
		{"a tool", []Rule{{Source: "t", Tool: "Wri*", Answer: Allow}}, file, "t"},
		{"a tool on a screen", []Rule{{Source: "t", Tool: "Bash", Answer: Allow}}, screen("ls"), ""},
		{"a command of another tool", []Rule{status}, file, ""},
		{"deny of a command says nothing of a file", []Rule{{Source: "t", Tool: "Write", Answer: Allow}, push}, file, "t"},
		{"deny all of a worker", []Rule{{Source: "d", Worker: "w-*", Answer: Deny}}, shell("ls"), "d"},
		{"profile", []Rule{with(status, func(r *Rule) { r.Profile = "claude" })}, shell("git status"), "1"},
		{"another profile", []Rule{with(status, func(r *Rule) { r.Profile = "codex" })}, shell("git status"), ""},
		{"worker", []Rule{with(status, func(r *Rule) { r.Worker = "w-?" })}, shell("git status"), "1"},
		{"another worker", []Rule{with(status, func(r *Rule) { r.Worker = "w" })}, shell("git status"), ""},
		{"project", []Rule{with(status, func(r *Rule) { r.Project = "/home/me/src/shop/" })}, shell("git status"), "1"},
		{"above the project", []Rule{with(status, func(r *Rule) { r.Project = "/home/me/src" })}, shell("git status"), "1"},
		{"another project", []Rule{with(status, func(r *Rule) { r.Project = "/home/me/src/sho" })}, shell("git status"), ""},
		{"below the project", []Rule{with(status, func(r *Rule) { r.Project = "/home/me/src/shop/x" })}, shell("git status"), ""},
		{"unknown project", []Rule{with(status, func(r *Rule) { r.Project = "/home/me/src" })}, Question{Command: "git status", Certain: true}, ""},
	} {
		got, ok := Decide(c.rules, c.q)
		if got.Rule.Source != c.want || ok != (c.want != "") {
			t.Errorf("%s: got %q, %t", c.name, got.Rule.Source, ok)
		}
	}
}

func TestPick(t *testing.T) {
	t.Parallel()
	choices := func(labels ...string) (all []profile.Choice) {
		for i, l := range labels {
			all = append(all, profile.Choice{Key: string(rune('1' + i)), Label: l})
		}
		return all
	}
	claude := choices("Yes", "Yes, and don't ask again for rm -rf build and touch build commands in /tmp/w/project", "Yes, and switch to auto mode · auto mode handles these prompts for you", "No")
	edit := choices("Yes", "Yes, allow all edits during this session (shift+tab)", "No, and tell Claude what to do differently (esc)")
	codex := choices("Yes, proceed (y)", "Yes, and don't ask again for commands that start with `rm -rf build` (p)", "No, and tell Codex what to do differently (esc)")
	gemini := choices("Allow once", "Allow for this session", "Allow for all future sessions", "No, suggest changes (esc)")
	qwen := choices("Yes, allow once", "Always allow run 'rm *' commands in this…", "Always allow run 'rm *' commands for thi…", "No, suggest changes (esc)")
	opencode := choices("Allow once", "Allow always", "Reject")
	for _, c := range []struct {
		name        string
		answer, dur string
		choices     []profile.Choice
		want        string // the key, or empty
	}{
		{"claude once", Allow, Once, claude, "1"},
		{"claude session", Allow, Session, claude, "1"},
		{"claude always", Allow, Always, claude, "2"},
		{"claude deny", Deny, Once, claude, "4"},
		{"claude edits", Allow, Session, edit, "2"},
		{"claude edits always", Allow, Always, edit, "2"},
		{"claude edits once", Allow, Once, edit, "1"},
		{"claude edits deny", Deny, "", edit, "3"},
		{"codex once", Allow, Once, codex, "1"},
		{"codex always", Allow, Always, codex, "2"},
		{"codex deny", Deny, "", codex, "3"},
		{"gemini once", Allow, "", gemini, "1"},
		{"gemini session", Allow, Session, gemini, "2"},
		{"gemini always", Allow, Always, gemini, "3"},
		{"gemini deny", Deny, "", gemini, "4"},
		{"qwen always is ambiguous", Allow, Always, qwen, "1"},
		{"opencode always", Allow, Always, opencode, "2"},
		{"opencode deny", Deny, "", opencode, "3"},
		{"a key", "2", "", opencode, "2"},
		{"a label", "allow ALWAYS", "", opencode, "2"},
		{"the beginning of a label", "Yes, and switch", "", claude, "3"},
		{"two labels", "Yes, and", "", claude, ""},
		{"a whole label before its beginning", "yes", "", claude, "1"},
		{"no label", "Maybe", "", claude, ""},
		{"other choices", Allow, Always, choices("SQLite", "Postgres"), ""},
		{"other choices deny", Deny, "", choices("No limits", "Nothing"), ""},
		{"two of a kind", Allow, Once, choices("Yes", "Allow", "No"), ""},
		{"none", Allow, Once, nil, ""},
	} {
		got, ok := Pick(Decision{Answer: c.answer, For: c.dur}, c.choices)
		if got.Key != c.want || ok != (c.want != "") {
			t.Errorf("%s: got %+v, %t", c.name, got, ok)
		}
	}
}
