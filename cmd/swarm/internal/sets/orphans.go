package sets

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"

	"github.com/swarmhost/swarm/cmd/swarm/internal/app"
	"github.com/swarmhost/swarm/cmd/swarm/internal/output"
	"github.com/swarmhost/swarm/cmd/swarm/internal/view"
	"github.com/swarmhost/swarm/host"
	"github.com/swarmhost/swarm/host/kill"
	"github.com/swarmhost/swarm/host/set"
	"github.com/swarmhost/swarm/host/worker"
)

// The actions of JSON on orphans, next to those of [set.Action].
const (
	actionOrphan  set.Action = "orphan"
	actionRemoved set.Action = "removed"
)

// orphans are the workers that the file of a project declared once and declares no more.
type orphans struct {
	*app.App
	project string
	// all are the orphans, found what JSON reports of them.
	all   []worker.Worker
	found []set.Outcome
	// kills are the kills of the removed orphans, as the JSON of down lists them.
	kills []kill.Outcome
	// failed says that one could not be removed.
	failed bool
}

// name says which orphans there are.
func (o *orphans) name() {
	for _, w := range o.all {
		text := fmt.Sprintf("'%s' is running, and %s declares it no more", w.Name, filepath.Base(o.project))
		if w.Gone() {
			text = fmt.Sprintf("'%s' has ended, and %s declares it no more", w.Name, filepath.Base(o.project))
		} else if w.Status != worker.StatusRunning {
			text = fmt.Sprintf("'%s' is %s, and %s declares it no more", w.Name, w.Status, filepath.Base(o.project))
		}
		o.Warn(text, "")
		o.found = append(o.found, set.Outcome{Name: w.Name, Action: actionOrphan, Worker: w})
	}
	if len(o.all) > 0 {
		o.Hint("'swarm up --remove-orphans' and 'swarm down --remove-orphans' end and clean such workers")
	}
}

// remove ends and cleans the orphans, or prints what would be removed.
func (o *orphans) remove(ctx context.Context, h *host.Host, dryRun, json bool) {
	if dryRun {
		for _, w := range o.all {
			if !json {
				o.Printf("would remove %s\n", w.Name)
			}
			o.found = append(o.found, set.Outcome{Name: w.Name, Action: actionRemoved, Worker: w})
		}
		return
	}
	for _, r := range set.RemoveOrphans(ctx, h, o.all) {
		out := set.Outcome{Name: r.Worker.Name, Action: actionRemoved, Worker: r.Worker, Err: r.Err}
		switch {
		case r.Err != nil:
			out.Action, o.failed = set.Failed, true
			o.Fail(r.Err)
		case !json:
			o.Printf("removed %s\n", r.Worker.Name)
		}
		for _, part := range []*kill.Outcome{r.Kill, r.Clean} {
			if part != nil {
				view.Remarks(o.App, part.Warnings, part.Notices)
			}
		}
		o.found = append(o.found, out)
		o.kills = append(o.kills, killOf(r))
	}
}

// killOf returns the kill of a removed orphan, which may have ended before.
func killOf(r set.Removal) kill.Outcome {
	if r.Kill == nil {
		return kill.Outcome{Worker: r.Worker, AlreadyEnded: r.Worker.Gone(), Err: r.Err}
	}
	out := *r.Kill
	if r.Clean != nil {
		out.Warnings = append(slices.Clone(out.Warnings), r.Clean.Warnings...)
		out.Notices = append(slices.Clone(out.Notices), r.Clean.Notices...)
	}
	out.Err = r.Err
	return out
}

// result is the error of a call that could not remove all.
func (o *orphans) result() error {
	if o.failed {
		return output.Failed
	}
	return nil
}

// onlyOrphans handles the orphans of a file that declares no workers at all, and returns the error
// about that unless the orphans were to be removed.
func onlyOrphans(ctx context.Context, a *app.App, project string, remove, dryRun bool, none error) error {
	return a.WithHost(ctx, func(h *host.Host) error {
		all, err := set.OrphansOf(ctx, h, project, nil)
		if err != nil || len(all) == 0 {
			return none
		}
		o := &orphans{App: a, project: project, all: all}
		if !remove {
			o.name()
			return none
		}
		o.remove(ctx, h, dryRun, false)
		return o.result()
	})
}
