package config

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestHooks(t *testing.T) {
	t.Parallel()
	path := write(t, "config.toml", `
[hooks]
on = ["failed", "lost"]
command = ["~/bin/report", "me"]

[hooks.ci]
on = ["ended"]
tags = ["ci"]
command = ["report"]
timeout = "5s"
`)
	l, err := Load(Options{User: path, Home: "/home/me"})
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]Hook{
		DefaultHook: {On: []string{"failed", "lost"}, Command: []string{"/home/me/bin/report", "me"}},
		"ci":        {On: []string{"ended"}, Tags: []string{"ci"}, Command: []string{"report"}, Timeout: 5 * time.Second},
	}
	if diff := cmp.Diff(want, l.Config.Hooks); diff != "" {
		t.Errorf("hooks (-want +got):\n%s", diff)
	}
	var shown []string
	for _, v := range l.Values() {
		if v.Origin != nil {
			shown = append(shown, v.Key+" = "+v.Value)
		}
	}
	if diff := cmp.Diff([]string{
		`hooks.ci.on = ["ended"]`, `hooks.ci.tags = ["ci"]`, `hooks.ci.command = ["report"]`, `hooks.ci.timeout = "5s"`,
		`hooks.on = ["failed", "lost"]`, `hooks.command = ["/home/me/bin/report", "me"]`,
	}, shown); diff != "" {
		t.Errorf("shown (-want +got):\n%s", diff)
	}
}

// Each mistake in a hook is reported, and no part of that hook is used.
func TestHooksWithMistakes(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ src, want string }{
		{"[[hooks]]\non = [\"ended\"]", "hooks: expected a table, got an array: give each hook a name, as in [hooks.mail]"},
		{"[hooks.a]", "a command is missing, such as command = [\"notify-send\", \"swarm\"]"},
		{"[hooks.a]\ncommand = [\"x\"]", "hooks.a: the events are missing"},
		{"[hooks.a]\non = [\"failed\"]", "hooks.a: a command is missing"},
		{"hooks.a.on = [\"failed\"]", "hooks.a: a command is missing"},
		{"[hooks.a]\ncommand = [\"x\"]\non = [\"ended\", \"died\"]", "hooks.a.on: element 2: expected"},
		{"[hooks.a]\ncommand = [\"x\"]\non = [\"ended\", \"ended\"]", "hooks.a.on: element 2: \"ended\" is there twice"},
		{"[hooks.a]\ncommand = \"x y\"\non = [\"ended\"]", "hooks.a.command: expected an array"},
		{"[hooks.A]\ncommand = [\"x\"]\non = [\"ended\"]", "hooks.A: expected a name of lower-case letters"},
		{"[hooks.default]\ncommand = [\"x\"]\non = [\"ended\"]", "hooks.default: this is the name of the hook"},
		{"[hooks]\ncomand = [\"x\"]\non = [\"ended\"]", "hooks.comand: unknown key (did you mean 'hooks.command'?)"},
		{"[hooks.a]\ncommand = [\"x\"]\non = [\"ended\"]\ntag = [\"x\"]", "hooks.a.tag: unknown key (did you mean 'hooks.a.tags'?)"},
	} {
		l, err := Load(Options{User: write(t, "config.toml", c.src)})
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%q: %v, want %q", c.src, err, c.want)
		}
		if strings.Contains(c.want, "missing") && len(l.Config.Hooks) > 0 {
			t.Errorf("%q: a part of it is used: %v", c.src, l.Config.Hooks)
		}
	}
}

// A project's file has no hooks, whether or not it is trusted.
func TestHooksOfAProject(t *testing.T) {
	t.Parallel()
	path := write(t, ProjectFile, "[hooks]\non = [\"ended\"]\ncommand = [\"evil\"]\n[hooks.more]\nanything = 1\n")
	for _, trusted := range []bool{false, true} {
		l, err := Load(Options{Project: path, Trusted: func(string, []byte) bool { return trusted }})
		if err != nil {
			t.Fatal(err)
		}
		if len(l.Config.Hooks) > 0 {
			t.Errorf("trusted %t: %v", trusted, l.Config.Hooks)
		}
		if want := []Ignored{{Key: "hooks", At: Position{File: path, Line: 1, Column: 2}, UserOnly: true}}; !cmp.Equal(want, l.Ignored) {
			t.Errorf("trusted %t: ignored %+v, want %+v", trusted, l.Ignored, want)
		}
	}
}
