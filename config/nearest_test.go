package config

import "testing"

func TestNearest(t *testing.T) {
	t.Parallel()
	names := []string{"process", "tmux", "worktree"}
	for name, want := range map[string]string{
		"tmux": "tmux", "tmxu": "tmux", "tmu": "tmux", "Tmux": "tmux", "procss": "process", "processes": "process",
		"screen": "", "": "", "x": "", "worktee": "worktree",
	} {
		if got := Nearest(name, names); got != want {
			t.Errorf("near %q is %q, want %q", name, got, want)
		}
	}
}

func TestNearestKey(t *testing.T) {
	t.Parallel()
	keys := []string{"defaults", "defaults.backend", "defaults.tags", "kill.timeout", "log.limit"}
	for key, want := range map[string]string{
		"default": "defaults", "defaults.bakend": "defaults.backend", "defualts.tags": "defaults.tags",
		"timeout": "kill.timeout", "bakend": "defaults.backend", "kill.limti": "log.limit",
		"unknown.table": "", "x": "",
	} {
		if got := nearest(key, keys); got != want {
			t.Errorf("near %q is %q, want %q", key, got, want)
		}
	}
}
