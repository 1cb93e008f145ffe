package nearest

import (
	"strings"
	"testing"
)

func TestField(t *testing.T) {
	t.Parallel()
	fields := []string{"shellId", "teamName", "file"}
	for name, want := range map[string]string{
		"shell_id": "shellId", "Shell-ID": "shellId", "team": "teamName", "fil": "file", "fiel": "file", "path": "", "": "",
	} {
		if got := Field(name, fields); got != want {
			t.Errorf("Field(%q) = %q, want %q", name, got, want)
		}
	}
}

func TestName(t *testing.T) {
	t.Parallel()
	names := []string{"process", "tmux", "worktree"}
	for name, want := range map[string]string{
		"tmux": "tmux", "tmxu": "tmux", "tmu": "tmux", "Tmux": "tmux", "procss": "process", "processes": "process",
		"screen": "", "": "", "x": "", "worktee": "worktree", strings.Repeat("worktree", 1<<17): "",
	} {
		if got := Name(name, names); got != want {
			t.Errorf("Name(%.20q) = %q, want %q", name, got, want)
		}
	}
	if got := Name("x", []string{"e", "xy"}); got != "" {
		t.Errorf("one letter is near to another: %q", got)
	}
	if got := Name("ab", []string{"abc", "ac", "ab"}); got != "ab" {
		t.Errorf("the name itself is the nearest, got %q", got)
	}
}

func TestWithin(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		from, to string
		most     int
		distance int
		ok       bool
	}{
		{"", "", 0, 0, true},
		{"port", "prot", 1, 1, true},
		{"port", "prt", 1, 1, true},
		{"port", "part", 1, 1, true},
		{"größe", "grösse", 2, 2, true},
		{"port", "tmux", 3, 4, false},
		{"port", "a longer name", 3, 0, false},
	} {
		if d, ok := Within(tt.from, tt.to, tt.most); d != tt.distance || ok != tt.ok {
			t.Errorf("Within(%q, %q, %d) = %d, %t, want %d, %t", tt.from, tt.to, tt.most, d, ok, tt.distance, tt.ok)
		}
	}
}
