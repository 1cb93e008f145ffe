package watch

import (
	"context"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/swarmhost/swarm/host/backend"
	"github.com/swarmhost/swarm/host/history"
	"github.com/swarmhost/swarm/host/registry"
	"github.com/swarmhost/swarm/host/worker"
	"github.com/swarmhost/swarm/shared/proc"
	"github.com/swarmhost/swarm/shared/swarm"
	"github.com/swarmhost/swarm/shared/warn"
)

// Request has the functions that a watch calls. Any of them may be nil.
type Request struct {
	// Ready is called once, when nothing that happens from then on is missed.
	Ready func()
	// Event is called with every event that any process writes from then on.
	Event func(registry.Event) error
	// Changed is called after each change of the registry, once Event was called for what is
	// new. A worker whose spawn was undone goes without an event. all says that another
	// registry took the place of the one before.
	Changed func(all bool)
	// Stopped is called with the id of each worker that its backend says runs no more. Of a
	// worker whose shim is gone while its processes are alive, without an event.
	Stopped func(id string)
	// Warn is called with what can't be watched or recorded.
	Warn func(text string)
}

// Watch records the ends of workers as they happen, removes workers whose retention time has
// run out, and kills workers whose owner is gone if their backend does not, until ctx ends or
// Event returns an error.
//
// Any number of watchers may run at the same time. If one is killed, nothing is lost: the
// next one writes what it did not.
func (h *Watcher) Watch(ctx context.Context, req Request) error {
	if _, err := h.Store.ToWrite(ctx); err != nil { // it makes the first database
		return err
	}
	file, err := os.Stat(filepath.Join(string(h.Dir), registry.File))
	if err != nil {
		return err
	}
	h.Store.Reopen() // so that what is open is not older than file
	reg, err := h.Store.ToWrite(ctx)
	if err != nil {
		return err
	}
	f, err := history.NewFollower(string(h.Dir), func(text string) {
		if req.Warn != nil {
			req.Warn(text)
		}
	})
	if err != nil {
		return err
	}
	defer f.Close()
	if err := f.Begin(ctx); err != nil {
		return err
	}
	w := &watchRun{
		Watcher: h, reg: reg, file: file, req: req,
		watched: map[string]bool{}, later: map[string]retry{}, warned: map[string][]string{}, reading: map[string]bool{},
		reports: make(chan report), owners: map[proc.Identity]*owner{}, results: make(chan func()),
	}
	ctx, cancel := context.WithCancel(ctx)
	defer w.listening.Wait()
	defer cancel()
	return w.run(ctx, f)
}

const (
	// watchAgain is the first pause before a worker that could not be watched is tried
	// again, watchAgainMax the longest.
	watchAgain    = time.Second
	watchAgainMax = 30 * time.Second
	// sweepEvery is how often the silence of agents is measured, which without an event.
	sweepEvery = 15 * time.Second
	// lookEvery is how often the screens of agents are read.
	lookEvery = 3 * time.Second
	// trimEvery is how often old events are removed.
	trimEvery = time.Hour
)

// watchRun is one call of [Watcher.Watch]. One goroutine, that of the call, records and
// reports; others listen to the backends and send it what they hear.
type watchRun struct {
	*Watcher
	reg *registry.Registry
	// file identifies the database file that reg has open, or an older one.
	file fs.FileInfo
	req  Request

	// watched are the ids of the workers that a goroutine listens for; later are the
	// workers that can't be watched now.
	watched map[string]bool
	later   map[string]retry
	reports chan report
	// owners are the owners of running workers; their ends are awaited.
	owners map[proc.Identity]*owner
	// results gets functions from work that ran concurrently with the loop; the loop calls them.
	results chan func()
	// sweeping says that a sweep of the agents is under way; sweep is the time of the next
	// one, zero if there are no agents.
	sweeping bool
	sweep    time.Time
	// looking says that the screens of agents are being read; look is the time of the next
	// look, zero if no worker has a profile.
	looking bool
	look    time.Time
	// trim is the time of the next removal of old events, zero if one is under way.
	trim time.Time
	// warned are the texts of the warnings that were given about each subject and still hold.
	warned map[string][]string
	// reading are the ids of the workers whose last lines are being read.
	reading map[string]bool

	listening sync.WaitGroup
}

type retry struct {
	at    time.Time
	delay time.Duration
}

// report is what a backend said of one worker. over says that it is the last one.
type report struct {
	rec    registry.Record
	status swarm.Status
	err    error
	over   bool
}

func (w *watchRun) run(ctx context.Context, f *history.Follower) error {
	var done Collected
	done.events(ctx, w.Watcher, w.reg)
	w.trim = time.Now().Add(trimEvery)
	if _, err := done.ended(ctx, w.Watcher, w.reg); err != nil {
		return err
	}
	done.remove(ctx, w.Watcher, w.reg)
	w.warn(aboutBegin, done.Warnings...)
	if err := w.refresh(ctx); err != nil {
		return err
	}
	w.agents(ctx)
	if w.req.Ready != nil {
		w.req.Ready()
	}
	next := time.NewTimer(0)
	defer next.Stop()
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case first := <-w.reports:
			w.record(ctx, w.batch(first))
		case err, ok := <-f.Changes.Failed:
			if ok {
				return err
			}
		case <-f.Changes.C:
			if err := w.pass(ctx, f); err != nil {
				return err
			}
		case result := <-w.results:
			result()
		case <-next.C:
		}
		next.Reset(w.due(ctx))
	}
}

