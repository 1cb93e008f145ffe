package config

import "testing"

func TestLeadsOut(t *testing.T) {
	t.Parallel()
	for path, want := range map[string]struct{ out, misplaced bool }{
		"":                     {},
		".":                    {},
		"trees":                {},
		"./trees/x":            {},
		"a/../b":               {},
		"a..b":                 {},
		".env":                 {misplaced: true},
		"go/.cache":            {misplaced: true},
		"bin":                  {misplaced: true},
		"go/bin":               {misplaced: true},
		"node_modules/x":       {misplaced: true},
		"binaries":             {},
		"/abs":                 {true, true},
		"~":                    {true, true},
		"~/.vim/pack/x/start":  {true, true},
		"~other":               {true, true},
		"..":                   {true, true},
		"../x":                 {true, true},
		"a/../../b":            {true, true},
		"./a/../../a/../b/../": {true, true},
	} {
		if got := leadsOut(path); got != want.out {
			t.Errorf("%q leads out: %t", path, got)
		}
		if got := misplaced(path); got != want.misplaced {
			t.Errorf("%q is misplaced: %t", path, got)
		}
	}
}
