package tmux

import (
	"errors"
	"log/slog"
	"path/filepath"
	"strings"
	"testing"

	"github.com/swarmhost/swarm/shared/buildtest"
	"github.com/swarmhost/swarm/shared/swarm"
)

func TestNewEnough(t *testing.T) {
	t.Parallel()
	for version, want := range map[string]bool{
		"3.0": true, "3.3a": true, "next-3.6": true, "10.1": true, "openbsd-7.4": true, "master": true,
		"2.9a": false, "1.8": false, "": false,
	} {
		if err := newEnough(version); (err == nil) != want || err != nil && !errors.Is(err, swarm.ErrUnavailable) {
			t.Errorf("%q: %v", version, err)
		}
	}
}

func TestValidSession(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]bool{
		"work": true, "my work": true, "a-b_c": true, "größe": true, "1": true,
		"": false, "a.b": false, "a:b": false, "=a": false, "$1": false, "@1": false, "-a": false, "a;": false,
		"#{x}": false, "%H": false, "a\nb": false, `a\b`: false, "{last}": false, " ": false,
		strings.Repeat("x", 200): false,
	} {
		if got := validSession(name); got != want {
			t.Errorf("%q: %v", name, got)
		}
	}
}

// TestCheck looks for tmux where there is none, and an old one. It sets PATH, so
// it can't be parallel.
func TestCheck(t *testing.T) {
	b := New(slog.New(slog.DiscardHandler))
	if err := b.Check(t.Context()); err != nil {
		t.Error(err)
	}
	dir := t.TempDir()
	t.Setenv("PATH", dir)
	if err := b.Check(t.Context()); !errors.Is(err, swarm.ErrUnavailable) || !strings.Contains(err.Error(), "tmux is not installed") {
		t.Errorf("none: %v", err)
	}
	if err := buildtest.Write(filepath.Join(dir, "tmux"), []byte("#!/bin/sh\necho tmux 2.7\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := b.Check(t.Context()); !errors.Is(err, swarm.ErrUnavailable) || !strings.Contains(err.Error(), "tmux 2.7 is too old") {
		t.Errorf("old: %v", err)
	}
}
