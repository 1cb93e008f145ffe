package ralph

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/swarmhost/swarm/shared/swarm"
)

// ReadPrompt reads a prompt file as it is pasted: without the newlines at its end,
// which would be keys. The error is an [ErrPrompt].
func ReadPrompt(path string) ([]byte, error) {
	fail := func(err error, format string, args ...any) ([]byte, error) {
		return nil, &promptError{text: fmt.Sprintf(format, args...), err: err}
	}
	b, err := os.ReadFile(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return fail(err, "prompt file not found: %s", path)
	case err != nil:
		return fail(err, "cannot read prompt file: %v", err)
	case len(b) > swarm.MaxInput:
		return fail(nil, "prompt file too large: %s has %d bytes, at most %d can be given", path, len(b), swarm.MaxInput)
	}
	b = bytes.ReplaceAll(b, []byte("\r\n"), []byte("\n"))
	return bytes.TrimRight(b, "\n"), nil
}
