package kill

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/swarmhost/swarm/host/backend"
	"github.com/swarmhost/swarm/host/history"
	"github.com/swarmhost/swarm/host/registry"
	"github.com/swarmhost/swarm/host/worker"
	"github.com/swarmhost/swarm/shared/plugin/client"
	"github.com/swarmhost/swarm/shared/swarm"
)

// Request holds the options of a kill. Its zero value follows each worker's policy.
type Request struct {
	// Signal, Grace and Force override the workers' policies, unless they are empty or nil.
	// With a Grace and without Force, SIGKILL follows the grace, whatever the policies say.
	Signal string
	Grace  *time.Duration
	Force  *bool
	// AtOnce sends SIGKILL to every process at once, whatever the policies and the options
	// above say.
	AtOnce bool
	// RemoveWorkspace removes the workspace of each worker after it ended.
	RemoveWorkspace bool
	// ForceDirty removes a workspace with uncommitted changes too, which are
	// saved before.
	ForceDirty bool

	// Progress, if not nil, is called with each event as it happens.
	Progress func(Event)
	// Done is called with each outcome in the order of the selection, each as
	// soon as it and all before it are known; may be nil.
	Done func(Outcome)
	// Warn is called with what is said of no worker in particular, after the last
	// Done; may be nil.
	Warn func(worker.Warning)
	// Answer is called once with all outcomes, last of all, when everything is recorded.
	// The worker in which the caller runs is ended only after Answer has returned: the
	// answer must be written by then, since Kill may never return.
	Answer func([]Outcome)

	// Allowed says that the caller's right was checked before.
	Allowed bool
	// Recorded, if not nil, is called for each worker in the change that records its end,
	// even if that was recorded before, instead of the usual change of its agent; an error
	// undoes that change. It is not called for the worker that the caller runs in, nor for
	// one whose end is not known.
	Recorded func(ctx context.Context, tx *registry.Tx, rec registry.Record) error

	// respawn says that the worker is started again right after it.
	respawn bool
}

// Event says that a kill has begun or ended.
type Event struct {
	// Worker is the worker's name.
	Worker string
	// Done is false when the kill of this worker begins, true when it ends,
	// one way or the other.
	Done bool
	// Grace is how long it may take to end by itself, and Deadline when that ends.
	Grace    time.Duration
	Deadline time.Time
}

// Outcome says what came of the kill, or of the cleaning, of one worker.
type Outcome struct {
	Worker worker.Worker
	// Result is the answer of the backend to a kill. It is zero if the worker had been
	// stopped before.
	Result swarm.KillResult
	// AlreadyEnded says that a kill found the worker ended, and signalled nothing.
	AlreadyEnded bool
	// Err is nil if nothing of the worker is left, or, after a cleaning, its record is gone.
	// Its text names the worker.
	Err error
	// Warnings are about this worker's workspace.
	Warnings []worker.Warning
	// Notices are one line each that the user should see, such as how to bring
	// back work that was saved from a workspace.
	Notices []string
	// WorkspaceRemoved says that there was a workspace and that it was removed.
	WorkspaceRemoved bool
	// keptAt is where a workspace that stays is, or what is known of that; empty: where the record says.
	keptAt string
}

// warnedOf returns what adds the warnings of a plugin about a worker.
func (o *Outcome) warnedOf(name string) func(text string) {
	return func(text string) { o.Warnings = append(o.Warnings, worker.Warned(name, text)) }
}

// Kill ends the selected workers, all at the same time. An unknown name is a
// [store.ErrNotFound]; nothing was touched then, and neither if a worker is of a team that
// the caller does not lead. Whatever happens to one worker afterwards is in its outcome
// and does not stop the others; outcomes are in the order of the selection.
func (k *Killer) Kill(ctx context.Context, sel worker.Selection, req Request) ([]Outcome, error) {
	if req.Signal != "" {
		name, err := swarm.ParseSignal(req.Signal)
		if err != nil {
			return nil, err
		}
		req.Signal = name
	}
	recs, warnings, err := k.Roster.Pick(ctx, sel)
	if err != nil {
		return nil, err
	}
	if !req.Allowed {
		if err := k.Roster.MayEnd(ctx, recs...); err != nil {
			return nil, err
		}
	}
	if recs, err = k.Settler.WithoutEnded(ctx, recs, len(sel.Names) > 0); err != nil {
		return nil, err
	}
	c := k.begin(req, recs)
	// No backend answers for workers whose records can't be read.
	for _, w := range warnings {
		c.warn(worker.Warning{Text: w})
	}
	c.run(ctx)
	c.sweep(ctx)
	c.drop(ctx)
	return c.finish(ctx)
}

