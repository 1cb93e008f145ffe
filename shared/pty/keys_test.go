package pty_test

import (
	"errors"
	"path/filepath"
	"strings"
	"testing"

	"github.com/swarmhost/swarm/shared/pty"
)

// keyReader is a program that writes to a file what each of its reads returned, after
// it has written what its terminal is to be asked for.
func keyReader(t *testing.T, stty, modes string) (p *program, file string) {
	t.Helper()
	file = filepath.Join(t.TempDir(), "got")
	p = run(t, "stty "+stty+"; printf '"+modes+"ready'; while :; do dd bs=4096 count=1 2>/dev/null; printf '|'; done > "+file)
	p.shows("ready")
	return p, file
}

func TestPressKeys(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct{ stty, modes, keys, want string }{
		"named":       {"raw -echo", "", "Up F1 PageDown DC BTab BSpace Enter", "\x1b[A|\x1bOP|\x1b[6~|\x1b[3~|\x1b[Z|\x7f|\r|"},
		"any case":    {"raw -echo", "", "up ENTER pgdn", "\x1b[A|\r|\x1b[6~|"},
		"modified":    {"raw -echo", "", "C-c M-x C-Up S-F5 M-Enter C-Space C-M-a", "\x03|\x1bx|\x1b[1;5A|\x1b[15;2~|\x1b\r|\x00|\x1b\x01|"},
		"characters":  {"raw -echo", "", "a é C - ?", "a|é|C|-|?|"},
		"application": {"raw -echo", `\033[?1h`, "Down End C-Down", "\x1bOB|\x1bOF|\x1b[1;5B|"},
		"normal":      {"raw -echo", `\033[?1h\033[?1l`, "Down", "\x1b[B|"},
		// Escape comes alone: with what follows it would be another key.
		"escape": {"raw -echo", "", "Escape Down", "\x1b|\x1b[B|"},
		// Keys are never pasted.
		"bracketed": {"raw -echo", `\033[?2004h`, "x", "x|"},
		"line":      {"sane -echo", "", "h i Enter", "hi\n|"},
		"no CR":     {"sane -echo -icrnl", "", "h Enter", "h\n|"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p, file := keyReader(t, tt.stty, tt.modes)
			late := func() { t.Error("not read in time") }
			if err := p.PressKeys(t.Context(), tt.keys, late); err != nil {
				t.Fatal(err)
			}
			if got := p.output(file, len(tt.want)); got != tt.want {
				t.Errorf("read %q, want %q", got, tt.want)
			}
		})
	}
}

func TestUnknownKeys(t *testing.T) {
	t.Parallel()
	p, file := keyReader(t, "raw -echo", "")
	for _, keys := range []string{
		"", "a Entre", "a  b", " a", "C-", "C-é", "C-C-a", "X-a", "S-a", "C-BTab", "\x1b", "a\nb", "\xff",
		strings.Repeat("a ", 64) + "a",
	} {
		err := p.PressKeys(t.Context(), keys, nil)
		if _, ok := errors.AsType[pty.Refused](err); !ok {
			t.Errorf("%q: %v", keys, err)
		}
	}
	p.give("z", false)
	if got := p.output(file, 2); got != "z|" {
		t.Errorf("after what was refused it read %q", got)
	}
}
