package judgement_test

import (
	"testing"
	"time"

	"github.com/swarmhost/swarm/host/hookstate"
	"github.com/swarmhost/swarm/host/judgement"
	"github.com/swarmhost/swarm/host/profile"
)

// asks returns a screen with a dialog of these lines above its choices. The last line is its
// question.
func asks(lines ...string) *profile.Look {
	l := &profile.Look{
		State: profile.Blocked, Rule: "permission", Choices: []profile.Choice{{Key: "1", Label: "Yes"}},
		Dialog: profile.Dialog{Text: lines, Lines: lines, Digest: "d"},
	}
	if len(lines) > 0 {
		l.Question = lines[len(lines)-1]
	}
	return l
}

// wants returns a report that the agent asks for a tool.
func wants(tool, command string) *hookstate.Claim {
	return &hookstate.Claim{
		State: hookstate.Blocked, Question: "May I use " + tool + "?", Tool: tool, Command: command, Since: now.Add(-time.Minute), At: now.Add(-time.Minute),
	}
}

// TestSameDialog: a hook completes the dialog that it is about, and never another one.
func TestSameDialog(t *testing.T) {
	t.Parallel()
	const proceed = "Do you want to proceed?"
	cut := asks(" --all --force --prune --quiet --whatever && git push", proceed)
	cut.Dialog.Cut = true
	named := asks(" Bash command", "rm -rf /tmp/x && git push --force", proceed)
	named.Question = proceed + " rm -rf /tmp/x && git push --force"
	partial := wants("Bash", "cat > x <<END\nfirst line of many")
	partial.Partial = true
	notice := wants("", "")
	notice.Question = "Claude needs your permission"
	for _, tt := range []struct {
		name string
		look *profile.Look
		hook *hookstate.Claim
		// drawn is how long after the report the dialog was drawn.
		drawn             time.Duration
		question, command string
	}{
		{
			"a dialog under another title", asks("Bash command (unsandboxed)", "│ rm -rf /tmp/x && git push --force", proceed),
			wants("Bash", "rm -rf /tmp/x && git push --force"), time.Hour,
			proceed + " rm -rf /tmp/x && git push --force", "rm -rf /tmp/x && git push --force",
		},
		{
			"wrapped lines", asks("Run", "rm -rf /tmp/a/very/long/path/that/is/wra", "pped && git push", proceed),
			wants("Bash", "rm -rf /tmp/a/very/long/path/that/is/wrapped && git push"), time.Hour,
			proceed + " rm -rf /tmp/a/very/long/path/that/is/wrapped && git push", "rm -rf /tmp/a/very/long/path/that/is/wrapped && git push",
		},
		{
			"several lines", asks("Run", "echo one", "echo two", proceed), wants("Bash", "echo one\necho two"), time.Hour,
			proceed + " echo one ⏎ echo two", "echo one\necho two",
		},
		{"a short command", asks("Run", "ls", proceed), wants("Bash", "ls"), time.Hour, proceed + " ls", "ls"},
		{"a prompt before the command", asks("Run", "$ ls", proceed), wants("Bash", "ls"), time.Hour, proceed + " ls", "ls"},
		{"the screen names it", named, wants("Bash", "rm -rf /tmp/x && git push --force"), time.Hour, named.Question, "rm -rf /tmp/x && git push --force"},
		{
			"a tool of a server", asks("Tool use", "swarm - send (MCP)(to: \"bob\", n: 5)", proceed), wants("mcp__swarm__send", `{"to":"bob","n":5}`), time.Hour,
			proceed + ` mcp__swarm__send {"to":"bob","n":5}`, `{"to":"bob","n":5}`,
		},
		{
			"nothing but a question, at the time", asks(proceed), wants("Bash", "rm -rf /"), time.Second,
			proceed + " rm -rf /", "rm -rf /",
		},
		{"the beginning is above the screen", cut, wants("Bash", "git fetch --all --force --prune --quiet --whatever && git push"), time.Second, proceed + " git fetch --all --force --prune --quiet --whatever && git push", "git fetch --all --force --prune --quiet --whatever && git push"},
		{"the end was not reported", asks("Run", "cat > x <<END", "first line of many lines", proceed), partial, time.Hour, proceed + " cat > x <<END ⏎ first line of many… (its end is missing)", "cat > x <<END\nfirst line of many"},

		// Another dialog.
		{"nothing but a question, later", asks(proceed), wants("Bash", "rm -rf /"), time.Minute, proceed, ""},
		{"nothing but a question, before", asks(proceed), wants("Bash", "rm -rf /"), -time.Minute, proceed, ""},
		{"a menu at the time", asks("Select a model", "Which one?"), wants("Bash", "rm -rf /"), time.Second, "Which one?", ""},
		{"a longer command", asks("Run", "rm -rf /tmp/x /tmp/y", proceed), wants("Bash", "rm -rf /tmp/x"), time.Second, proceed, ""},
		{"a shorter command", asks("Run", "rm -rf /tmp/x", proceed), wants("Bash", "rm -rf /tmp/x /tmp/y"), time.Second, proceed, ""},
		{"more lines", asks("Run", "echo one", "echo two", proceed), wants("Bash", "echo one\necho two\nrm -rf /"), time.Second, proceed, ""},
		{"a command in a text", asks("It would run 'ls' then", proceed), wants("Bash", "ls"), time.Second, proceed, ""},
		{"the same end above the screen, later", cut, wants("Bash", "git fetch --all --force --prune --quiet --whatever && git push"), time.Hour, proceed, ""},
		{"another tool of the server", asks("Tool use", "swarm - read (MCP)()", proceed), wants("mcp__swarm__send", ""), time.Second, proceed, ""},
		{"another value", asks("Tool use", "swarm - send (MCP)(to: \"bobby\")", proceed), wants("mcp__swarm__send", `{"to":"bob"}`), time.Second, proceed, ""},
		{"the description alone", asks("Run", "rm -rf /", "Run the tests", proceed), wants("Bash", "go test ./..."), time.Second, proceed, ""},
		{"no input", asks("Run", "rm -rf /", proceed), notice, time.Second, proceed, ""},
	} {
		s, _ := judgement.Of(judgement.Evidence{
			Profile: profileWith(t, profile.Blocked), Now: now, Look: tt.look, Unchanged: tt.hook.Since.Add(tt.drawn), Hook: tt.hook,
		})
		if s.State != profile.Blocked || s.Source != judgement.SourceScreen || s.Dialog.Digest != "d" || len(s.Choices) != 1 {
			t.Errorf("%s: %+v", tt.name, s)
		}
		if s.Question != tt.question || s.Command != tt.command {
			t.Errorf("%s: asks %q with the command %q, want %q and %q\n%s", tt.name, s.Question, s.Command, tt.question, tt.command, s.Origins.Question.Why)
		}
		if byHook := s.Origins.Command.Source == judgement.SourceHook; byHook != (tt.command != "") {
			t.Errorf("%s: the origin of the command is %+v", tt.name, s.Origins.Command)
		}
	}
}

// TestStaleQuestion: the report of another state says nothing of a dialog.
func TestStaleQuestion(t *testing.T) {
	t.Parallel()
	c := wants("Bash", "ls")
	c.State = hookstate.Working
	e := judgement.Evidence{Profile: profileWith(t, profile.Blocked), Now: now, Look: asks("Run", "ls", "Go?"), Unchanged: now, Hook: c}
	if s, _ := judgement.Of(e); s.Command != "" || s.Question != "Go?" {
		t.Errorf("asks %q with %q", s.Question, s.Command)
	}
}

// TestQuestionOfHooks: where no rule knows the screen, the hooks alone know what is asked.
func TestQuestionOfHooks(t *testing.T) {
	t.Parallel()
	e := judgement.Evidence{Profile: profileWith(t, profile.Idle), Now: now, Look: shows(profile.Unknown), Hook: wants("Bash", "ls\npwd")}
	s, _ := judgement.Of(e)
	if s.State != profile.Blocked || s.Source != judgement.SourceHook || s.Question != "May I use Bash?" || s.Command != "ls\npwd" || s.Dialog.Digest != "" {
		t.Errorf("%+v", s)
	}
}
