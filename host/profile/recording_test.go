package profile

import (
	"slices"
	"strings"
	"testing"
)

// TestReplayProblems: each kind of mistake of a rule is found.
func TestReplayProblems(t *testing.T) {
	t.Parallel()
	const prompt = "→ x\n"
	set := func(rules string) *Set {
		s, err := own(t, map[string]string{"mine.toml": "[match]\nprograms = [\"mine\"]\n[input]\nprompt = '^→(?: (?P<draft>.*))?$'\n" + rules})
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	rule := func(state, more string) *Set {
		return set("[[rules]]\nname = \"one\"\nstate = \"" + state + "\"\n" + more + "\n")
	}
	idle, blocked := rule("idle", "prompt = true"), rule("blocked", "all = ['^Sure']\nchoices = [{label = \"Yes\"}, {label = \"No\"}]")
	for name, c := range map[string]struct {
		set          *Set
		header, text string
		want         string
	}{
		"draft":         {idle, "", prompt, ""},
		"draft-paste":   {idle, "", prompt, `the draft "x" stands for a paste: false, want true`},
		"draft-none":    {idle, "", "→\n", "no draft at the prompt"},
		"prompt":        {idle, "", prompt, `at an empty prompt: draft "x"`},
		"prompt-empty":  {idle, "", "→\n", ""},
		"busy":          {idle, "", prompt, "state idle, want working"},
		"busy-idle":     {idle, ", shows idle", prompt, ""},
		"other":         {rule("working", "all = ['x']"), "", prompt, "state working: the agent does not work"},
		"error":         {idle, "", prompt, "no error is seen"},
		"limit":         {idle, "", prompt, `limit "", error ""`},
		"prompt-rule":   {idle, ", rule two", "→\n", `rule "one", want "two"`},
		"blocked":       {blocked, "", "Sure thing?\n", ""},
		"blocked-asks":  {blocked, ", rule one, 3 choices, asks Sure, really?", "Sure thing?\n", `question "Sure thing?", want "Sure, really?"; 2 choices, want 3`},
		"blocked-short": {blocked, "", "Sure\n", `question "Sure"`},
		"blocked-bash":  {blocked, "", "Sure thing?\n", "names no command"},
		"blocked-one":   {rule("blocked", "all = ['^Sure']\nchoices = [{label = \"Yes\"}]"), "", "Sure thing?\n", "1 choices, want 2 or more"},
	} {
		r, err := ParseRecording("mine/"+name, "# mine 1.2, 80x24"+c.header+"\n"+c.text)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if got := strings.Join(c.set.Replay(r).Problems, "; "); c.want == "" && got != "" || !strings.Contains(got, c.want) {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

// TestReplayOfOthers: a screen is read by the profiles of all others, too.
func TestReplayOfOthers(t *testing.T) {
	t.Parallel()
	s, err := own(t, map[string]string{
		"greedy.toml": "[match]\nprograms = [\"greedy\"]\n[[rules]]\nname = \"all\"\nstate = \"working\"\nall = ['.']\n",
		"sh.toml":     "[match]\nprograms = [\"mysh\"]\nbare = true\n[[rules]]\nname = \"all\"\nstate = \"idle\"\nall = ['.']\n",
	})
	if err != nil {
		t.Fatal(err)
	}
	all, err := s.Recordings()
	if err != nil {
		t.Fatal(err)
	}
	at := slices.IndexFunc(all, func(r *Recording) bool { return r.Client == "claude" && r.Name == "blocked-bash" })
	got := strings.Join(s.Replay(all[at]).Problems, "\n")
	for _, want := range []string{"the profile greedy reads a dialog as working (rule all)", "the profile of a shell, sh, reads it as idle (rule all)"} {
		if !strings.Contains(got, want) {
			t.Errorf("%q lacks %q", got, want)
		}
	}
	if v := s.Replay(&Recording{Client: "unknown", Name: "prompt"}); len(v.Problems) == 0 {
		t.Error("a client without a profile passes")
	}
}

// TestRecordingText: what is written is read again, with what is expected of it.
func TestRecordingText(t *testing.T) {
	t.Parallel()
	s := profiles(t)
	all, err := s.Recordings()
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range all {
		text := r.Text(s.Named(r.Client), r.Version, "120x40")
		again, err := ParseRecording(r.Client+"/"+r.Name, text)
		if err != nil {
			t.Errorf("%s/%s: %v", r.Client, r.Name, err)
			continue
		}
		if r.state != "" {
			continue // the header of the recording says more than a look at it
		}
		if v := s.Replay(again); len(v.Problems) > 0 || again.rule == "" && v.Look.Rule != "" {
			t.Errorf("%s/%s: %v in\n%s", r.Client, r.Name, v.Problems, text)
		}
		if !slices.Equal(r.Screen.Text(), again.Screen.Text()) || (r.Screen.Styled == nil) != (again.Screen.Styled == nil) || r.Version == "" || again.Version != r.Version {
			t.Errorf("%s/%s: version %q, or its lines have changed", r.Client, r.Name, again.Version)
		}
	}
}

// TestKindOf: a screen that is recorded under the name of its kind passes.
func TestKindOf(t *testing.T) {
	t.Parallel()
	s := profiles(t)
	all, err := s.Recordings()
	if err != nil {
		t.Fatal(err)
	}
	kinds := map[string]bool{}
	for _, r := range all {
		p := s.Named(r.Client)
		l := p.Look(r.Screen)
		again := &Recording{Client: r.Client, Name: KindOf(l), Screen: r.Screen}
		if again.Name == "draft" {
			continue // what stands for a paste is in the name
		}
		kinds[again.Name] = true
		if problems := again.problems(p, l); len(problems) > 0 {
			t.Errorf("%s/%s as %s: %v", r.Client, r.Name, again.Name, problems)
		}
	}
	if len(kinds) != len(Kinds())-1 {
		t.Errorf("only these kinds: %v", kinds)
	}
}
