package profile

import (
	"slices"
	"strings"
	"testing"
)

func TestWithFlags(t *testing.T) {
	t.Parallel()
	s, err := Load("")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		command       string
		full, missing string
	}{
		{"codex", "codex --no-daemon", ""},
		{"codex --no-daemon", "codex --no-daemon", ""},
		{"codex resume --last", "codex --no-daemon resume --last", ""},
		{"env A=b npx -y @openai/codex -m x", "env A=b npx -y @openai/codex --no-daemon -m x", ""},
		{"codex exec", "codex exec", ""},
		{"claude", "claude", ""},
	} {
		command := strings.Fields(c.command)
		before := slices.Clone(command)
		p := s.For(command)
		if p == nil {
			t.Errorf("%s: no profile", c.command)
			continue
		}
		full, added, missing := p.WithFlags(command)
		if strings.Join(full, " ") != c.full || strings.Join(missing, " ") != c.missing || !slices.Equal(command, before) ||
			len(full) != len(command)+len(added) {
			t.Errorf("%s: %q, added %q, missing %q", c.command, full, added, missing)
		}
	}
	script := []string{"sh", "-c", "cd x && codex -m y"}
	full, added, missing := s.For(script).WithFlags(script)
	if !slices.Equal(full, script) || added != nil || !slices.Equal(missing, []string{"--no-daemon"}) {
		t.Errorf("a script: %q, %q, %q", full, added, missing)
	}
}