// batch returns first with the reports that are there by now: many ends at a time are one
// change.
func (w *watchRun) batch(first report) []report {
	batch := []report{first}
	for {
		select {
		case more := <-w.reports:
			batch = append(batch, more)
		default:
			return batch
		}
	}
}

// pass passes on the events that were written, and watches the workers that were spawned.
func (w *watchRun) pass(ctx context.Context, f *history.Follower) error {
	spawned := false
	err := f.Next(ctx, "", func(e registry.Event) error {
		spawned = spawned || e.Kind == history.Spawned || e.Kind == history.Adopted
		if w.req.Event == nil {
			return nil
		}
		return w.req.Event(e)
	})
	if err != nil {
		return err
	}
	if w.sweep.IsZero() && !w.sweeping {
		w.expectAgents(ctx)
	}
	renewed := w.renew(ctx)
	if w.req.Changed != nil {
		w.req.Changed(renewed)
	}
	if renewed || spawned {
		return w.refresh(ctx)
	}
	return nil
}

// refresh listens for the running workers that no goroutine listens for yet.
func (w *watchRun) refresh(ctx context.Context) error {
	recs, warnings, err := w.reg.Read(ctx, registry.Query{State: registry.Running})
	if err != nil {
		return err
	}
	w.warn(aboutRecords, warnings...)
	w.awaitOwners(ctx, recs)
	if w.look.IsZero() && !w.looking && len(w.Display.Profiled(recs)) > 0 {
		w.look = time.Now()
	}
	now := time.Now()
	fresh := func(r registry.Record) bool { return !w.watched[r.ID] && !now.Before(w.later[r.ID].at) }
	for _, g := range w.Plugins.Groups(recs, fresh) {
		for _, r := range g.Recs {
			w.watched[r.ID] = true
		}
		w.listening.Go(func() { w.listen(ctx, g) })
	}
	maps.DeleteFunc(w.later, func(id string, _ retry) bool {
		gone := registry.IndexOf(recs, id) < 0
		if gone {
			w.warn(aboutWorker + id)
		}
		return gone
	})
	return nil
}

// listen sends the reports of a backend on its workers until all have ended.
func (w *watchRun) listen(ctx context.Context, g *backend.Group) {
	over := make([]bool, len(g.Recs))
	send := func(i int, s swarm.Status, err error) {
		if over[i] {
			return
		}
		over[i] = err != nil || !s.State.Active() && s.State != swarm.StateUnknown
		select {
		case w.reports <- report{rec: g.Recs[i], status: s, err: err, over: over[i]}:
		case <-ctx.Done():
		}
	}
	err := w.Plugins.AskGroup(ctx, g, func(p *backend.Peer) error { return watchBatch(ctx, p, g.Handles(), send) })
	if err == nil {
		err = fmt.Errorf("%w: backend '%s' gave no answer", swarm.ErrUnavailable, g.Name)
	}
	for i := range g.Recs {
		send(i, swarm.Status{}, err)
	}
}

// watchBatch watches workers. It polls a backend that can't watch.
func watchBatch(ctx context.Context, p *backend.Peer, hs []swarm.Handle, each func(int, swarm.Status, error)) error {
	if p.Has(swarm.CapWatch) {
		return p.Backend.WatchBatch(ctx, hs, each)
	}
	at := make([]int, len(hs))
	for i := range hs {
		at[i] = i
	}
	tick := time.NewTicker(backend.PollEvery)
	defer tick.Stop()
	for len(at) > 0 {
		open := make([]swarm.Handle, len(at))
		for i, place := range at {
			open[i] = hs[place]
		}
		results, err := p.Backend.StatusBatch(ctx, open)
		if err != nil {
			return err
		}
		var still []int
		for i, r := range results {
			each(at[i], r.Status, r.Err)
			if r.Err == nil && (r.Status.State.Active() || r.Status.State == swarm.StateUnknown) {
				still = append(still, at[i])
			}
		}
		at = still
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-tick.C:
		}
	}
	return nil
}

func (w *watchRun) record(ctx context.Context, batch []report) {
	var all []history.Report
	for _, b := range batch {
		switch {
		case b.err != nil && ctx.Err() == nil:
			w.warn(aboutWorker+b.rec.ID, fmt.Sprintf("cannot watch '%s': %s", b.rec.Name, worker.Wording(b.err)))
		case b.err != nil:
		case !history.IsNew(&b.rec, b.status):
			w.warn(aboutWorker + b.rec.ID)
		case history.ReadsOutput(&b.rec, b.status):
			w.warn(aboutWorker + b.rec.ID)
			w.recordAside(ctx, b)
		default:
			w.warn(aboutWorker + b.rec.ID)
			all = append(all, w.History.Report(ctx, b.rec, b.status))
		}
		if b.over {
			delete(w.watched, b.rec.ID)
			delay := min(max(2*w.later[b.rec.ID].delay, watchAgain), watchAgainMax)
			w.later[b.rec.ID] = retry{at: time.Now().Add(delay), delay: delay}
			if w.req.Stopped != nil {
				w.req.Stopped(b.rec.ID)
			}
		} else {
			delete(w.later, b.rec.ID)
		}
	}
	w.write(ctx, all)
}

