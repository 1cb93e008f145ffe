package profile

import (
	"errors"
	"strings"
	"testing"
)

func TestResume(t *testing.T) {
	t.Parallel()
	s, err := Load("")
	if err != nil {
		t.Fatal(err)
	}
	for command, want := range map[string]string{
		"claude": "claude --resume ID",
		"claude --dangerously-skip-permissions --model opus fix_it": "claude --resume ID --dangerously-skip-permissions --model opus",
		"claude --model=opus -c":                                    "claude --resume ID --model=opus",
		"claude --resume OLD --add-dir a b --verbose":               "claude --resume ID --add-dir a b --verbose",
		"claude --session-id OLD --verbose -- fix_it":               "claude --resume ID --verbose",
		"env X=1 npx -y @anthropic-ai/claude-code --verbose":        "env X=1 npx -y @anthropic-ai/claude-code --resume ID --verbose",
		"claude -p --model opus":                                    "claude --resume ID -p --model opus",
		"claude -p {prompt}":                                        "claude --resume ID -p {prompt}",
		"codex --no-daemon -m gpt-5 fix_it":                         "codex resume ID --no-daemon -m gpt-5",
		"codex resume OLD --no-daemon":                              "codex resume ID --no-daemon",
		"codex exec -s read-only":                                   "codex exec resume ID -s read-only",
		"opencode -m local/x":                                       "opencode -s ID -m local/x",
		"opencode run --agent plan fix_it":                          "opencode run -s ID --agent plan",
	} {
		words := strings.Fields(command)
		p := s.For(words)
		if p == nil {
			t.Errorf("%s: no profile", command)
			continue
		}
		got, err := p.Resume(words, "ID")
		if text := strings.Join(got, " "); err != nil || text != want {
			t.Errorf("%s:\n got %s, %v\nwant %s", command, text, err, want)
		}
		if strings.Join(words, " ") != command {
			t.Errorf("the command was changed: %v", words)
		}
	}
	script := []string{"sh", "-c", "claude --verbose"}
	if _, err := s.For(script).Resume(script, "ID"); !errors.Is(err, ErrInScript) {
		t.Errorf("a script: %v", err)
	}
	if _, err := s.Named("aider").Resume([]string{"aider"}, "ID"); !errors.Is(err, ErrNoResume) {
		t.Errorf("aider: %v", err)
	}
}

func TestBegin(t *testing.T) {
	t.Parallel()
	s, err := Load("")
	if err != nil {
		t.Fatal(err)
	}
	for command, want := range map[string]string{
		"claude --verbose fix_it": "claude --session-id ID --verbose fix_it",
		"claude --continue":       "",
		"claude --session-id=X":   "",
		"codex":                   "",
	} {
		words := strings.Fields(command)
		begun := s.For(words).Begin(words, "ID")
		if got := strings.Join(begun, " "); got != want {
			t.Errorf("%s: got %q, want %q", command, got, want)
		}
		if got := s.For(words).SessionIn(begun); begun != nil && got != "ID" {
			t.Errorf("%v: session %q", begun, got)
		}
	}
}
