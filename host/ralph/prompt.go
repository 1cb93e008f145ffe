package ralph

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"golang.org/x/sys/unix"

	"github.com/swarmhost/swarm/shared/swarm"
)

// ReadPrompt reads a prompt file as it is pasted: without the newlines at its end,
// which would be keys. The error is an [ErrPrompt].
func ReadPrompt(path string) ([]byte, error) {
	fail := func(err error, format string, args ...any) ([]byte, error) {
		return nil, &promptError{text: fmt.Sprintf(format, args...), err: err}
	}
	b, err := readRegular(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return fail(err, "prompt file not found: %s", path)
	case err != nil:
		return fail(err, "cannot read prompt file: %v", err)
	case len(b) > swarm.MaxInput:
		return fail(nil, "prompt file too large: %s has more than the %d bytes that can be given", path, swarm.MaxInput)
	}
	b = bytes.ReplaceAll(b, []byte("\r\n"), []byte("\n"))
	return bytes.TrimRight(b, "\n"), nil
}

// readRegular reads a regular file up to a limit. Other files may have no end, or block the
// loop: a FIFO is opened without waiting for a writer.
func readRegular(path string) ([]byte, error) {
	f, err := os.OpenFile(path, os.O_RDONLY|unix.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, &fs.PathError{Op: "read", Path: path, Err: errors.New("not a regular file")}
	}
	return io.ReadAll(io.LimitReader(f, swarm.MaxInput+1))
}
