package profile

import "testing"

// A dialog asks about a command of a shell only where its agent says so: the plan of a
// model, and the input of a tool, may read like one.
func TestDialogsOfShells(t *testing.T) {
	t.Parallel()
	set, err := Load("")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		client, screen, command string
		shell                   bool
	}{
		{"claude", "blocked-bash", "rm -rf build && touch build", true},
		{"claude", "blocked-bash-80x24", "rm -rf build", true},
		{"claude", "blocked-tool", "amount: 1000000", false},
		{"claude", "blocked-plan", "The plan", false},
		{"claude", "blocked-questions-review", "● Which spreads do you like?", false},
		{"codex", "blocked-command", "rm -rf build && touch /opt/build", true},
		{"gemini", "blocked-command", "rm -rf build && touch build", true},
		{"opencode", "blocked-command", "$ rm -rf build && touch build", true},
		{"opencode", "blocked-always", "rm *", false},
		{"qwen", "blocked-command-80x24", "rm -rf build && touch /opt/build", true},
	} {
		d := set.Named(c.client).Look(readScreen(t, "profiles/screens/"+c.client+"/"+c.screen+".txt")).Dialog
		if len(d.Command) == 0 || d.Command[0] != c.command || d.Shell != c.shell || !d.Framed {
			t.Errorf("%s %s: %q, shell %t, framed %t", c.client, c.screen, d.Command, d.Shell, d.Framed)
		}
	}
}
