// Package history records and returns the events of workers. It derives events and the
// changes of records from the reports of backends and shims, so every process would write
// the same, and it removes the records and run directories whose retention has ended. By
// itself it reads only the journal of the shims: package watch and the verbs ask the
// backends.
package history

import (
	"github.com/hashicorp/go-hclog"

	"github.com/swarmhost/swarm/host/backend"
	"github.com/swarmhost/swarm/host/statedir"
	"github.com/swarmhost/swarm/host/store"
)

// Options say what a [History] needs.
type Options struct {
	Dir     statedir.Dir
	Store   *store.Store
	Plugins *backend.Plugins
	Logger  hclog.Logger
}

// History writes the history of one state directory. Methods may be called at the same
// time.
type History struct{ opts Options }

// New returns a history.
func New(o Options) *History { return &History{opts: o} }

func (h *History) warnIf(err error, message string, pairs ...any) {
	if err != nil {
		h.opts.Logger.Warn(message, append(pairs, "error", err)...)
	}
}
