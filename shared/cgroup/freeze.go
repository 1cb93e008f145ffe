package cgroup

import (
	"errors"
	"strings"
	"time"
)

// Kill ends all processes in the group at once, so that none can fork meanwhile, if sure
// says so. sure is called while none of them runs, so what it finds in the group stays true.
// Kill is [errors.ErrUnsupported] where the system can't do that, and [ErrOthers] if sure
// says no; then all of them continue.
func (g *Group) Kill(sure func() bool) error {
	p, ok := g.at(Freezer)
	if !ok || !p.v2 || !g.fs.exists(p.file("cgroup.kill")) {
		return errors.ErrUnsupported
	}
	if err := g.stop(p, killLimit); err != nil {
		return err
	}
	// SIGKILL ends a frozen process too; one that enters the group later is not to stop.
	defer func() { _ = g.freeze(p, false) }()
	if !sure() {
		return ErrOthers
	}
	return g.fs.write(p.file("cgroup.kill"), "1")
}

// ErrOthers says that processes are in the group that do not belong to the worker.
var ErrOthers = errors.New("the group holds processes of others")

// Freezes reports whether the group can be frozen.
func (g *Group) Freezes() bool {
	_, ok := g.at(Freezer)
	return ok
}

const (
	// freezeLimit is how long a freeze may take, killLimit one before a kill, which has
	// another way. freezeStep is how often the progress is looked at: version 1 has no event
	// for it.
	freezeLimit = 2 * time.Second
	killLimit   = 100 * time.Millisecond
	freezeStep  = time.Millisecond
)

// Freeze stops all processes of the group, and returns once none runs; or lets them continue.
// After an error they continue. In a frozen group of version 1 no signal has an effect, not even
// SIGKILL, until it continues.
func (g *Group) Freeze(frozen bool) error {
	p, ok := g.at(Freezer)
	if !ok {
		return errors.ErrUnsupported
	}
	if !frozen {
		return g.freeze(p, false)
	}
	return g.stop(p, freezeLimit)
}

// stop returns once no process of the group runs.
func (g *Group) stop(p place, limit time.Duration) error {
	until := time.Now().Add(limit)
	for {
		// Version 1 needs the write again if a process forked meanwhile.
		if err := g.freeze(p, true); err != nil {
			return err
		}
		if g.isFrozen(p) {
			return nil
		}
		if time.Now().After(until) {
			_ = g.freeze(p, false)
			return errors.New("a process sleeps in the kernel and can't be stopped")
		}
		time.Sleep(freezeStep)
	}
}

func (g *Group) freeze(p place, frozen bool) error {
	on, off := "1", "0"
	if !p.v2 {
		on, off = "FROZEN", "THAWED"
	}
	if !frozen {
		on = off
	}
	return g.fs.write(p.file("cgroup.freeze", "freezer.state"), on)
}

func (g *Group) isFrozen(p place) bool {
	if p.v2 {
		n, ok := g.count(p.file("cgroup.events"), "frozen")
		return ok && n == 1
	}
	text, err := g.fs.read(p.file("freezer.state"))
	return err == nil && strings.TrimSpace(text) == "FROZEN"
}
