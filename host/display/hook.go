package display

import (
	"errors"
	"io/fs"
	"time"

	"github.com/swarmhost/swarm/host/hookstate"
	"github.com/swarmhost/swarm/host/profile"
	"github.com/swarmhost/swarm/host/statedir"
	"github.com/swarmhost/swarm/host/worker"
)

func (d *Reader) hookClaim(id string) *hookstate.Claim {
	run := d.opts.Dir.RunDir(id)
	c, err := hookstate.Read(run)
	if err != nil {
		if !errors.Is(err, fs.ErrNotExist) {
			d.opts.Logger.Debug("what hooks say can't be read", "error", err)
		}
		return nil
	}
	s, err := statedir.ReadStatus(run)
	if err != nil || !c.Holds(s.Main) {
		return nil
	}
	return &c
}

// settledFor is how long a screen with a prompt must be unchanged to be believed against a
// report of hooks: no hook reports that a person interrupted a turn.
const settledFor = 1500 * time.Millisecond

// hear fills in what hooks say of a worker with a state, where the screen says nothing
// better: a dialog and signs of work are certain, a prompt is also there between two
// steps.
func (d *Reader) hear(w *worker.Worker, now time.Time) {
	s := w.State
	if s.Source == worker.SourceProcess {
		return
	}
	c := d.hookClaim(w.ID)
	if c == nil {
		return
	}
	said, last := profile.State(c.State), c.At
	if written := d.opts.Dir.LastOutput(w.ID); written.After(last) {
		last = written
	}
	switch {
	case s.State == profile.Blocked, s.State == profile.Working && said != profile.Working:
		return
	case s.State == profile.Idle && said != profile.Idle && now.Sub(last) >= settledFor:
		return
	}
	s.State, s.Source, s.Since, s.Question, s.Choices, s.Dialog = said, worker.SourceHook, c.Since, c.Question, nil, profile.Dialog{}
}
