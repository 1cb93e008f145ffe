package fake

import (
	"os"
	"path/filepath"

	"github.com/swarmhost/swarm/shared/swarm"
)

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
