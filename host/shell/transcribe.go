package shell

import (
	"context"
	"os"
	"slices"

	"golang.org/x/sys/unix"

	"github.com/swarmhost/swarm/host"
	"github.com/swarmhost/swarm/shared/safefile"
	"github.com/swarmhost/swarm/shared/swarm"
)

// A command that somebody waits for has its streams apart, which a transcript can't
// have: it has both in one, in the order written. Where it needs one nevertheless, it
// is written from the log.

// makeTranscript makes an empty transcript.
func makeTranscript(path string) error {
	f, err := safefile.Create(path)
	if err != nil {
		return err
	}
	return f.Close()
}

// transcribe writes the output of a worker to its transcript, with follow until the
// worker has ended. Each byte has its place, so several may do so at the same time.
func transcribe(ctx context.Context, h *host.Host, id, path string, follow bool) error {
	f, err := os.OpenFile(path, os.O_WRONLY|unix.O_NOFOLLOW|unix.O_NONBLOCK|unix.O_CLOEXEC, 0)
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }() // each write has told its error
	offset := int64(0)
	return h.Logs(ctx, id, swarm.OutputOptions{Follow: follow}, func(o swarm.Output) error {
		offset += o.Dropped
		text := o.Data
		if !o.Partial {
			text = append(slices.Clip(text), '\n')
		}
		_, err := f.WriteAt(text, offset)
		offset += int64(len(text))
		return err
	})
}
