package errtext

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
)

func TestWithout(t *testing.T) {
	t.Parallel()
	one, two := errors.New("invalid"), errors.New("unavailable")
	for _, tt := range []struct {
		err        error
		text, line string
	}{
		{fmt.Errorf("%w: no name", one), "no name", "no name"},
		{fmt.Errorf("%w: %w: no name", one, two), "no name", "no name"},
		{fmt.Errorf("read: %w: no name", one), "read: invalid: no name", "read: invalid: no name"},
		{errors.New("invalid: only the same text"), "invalid: only the same text", "invalid: only the same text"},
		{one, "invalid", "invalid"},
		{errors.Join(errors.New("a"), errors.New("b")), "a\nb", "a; b"},
	} {
		if got := Without(tt.err, one, two); got != tt.text {
			t.Errorf("Without(%v) = %q, want %q", tt.err, got, tt.text)
		}
		if got := Line(tt.err, one, two); got != tt.line {
			t.Errorf("Line(%v) = %q, want %q", tt.err, got, tt.line)
		}
	}
}

func TestCause(t *testing.T) {
	t.Parallel()
	_, err := os.Open(filepath.Join(t.TempDir(), "missing"))
	if got := Cause(fmt.Errorf("read: %w", err)); got.Error() != "no such file or directory" || !errors.Is(got, fs.ErrNotExist) {
		t.Errorf("got %v", got)
	}
	other := errors.New("other")
	if got := Cause(other); !errors.Is(got, other) {
		t.Errorf("got %v", got)
	}
}
