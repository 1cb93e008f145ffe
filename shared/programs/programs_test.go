package programs

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestChoose(t *testing.T) {
	t.Parallel()
	entries := map[string]string{"process": "P", "tmux": "T"}
	for argv, want := range map[string]string{
		"swarm-plugin-tmux":               "T",
		"/opt/bin/swarm-plugin-process":   "P",
		"swarm-plugins tmux":              "T",
		"/opt/bin/swarm-plugins process":  "P",
		"/opt/bin/swarm-plugin-mine tmux": "T", // a copy, with a name of the user's
		"swarm-plugin-tmux process":       "T", // the link's name counts
		"mine process":                    "P",
	} {
		if got, err := choose(strings.Fields(argv), entries); err != nil || got != want {
			t.Errorf("%s: %q, %v", argv, got, err)
		}
	}
	for _, argv := range []string{"swarm-plugins", "swarm-plugin-mine", "swarm-plugins nomad", "swarm-plugins --help"} {
		_, err := choose(strings.Fields(argv), entries)
		want := strings.Fields(argv)[0] + " holds several plugins: start it with the name of one as its first argument, or by a link swarm-plugin-NAME: process, tmux"
		if err == nil || err.Error() != want {
			t.Errorf("%s: %v", argv, err)
		}
	}
}

func TestIn(t *testing.T) {
	t.Parallel()
	for program, want := range map[string][]string{
		Plugins: {"copy", "notify", "process", "ssh", "tmux", "worktree"},
		Engines: {"container", "nomad"},
		Serve:   nil,
	} {
		got := In(program)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", program, diff)
		}
		for _, name := range got {
			if Of(name) != program {
				t.Errorf("%s is in %q", name, Of(name))
			}
		}
	}
	if got := Of("mine"); got != "" {
		t.Errorf("another's plugin is in %q", got)
	}
}
