package ready_test

import (
	"strings"
	"testing"

	"github.com/swarmhost/swarm/host/ready"
)

func TestLines(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]bool{
		"":                                  false,
		"starting\nloading > 3 modules":     false,
		"<div>\n50%":                        false,
		"a # comment":                       false,
		"written in C#":                     false,
		"$ webpack --watch":                 false,
		"[me@box src]$ ":                    true,
		"$":                                 true,
		"sh-5.2$ ":                          true,
		"root@box:/work# ":                  true,
		"~/src $":                           true,
		">>> ":                              true,
		"│ > Try \"fix the tests\"       │": true,
		"❯":                                 true,
		"  > typed":                         true,
		" Claude Code v2.0.1":               true,
		"? for shortcuts\n bypass permissions on (shift+tab to cycle)": true,
		"Trust this folder? It\n› 1. Trust":                            false, // half of a dialog
		"  Folder access\n› 1. Trust and":                              false,
		"❯ 2) two":                                                     false,
		"Claude Code v2\nSelect login method:\n> 1. Account":           false,
	} {
		if got := ready.Lines(strings.Split(text, "\n")); got != want {
			t.Errorf("%q: %v", text, got)
		}
	}
}
