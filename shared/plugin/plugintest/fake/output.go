package fake

import (
	"context"
	"os"
	"path/filepath"

	"github.com/swarmhost/swarm/shared/swarm"
)

// Output implements [swarm.Outputter].
func (b *Backend) Output(ctx context.Context, h swarm.Handle, o swarm.OutputOptions, each func(swarm.Output) error) error {
	w, err := b.worker(h)
	if err != nil {
		return err
	}
	next := 0
	if o.Tail != nil {
		all, _, _ := w.since(0)
		next = max(0, len(all)-*o.Tail)
	}
	for {
		pieces, ended, changed := w.since(next)
		next += len(pieces)
		for _, p := range pieces {
			if p.Time.Before(o.Since) || o.Stream != "" && p.Stream != o.Stream {
				continue
			}
			if err := each(p); err != nil {
				return err
			}
		}
		if ended || !o.Follow {
			return nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// since returns the output from a place on, whether there can be no more, and a
// channel that is closed when there is.
func (w *worker) since(n int) (pieces []swarm.Output, ended bool, changed <-chan struct{}) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.output[n:len(w.output):len(w.output)], w.exit != nil, w.changed
}

// transcribe adds to the transcript, if there is to be one. The caller holds mu.
// Dropped text becomes zeros, as a hole in a file reads.
func (w *worker) transcribe(text string) {
	if !w.spec.Transcript || w.spec.Local == nil {
		return
	}
	w.transcript = append(w.transcript, text...)
	if limit := w.spec.OutputLimit; limit > 0 {
		clear(w.transcript[:max(0, int64(len(w.transcript))-limit)])
	}
	name := filepath.Join(w.spec.Local.RunDir, swarm.TranscriptFile)
	if err := os.WriteFile(name, w.transcript, 0o600); err != nil {
		panic("fake: " + err.Error())
	}
}
