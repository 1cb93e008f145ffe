package profile

import (
	"os"
	"path/filepath"
	"testing"
)

func TestKeeps(t *testing.T) {
	t.Parallel()
	const kept, lost = "0f3c1c52-9d1f-4b9a-a8a4-2f7e1d1f9c55", "1f3c1c52-9d1f-4b9a-a8a4-2f7e1d1f9c55"
	home := filepath.Join(t.TempDir(), `a[b]*?\`)
	for path, text := range map[string]string{
		".claude/projects/-work/" + kept + ".jsonl":                                 "",
		".codex/sessions/2026/11/27/rollout-2026-11-27T17-45-39-" + kept + ".jsonl": "",
		".gemini/tmp/project/chats/session-2026-11-27T17-45-0f3c1c52.jsonl":         "{\"$set\":{}}\n{\"id\":1}\n",
		// It runs, and has no prompt yet.
		".gemini/tmp/project/chats/session-2026-11-27T17-45-1f3c1c52.jsonl": "{\"$set\":{\"messages\":[{\"id\":1}]}}\n",
		".qwen/projects/-work/chats/" + kept + ".jsonl":                     "",
	} {
		if err := os.MkdirAll(filepath.Join(home, filepath.Dir(path)), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(home, path), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	s, err := Load("")
	if err != nil {
		t.Fatal(err)
	}
	at := func(home string) func(string) string {
		return func(name string) string { return map[string]string{"HOME": home}[name] }
	}
	for name, said := range map[string]string{
		"claude": "No conversation found with session ID: " + lost,
		"codex":  "ERROR: No saved session found with ID " + lost + ". Run `codex resume` without an ID to choose from existing sessions.",
		"gemini": `Error resuming session: Invalid session identifier "` + lost + `".`,
		"qwen":   "No saved session found with ID " + lost + ". Run `qwen --resume` without an ID to choose from existing sessions.",
	} {
		p := s.Named(name)
		for _, tt := range []struct {
			session, home string
			keeps, known  bool
		}{
			{kept, home, true, true},
			{lost, home, false, true},
			{kept, t.TempDir(), false, true},
			{kept, "", false, false},       // it is not known where it would be
			{"a-name", home, false, false}, // the name of a conversation
			{"*", home, false, false},
		} {
			keeps, known := p.Keeps(tt.session, at(tt.home))
			if keeps != tt.keeps || known != tt.known {
				t.Errorf("%s: Keeps(%q) = %t, %t, want %t, %t", name, tt.session, keeps, known, tt.keeps, tt.known)
			}
		}
		if !p.Lacks(lost, []string{"", said}) || p.Lacks(kept, []string{said}) || p.Lacks(lost, []string{"❯ " + said, "  " + said}) {
			t.Errorf("%s: Lacks does not know %q", name, said)
		}
	}
	if _, known := s.Named("opencode").Keeps(kept, at(home)); known {
		t.Error("opencode: its database can't be read")
	}
	if p := s.Named("opencode"); !p.Lacks("ses_1", []string{"Error: Session not found: ses_1"}) {
		t.Error("opencode: its message is not known")
	}
}
