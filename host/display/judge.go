package display

import (
	"errors"
	"io/fs"
	"path/filepath"
	"time"

	"github.com/swarmhost/swarm/host/hookstate"
	"github.com/swarmhost/swarm/host/judgement"
	"github.com/swarmhost/swarm/host/profile"
	"github.com/swarmhost/swarm/host/registry"
	"github.com/swarmhost/swarm/host/statedir"
	"github.com/swarmhost/swarm/shared/proc"
)

// Judge returns the state of a worker's agent, whose screen shows look since a time.
func (d *Reader) Judge(p *profile.Profile, rec *registry.Record, look *profile.Look, unchanged time.Time) judgement.State {
	s, _ := d.judge(p, rec, look, unchanged, time.Now())
	return s
}

// judge returns the state of a worker's agent. look is what its screen shows, nil if that
// can't be read, and unchanged the time since which it has shown that. If the same evidence
// gives another state later, again is how long that takes.
func (d *Reader) judge(p *profile.Profile, rec *registry.Record, look *profile.Look, unchanged, now time.Time) (s judgement.State, again time.Duration) {
	e := judgement.Evidence{Profile: p, Now: now, Headless: p.Headless(rec.Command), Look: look, Unchanged: unchanged}
	if !e.Headless {
		run := d.Dir.RunDir(rec.ID)
		var main proc.Identity
		if status, err := statedir.ReadStatus(run); err == nil {
			main = status.Main
		}
		claim := d.hookClaim(run)
		e.Front = d.front(p, main, claim)
		if claim != nil && claim.Holds(main) {
			e.Hook = claim
			if claim.Waits(main) {
				return undecided(p, claim), 0
			}
		}
	}
	return judgement.Of(e)
}

// hookClaim returns the newest report of hooks in a run directory, of whatever process; nil:
// none.
func (d *Reader) hookClaim(run string) *hookstate.Claim {
	c, err := hookstate.Read(run)
	if err != nil {
		if !errors.Is(err, fs.ErrNotExist) {
			d.Logger.Debug("the report of hooks can't be read", "error", err)
		}
		return nil
	}
	return &c
}

// front returns the name of the program that has the terminal of a worker instead of its
// agent, which has ended; empty: the agent has it, or that is not known. The agent has ended
// if nothing but a shell without a script is in the foreground, or if the process whose hooks
// reported is gone and nothing in the foreground is such an agent.
func (d *Reader) front(p *profile.Profile, main proc.Identity, claim *hookstate.Claim) string {
	if p.Bare() || !main.Alive() {
		return ""
	}
	m, err := proc.Read(main.PID)
	if err != nil || m.Foreground == 0 {
		return ""
	}
	set, _ := d.Profiles.Load()
	reporterGone := claim != nil && claim.Main == main && claim.Agent != main && !claim.Agent.Alive()
	if !reporterGone && !isShell(set, proc.Args(m.Foreground)) {
		return "" // after two reads for each agent, and none of other processes
	}
	group, err := proc.Find(func(q proc.Process) bool { return q.Group == m.Foreground && !q.Ended })
	if err != nil {
		return ""
	}
	name := ""
	for _, q := range group {
		args := proc.Args(q.PID)
		switch {
		case len(args) == 0, p.Runs(args):
			return ""
		case isShell(set, args):
		case !reporterGone:
			return ""
		case q.PID != main.PID && isOf(set, args, p): // the script of a shell names its agent, too
			return ""
		}
		name = filepath.Base(args[0])
	}
	return name
}

func isOf(set *profile.Set, args []string, p *profile.Profile) bool {
	q := set.For(args)
	return q != nil && q.Name() == p.Name()
}

// isShell reports whether a process with these arguments is a shell without a script.
func isShell(set *profile.Set, args []string) bool {
	if len(args) == 0 {
		return false
	}
	p := set.For(args[:1])
	return p != nil && p.Bare() && p.Runs(args)
}
