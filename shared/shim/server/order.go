package server

import (
	"os"
	"strings"
	"time"

	"github.com/swarmhost/swarm/shared/proc"
	"github.com/swarmhost/swarm/shared/safefile"
	"github.com/swarmhost/swarm/shared/shim/rundir"
)

// takeOrder carries out the kill that lies in the run directory, if one does, see
// [rundir.OrderFile]. It is called at every SIGCONT.
func (k *shim) takeOrder() {
	f, err := safefile.Open(rundir.OrderFile, rundir.MaxLine)
	if err != nil {
		return
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return
	}
	b := make([]byte, info.Size())
	if _, err := f.ReadAt(b, 0); err != nil {
		return
	}
	// The removal tells the writer that the kill is accepted, so it comes first. An order
	// that was taken back meanwhile is not carried out.
	if os.Remove(rundir.OrderFile) != nil {
		return
	}
	line, whole := strings.CutSuffix(string(b), "\n")
	r, err := rundir.ParseRequest(line)
	sig := proc.SignalNumber(r.Signal)
	switch {
	case err != nil, !whole, r.Verb != rundir.VerbKill, r.ID != k.launch.ID, sig == 0:
		return
	case time.Since(info.ModTime()) > rundir.OrderLife:
		// The writer is gone, and its request is too old.
		return
	}
	k.reap()
	if k.phase != over {
		k.begin(killOf(r, nil), sig, r.MainOnly)
	}
}