// options returns a worker's policy, overridden by the request.
func (req Request) options(policy swarm.KillOptions) swarm.KillOptions {
	if req.Signal != "" {
		policy.Signal = req.Signal
	}
	if req.Grace != nil {
		policy.Grace, policy.Force = *req.Grace, true
	}
	if req.Force != nil {
		policy.Force = *req.Force
	}
	if req.AtOnce {
		policy = swarm.KillOptions{Signal: "SIGKILL", Force: true, Mode: swarm.KillTree, Detach: policy.Detach}
	}
	return policy
}

const (
	// killMargin is how long a backend may take beyond the grace.
	killMargin = 20 * time.Second
	// RecordLimit is how long the recording of what happened may take, also
	// after the caller gave up.
	RecordLimit = 15 * time.Second
	// requestLimit is how long a kill waits until the history reports it. A
	// registry that is locked must not stand between a user and a kill.
	requestLimit = 2 * time.Second
)

// killRun is one call of Kill. One goroutine, that of the call, records and reports; others
// ask the backends and send it the answers.
type killRun struct {
	*Killer
	req Request
	// recs are the selected workers, outcomes what is known of them so far.
	recs     []registry.Record
	outcomes []Outcome
	known    []bool
	// reported is how many outcomes were given to Done.
	reported int
	// self is the place of the worker that the caller runs in, or -1.
	self    int
	results chan killed
	// requested is closed when the history reports that the kills were asked for:
	// only then is anything signalled.
	requested chan struct{}
	// asked holds the ids of the workers of which the history reports that.
	asked sync.Map
	// byShim holds the ids of the workers whose shims were asked to end them without their
	// backend, which has nothing to sweep up after them.
	byShim sync.Map
	// requesting are the goroutines that still wait to write that into the history.
	requesting sync.WaitGroup

	// progress guards the caller's Progress.
	progress sync.Mutex
}

type killed struct {
	at  int
	rec registry.Record
	res swarm.KillResult
	err error
	// before says that it had been recorded as stopped.
	before bool
}

// Ended is a worker that was ended so that it can be started again.
type Ended struct{ k *killRun }

// EndForRespawn ends a worker by its policy and records its end, as that of a worker
// that is started again right after it. warn gets warnings for the user; may be nil.
func (k *Killer) EndForRespawn(ctx context.Context, rec registry.Record, warn func(worker.Warning)) *Ended {
	c := k.begin(Request{respawn: true, Warn: warn}, []registry.Record{rec})
	c.run(ctx)
	return &Ended{c}
}

// Err is nil if nothing of the worker is left.
func (e *Ended) Err() error { return e.k.outcomes[0].Err }

// Sweep lets its backend drop what the worker shared and no worker uses any more.
func (e *Ended) Sweep(ctx context.Context) { e.k.sweep(ctx) }

func (k *Killer) begin(req Request, recs []registry.Record) *killRun {
	return &killRun{
		Killer: k, req: req, recs: recs,
		outcomes: make([]Outcome, len(recs)),
		known:    make([]bool, len(recs)),
		self:     k.Roster.Inside(recs),
		results:  make(chan killed, len(recs)),

		requested: make(chan struct{}),
	}
}

// run kills all but the caller's own worker and returns when all is recorded.
func (k *killRun) run(ctx context.Context) {
	var asking, background sync.WaitGroup
	defer background.Wait()
	defer k.requesting.Wait()
	asking.Go(func() {
		// A wait for a locked database can't be broken off.
		proceed := sync.OnceFunc(func() { close(k.requested) })
		late := time.AfterFunc(requestLimit, proceed)
		defer late.Stop()
		defer proceed()
		k.request(ctx, k.recs)
	})
	asking.Go(func() { k.killRunning(ctx, k.recs, k.place) })
	background.Go(func() { k.reconcile(ctx) })
	for i, r := range k.recs {
		switch {
		case i == k.self:
		case r.State == registry.Stopped:
			k.results <- killed{at: i, rec: r, before: true}
		case r.State == registry.Starting:
			asking.Go(func() { k.killStarting(ctx, i) })
		}
	}
	go func() {
		asking.Wait()
		close(k.results)
	}()
	for first := range k.results {
		k.record(ctx, k.batch(first))
	}
}

func (k *killRun) reconcile(ctx context.Context) {
	reg, err := k.Store.ToWrite(ctx)
	if err != nil {
		return // it was said already
	}
	k.Settler.Reconcile(ctx, reg, func(id string) bool { return k.place(id) >= 0 })
}