// recordAside records a report concurrently with the loop: the last lines of its worker,
// which the history keeps, may be on a far host.
func (w *watchRun) recordAside(ctx context.Context, b report) {
	id := b.rec.ID
	if w.reading[id] {
		return
	}
	w.reading[id] = true
	w.aside(ctx, func() func() {
		r := w.History.Report(ctx, b.rec, b.status)
		return func() {
			delete(w.reading, id)
			w.write(ctx, []history.Report{r})
		}
	})
}

func (w *watchRun) write(ctx context.Context, all []history.Report) {
	if len(all) == 0 {
		return
	}
	w.renew(ctx)
	published, err := w.History.Write(ctx, w.reg, all)
	if err != nil {
		if ctx.Err() == nil {
			w.warn(aboutWrites, fmt.Sprintf("cannot record what happened: %v", err))
		}
		// The backends report it again.
		return
	}
	w.warn(aboutWrites)
	// The files of an ephemeral worker are removed after the end of its shim.
	if slices.ContainsFunc(published, func(t history.Written) bool { return t.Record.IsEphemeral() }) {
		w.drop(ctx)
	}
}

func (w *watchRun) drop(ctx context.Context) {
	_, err := w.History.DropRunDirs(ctx, w.reg)
	warn.If(w.Logger, err, "run directories can't be removed")
	warn.If(w.Logger, w.reg.Scrub(ctx), "deleted records can't be erased")
}

// due does what is due and returns the time until more is.
func (w *watchRun) due(ctx context.Context) time.Duration {
	now := time.Now()
	next := now.Add(time.Hour)
	again := w.renew(ctx)
	gone, at, err := w.History.Expire(ctx, w.reg, now)
	warn.If(w.Logger, err, "expired workers can't be removed")
	if len(gone) > 0 {
		w.drop(ctx)
	}
	if !at.IsZero() && at.Before(next) {
		next = at
	}
	if !w.trim.IsZero() && !now.Before(w.trim) {
		w.trimEvents(ctx)
	}
	if !w.sweep.IsZero() && !w.sweeping {
		if !now.Before(w.sweep) {
			w.agents(ctx)
		} else if w.sweep.Before(next) {
			next = w.sweep
		}
	}
	if !w.look.IsZero() && !w.looking {
		if !now.Before(w.look) {
			w.looks(ctx)
		} else if w.look.Before(next) {
			next = w.look
		}
	}
	for id, r := range w.later {
		switch {
		case w.watched[id]:
		case !now.Before(r.at):
			again = true
		case r.at.Before(next):
			next = r.at
		}
	}
	if again {
		switch err := w.refresh(ctx); {
		case err == nil:
			w.warn(aboutReads)
		case ctx.Err() == nil:
			w.warn(aboutReads, fmt.Sprintf("cannot read the registry: %v", err))
			next = now.Add(watchAgain)
		}
	}
	return max(time.Until(next), 0)
}

// The subjects of warnings. The subject of a worker has its id behind it, and so has the
// subject of the kill of a worker whose owner has ended.
const (
	aboutBegin   = "begin"
	aboutRecords = "records"
	aboutReads   = "reads"
	aboutWrites  = "writes"
	aboutAgents  = "agents"
	aboutEvents  = "events"
	aboutWorker  = "worker "
	aboutOwner   = "owner "
)

// warn gives the warnings about a subject that hold now, each once for as long as it holds:
// what was good meanwhile is reported again.
func (w *watchRun) warn(subject string, texts ...string) {
	before := w.warned[subject]
	if len(texts) == 0 {
		delete(w.warned, subject)
		return
	}
	w.warned[subject] = texts
	for _, text := range texts {
		if w.req.Warn != nil && !slices.Contains(before, text) {
			w.req.Warn(text)
		}
	}
}

// aside runs f, which may take long, concurrently with the loop. The loop then calls result.
func (w *watchRun) aside(ctx context.Context, f func() (result func())) {
	w.listening.Go(func() {
		select {
		case w.results <- f():
		case <-ctx.Done():
		}
	})
}

// renew opens the database anew if a rebuild has replaced the file, and reports whether it
// did. While no file is in place it keeps the open one.
func (w *watchRun) renew(ctx context.Context) bool {
	file, err := os.Stat(filepath.Join(string(w.Dir), registry.File))
	if err != nil || os.SameFile(file, w.file) {
		return false
	}
	w.Store.Reopen()
	reg, err := w.Store.ToWrite(ctx)
	if err != nil {
		warn.If(w.Logger, err, "the new registry can't be opened")
		return false
	}
	w.reg, w.file = reg, file
	return true
}
