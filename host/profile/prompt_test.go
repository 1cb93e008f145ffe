package profile

import (
	"slices"
	"strings"
	"testing"
)

func TestWithPrompt(t *testing.T) {
	t.Parallel()
	s, err := Load("")
	if err != nil {
		t.Fatal(err)
	}
	const prompt = "Do the next task.\nThen say so."
	for command, want := range map[string]string{
		"claude": "claude PROMPT",
		"claude --dangerously-skip-permissions --model opus": "claude PROMPT --dangerously-skip-permissions --model opus",
		"claude --add-dir a b --model=opus":                  "claude PROMPT --add-dir a b --model=opus",
		"claude --resume ID --verbose":                       "claude PROMPT --resume ID --verbose",
		"claude --session-id ID":                             "claude PROMPT --session-id ID",
		"claude -c --verbose":                                "claude PROMPT -c --verbose",
		"env X=1 npx -y @anthropic-ai/claude-code --verbose": "env X=1 npx -y @anthropic-ai/claude-code PROMPT --verbose",
		"claude --dangerously-skip-permissions fix it":       "", // it has one
		"claude mcp list":                                    "",
		"claude -- fix":                                      "",
		"claude -p":                                          "",
		"sh -c claude":                                       "",
		"aider --model x":                                    "",
		"codex --no-daemon -m x":                             "codex PROMPT --no-daemon -m x",
		"codex resume ID":                                    "",
		"codex exec":                                         "",
		"gemini -m x":                                        "gemini --prompt-interactive=PROMPT -m x",
		"gemini -i already":                                  "",
		"gemini --prompt-interactive=already":                "",
		"gemini --resume ID":                                 "gemini --prompt-interactive=PROMPT --resume ID",
		"opencode -m x":                                      "opencode --prompt=PROMPT -m x",
		"opencode --prompt already":                          "",
		"opencode run":                                       "",
		"qwen --approval-mode yolo":                          "qwen --prompt-interactive=PROMPT --approval-mode yolo",
		"qwen -i already":                                    "",
	} {
		words := strings.Fields(command)
		got := s.For(words).WithPrompt(words, prompt)
		if text := strings.ReplaceAll(strings.Join(got, " "), prompt, "PROMPT"); text != want {
			t.Errorf("%s:\n got %s\nwant %s", command, text, want)
		}
		if strings.Join(words, " ") != command {
			t.Errorf("the command was changed: %v", words)
		}
	}
	if got := s.Named("qwen").WithPrompt([]string{"qwen"}, "- do it"); len(got) != 2 || got[1] != "--prompt-interactive=- do it" {
		t.Errorf("a list: %q", got)
	}
	claude := s.Named("claude")
	long := strings.Repeat("do it ", maxPrompt/6)
	for prompt, want := range map[string]bool{
		"do it": true, long: true, long + "do it again": false, "--help me": false, "mcp": false, "!rm -rf it": false, " /quit now": false, "do\x00it now": false, " \n ": false, "": false,
	} {
		if got := claude.WithPrompt([]string{"claude"}, prompt); (got != nil) != want {
			t.Errorf("%.20q: %.20q", prompt, got)
		}
	}
}

// TestAnswer finds what an agent has answered on screens of the real programs.
func TestAnswer(t *testing.T) {
	t.Parallel()
	s, err := Load("")
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct{ screen, prompt, want string }{
		{"claude/prompt-answered", "also the docs", "● I write it."},
		{"claude/prompt-first", "also the docs", ""},
		{"claude/limit-waits", "hit the limit", "⎿  You've hit your 5-hour limit · resets 12:19am (UTC)"},
		{"codex/prompt-answered", "also the docs", "• ok"},
		{"codex/prompt-first", "also the docs", ""},
		{"gemini/prompt-answered", "fix the tests", "✦ ok"},
		{"gemini/prompt-starting", "fix the tests", ""},
		{"opencode/prompt-answered", "fix the tests", "I look at the files of the project first, then I fix the tests one after the other."},
		{"opencode/prompt", "fix the tests", ""},
		{"qwen/prompt-answered-80x24", "also the docs", "✦ ok"},
		{"pi/prompt-answered-80x24", "also the docs", "ok"},
	} {
		name, _, _ := strings.Cut(tt.screen, "/")
		got := s.Named(name).Answer(screenOf(t, "profiles/screens/"+tt.screen+".txt"), tt.prompt)
		if first := slices.Concat(got, []string{""})[0]; strings.TrimSpace(first) != tt.want {
			t.Errorf("%s: %q, want %q", tt.screen, got, tt.want)
		}
	}
}

// TestAnswerToLongPrompts: an echo is wrapped, or has something that stands for it.
func TestAnswerToLongPrompts(t *testing.T) {
	t.Parallel()
	s, err := Load("")
	if err != nil {
		t.Fatal(err)
	}
	const prompt = "Do the next task of the list, and when there is none left, print ALL DONE on a line by itself."
	rule := strings.Repeat("─", 40)
	for echo, answered := range map[string]bool{
		"❯ Do the next task of the list, and when there\n  is none left, print ALL DONE on a line by\n  itself.": true,
		"❯ [Pasted text #1 +3 lines]": true,
		"❯ Another prompt":            false,
	} {
		for _, answer := range []string{"● It is done.", "", "                        a notice at the edge"} {
			screen := Screen{Lines: strings.Split(" Welcome\n"+echo+"\n\n"+answer+"\n"+rule+"\n❯ \n"+rule+"\n  ? for shortcuts", "\n")}
			got := s.Named("claude").Answer(screen, prompt)
			if want := answered && strings.HasPrefix(answer, "●"); (len(got) > 0) != want {
				t.Errorf("%q and %q: %q", echo, answer, got)
			}
		}
	}
}