// batch returns first with the results that are there by now.
func (k *killRun) batch(first killed) []killed {
	batch := []killed{first}
	for {
		select {
		case next, ok := <-k.results:
			if !ok {
				return batch
			}
			batch = append(batch, next)
		default:
			return batch
		}
	}
}

func (k *killRun) place(id string) int {
	return registry.IndexOf(k.recs, id)
}

// killRunning kills the workers of recs that are recorded as running.
func (k *killRun) killRunning(ctx context.Context, recs []registry.Record, place func(id string) int) {
	gs := k.Plugins.Groups(recs, func(r registry.Record) bool { return r.IsRunning() && place(r.ID) != k.self })
	backend.Each(gs, func(g *backend.Group) { k.killGroup(ctx, g, place) })
}

func (k *killRun) killGroup(ctx context.Context, g *backend.Group, place func(id string) int) {
	items := make([]client.KillItem, len(g.Recs))
	var grace time.Duration
	for i, r := range g.Recs {
		items[i] = client.KillItem{Handle: r.Handle, Options: k.req.options(r.Kill)}
		if at := place(r.ID); at >= 0 {
			items[i].Warn = k.outcomes[at].warnedOf(r.Name)
		}
		grace = max(grace, items[i].Options.Grace)
		k.reportProgress(Event{Worker: r.Name, Grace: items[i].Options.Grace, Deadline: time.Now().Add(items[i].Options.Grace)})
	}
	limited, cancel := k.Plugins.Within(ctx, g.Name, grace+killMargin+requestLimit)
	defer cancel()
	answered := make([]bool, len(items))
	var mute byShim
	asked := false
	report := func(i int, res swarm.KillResult, err error) {
		if err == nil {
			err = history.Confirmed(g.Name, res)
		}
		k.reportProgress(Event{Worker: g.Recs[i].Name, Done: true})
		k.results <- killed{at: place(g.Recs[i].ID), rec: g.Recs[i], res: res, err: err}
	}
	answer := func(i int, res swarm.KillResult, err error) {
		answered[i] = true
		if isMute(ctx, err, asked) && k.hasShim(g.Recs[i].ID) {
			mute.add(i, err)
			return
		}
		report(i, res, err)
	}
	err := k.Plugins.AskGroup(limited, g, func(p *backend.Peer) error {
		asked = true
		<-k.requested
		k.requestUnseen(limited, p, g.Recs)
		return killBatch(limited, p, items, answered, answer)
	})
	if err == nil {
		err = fmt.Errorf("%w: backend '%s' gave no answer", swarm.ErrUnavailable, g.Name)
	}
	if ctx.Err() == nil && errors.Is(err, context.DeadlineExceeded) {
		asked = true // it is slow, and may answer the next time
		err = fmt.Errorf("%w: backend '%s' did not answer within %s", swarm.ErrUnavailable, g.Name, grace+killMargin)
	}
	for i := range items {
		if !answered[i] {
			answer(i, swarm.KillResult{}, err)
		}
	}
	if len(mute.at) > 0 {
		<-k.requested
		mute.run(limited, k, g, report)
	}
}

// killBatch asks for the kill of the items that were not answered yet. An item
// whose answer is that the plugin is gone counts as not answered.
func killBatch(ctx context.Context, p *backend.Peer, items []client.KillItem, answered []bool, answer func(int, swarm.KillResult, error)) error {
	var open []client.KillItem
	var at []int
	for i := range items {
		if !answered[i] {
			open, at = append(open, items[i]), append(at, i)
		}
	}
	var gone error
	err := p.Backend.KillBatch(ctx, open, func(i int, res swarm.KillResult, err error) {
		if errors.Is(err, client.ErrPluginGone) {
			gone = err
			return
		}
		answer(at[i], res, err)
	})
	if err == nil {
		err = gone
	}
	return err
}

// killStarting waits until the spawn of a worker ends, or settles it, and
// then kills what came of it.
func (k *killRun) killStarting(ctx context.Context, at int) {
	rec, err := k.Settler.Settled(ctx, k.recs[at])
	switch {
	case err != nil:
		k.results <- killed{at: at, rec: k.recs[at], err: err}
	case rec.State == registry.Stopped:
		k.results <- killed{at: at, rec: rec, before: true}
	default:
		k.request(ctx, []registry.Record{rec})
		k.killRunning(ctx, []registry.Record{rec}, func(string) int { return at })
	}
}

func (k *killRun) reportProgress(e Event) {
	if k.req.Progress == nil {
		return
	}
	k.progress.Lock()
	defer k.progress.Unlock()
	k.req.Progress(e)
}

func (k *killRun) warn(w worker.Warning) {
	if k.req.Warn != nil {
		k.req.Warn(w)
	}
}
