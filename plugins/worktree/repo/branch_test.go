package repo

import (
	"testing"
)

// TestMapped is about refspecs, as git-fetch(1) describes them.
func TestMapped(t *testing.T) {
	t.Parallel()
	for spec, want := range map[string]string{
		"+refs/heads/*:refs/remotes/origin/*":         "refs/remotes/origin/topic/x",
		"refs/heads/topic/*:refs/remotes/o/t/*":       "refs/remotes/o/t/x",
		"+refs/heads/topic/x:refs/remotes/o/only":     "refs/remotes/o/only",
		"+refs/heads/main:refs/remotes/origin/main":   "",
		"refs/heads/*/x:refs/remotes/o/*/x":           "refs/remotes/o/topic/x",
		"+refs/tags/*:refs/tags/*":                    "",
		"^refs/heads/topic/x":                         "",
		"refs/heads/*":                                "",
		"":                                            "",
		"+refs/heads/topic/x-*:refs/remotes/origin/*": "",
	} {
		if got := mapped(spec, "refs/heads/topic/x"); got != want {
			t.Errorf("mapped(%q) = %q, want %q", spec, got, want)
		}
	}
}
