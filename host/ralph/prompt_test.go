package ralph

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/swarmhost/swarm/shared/swarm"
)

func TestReadPrompt(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "PROMPT.md")
	if err := os.WriteFile(path, []byte("one\r\ntwo\n\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	got, err := ReadPrompt(path)
	if err != nil || string(got) != "one\ntwo" {
		t.Errorf("ReadPrompt = %q, %v; want lines without what is at the end", got, err)
	}
}

// A path that is not a prompt file is refused at once, whatever it is.
func TestReadPromptOfWhatIsNone(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path := func(name string) string { return filepath.Join(dir, name) }
	if err := unix.Mkfifo(path("fifo"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("/dev/zero", path("endless")); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path("large"), make([]byte, swarm.MaxInput+1), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{
		"missing": "prompt file not found: " + path("missing"),
		"fifo":    "not a regular file",
		"endless": "not a regular file",
		".":       "not a regular file",
		"large":   "prompt file too large",
	} {
		_, err := ReadPrompt(path(name))
		if !errors.Is(err, ErrPrompt) || !strings.Contains(err.Error(), want) {
			t.Errorf("ReadPrompt of %s: %v; want an ErrPrompt with %q", name, err, want)
		}
	}
}
