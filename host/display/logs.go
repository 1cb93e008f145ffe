package display

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/swarmhost/swarm/host/backend"
	"github.com/swarmhost/swarm/host/registry"
	"github.com/swarmhost/swarm/host/statedir"
	"github.com/swarmhost/swarm/host/worker"
	"github.com/swarmhost/swarm/shared/swarm"
)

// LogsRequest says which output of workers to read.
type LogsRequest struct {
	// Output says what to read of each worker. With Follow, a worker that is respawned is
	// followed into its new run.
	Output swarm.OutputOptions
	// Run chooses an earlier run of each worker: 1 is the last one before the present run.
	// Zero is the present run.
	Run int
	// Respawned is called before the first output of a run that Follow continues to; nil: it
	// is not.
	Respawned func(worker.Worker)
	// Restarting is called when a worker that Follow reads waits for its next start, with a
	// line such as "exited 3, restarting in 1s (1 of 5)", concurrently with the other
	// functions; nil: it is not.
	Restarting func(w worker.Worker, text string)
	// New is called before the first output of a worker that was spawned after the call had
	// begun, and that a selection by tag or of all workers takes in with Follow; nil: none is
	// taken in.
	New func(worker.Worker)
	// Ended is called for each worker after its last output; nil: it is not.
	Ended func(LogsEnd)
}

// LogsEnd says how the reading of one worker's output ended.
type LogsEnd struct {
	// Worker is the worker whose output was read: how it ended, if it was followed, else
	// what its record says.
	Worker worker.Worker
	// Err says why there was no more to read; nil at the end of the output.
	Err error
}

// NoRunError says that a worker had fewer runs than were asked for.
type NoRunError struct {
	Name string
	// Run is what was asked for, Earlier how many earlier runs are known.
	Run, Earlier int
}

func (e *NoRunError) Error() string {
	switch e.Earlier {
	case 0:
		return fmt.Sprintf("worker '%s' has no earlier run", e.Name)
	case 1:
		return fmt.Sprintf("worker '%s' has 1 earlier run, and no run %d", e.Name, e.Run)
	default:
		return fmt.Sprintf("worker '%s' has %d earlier runs, and no run %d", e.Name, e.Earlier, e.Run)
	}
}

// Logs calls each for every piece of output of one worker, running or ended, and
// returns an error of each as it is.
func (d *Reader) Logs(ctx context.Context, name string, o swarm.OutputOptions, each func(swarm.Output) error) error {
	if o.Follow {
		d.Store.SayIfSlow()
	}
	recs, _, err := d.Roster.See(ctx, worker.Selection{Names: []string{name}})
	if err != nil {
		return err
	}
	return d.read(ctx, recs[0], o, each)
}

// LogsOf calls each for every piece of output of the selected workers, in the order in
// which it was written, and returns an error of each as it is. Pieces of one line are not
// separated, unless its end takes long. The output of a worker that can't be read ends with
// an error; that of the others continues. Nothing is called at the same time.
func (d *Reader) LogsOf(ctx context.Context, sel worker.Selection, req LogsRequest, each func(name string, o swarm.Output) error) (warnings []string, err error) {
	if req.Output.Follow {
		d.Store.SayIfSlow()
	}
	recs, warnings, err := d.Roster.See(ctx, sel)
	if err != nil {
		return warnings, err
	}
	sources := make([]source, len(recs))
	for i, rec := range recs {
		sources[i] = func(ctx context.Context, give func(logPiece) error) LogsEnd { return d.readRuns(ctx, rec, req, give) }
	}
	var later *arrivals
	if req.New != nil && req.Output.Follow && len(sel.Names) == 0 {
		more := &newcomers{reader: d, sel: sel, seen: map[string]bool{}}
		for _, rec := range recs {
			more.note(rec)
		}
		whole := req
		whole.Output = swarm.OutputOptions{Stream: req.Output.Stream, Follow: true}
		later = &arrivals{watch: more.watch, take: func() (read []source) {
			for _, rec := range more.take() {
				recs = append(recs, rec)
				req.New(worker.Of(rec))
				read = append(read, func(ctx context.Context, give func(logPiece) error) LogsEnd { return d.readRuns(ctx, rec, whole, give) })
			}
			return read
		}}
	}
	return warnings, merge(ctx, sources, req.Output.Follow, func(i int, p logPiece) error {
		if p.run != nil {
			if req.Respawned != nil {
				req.Respawned(*p.run)
			}
			return nil
		}
		return each(recs[i].Name, p.Output)
	}, func(end LogsEnd) {
		if req.Ended != nil {
			req.Ended(end)
		}
	}, later)
}

// newcomers are the workers that a selection takes in while its output is followed.
type newcomers struct {
	reader *Reader
	sel    worker.Selection

	mu sync.Mutex
	// seen are the ids of the workers that are followed, and of their runs.
	seen map[string]bool
	come []registry.Record
}

// note reports whether rec is a worker that was not seen before, and no next run of one.
func (n *newcomers) note(rec registry.Record) bool {
	isNew := !n.seen[rec.ID] && !slices.ContainsFunc(rec.Previous, func(id string) bool { return n.seen[id] })
	n.seen[rec.ID] = true
	return isNew
}

// watch looks for new workers after every change of the registry. If it can't, the others
// are followed all the same.
func (n *newcomers) watch(ctx context.Context, wake func()) {
	_ = n.reader.Store.AwaitChange(ctx, func(ctx context.Context) (bool, error) {
		recs, _, err := n.reader.Roster.See(ctx, n.sel)
		if err != nil {
			return false, nil // the next change is another chance
		}
		n.mu.Lock()
		defer n.mu.Unlock()
		for _, rec := range recs {
			if n.note(rec) {
				n.come = append(n.come, rec)
				wake()
			}
		}
		return false, nil
	})
}

func (n *newcomers) take() []registry.Record {
	n.mu.Lock()
	defer n.mu.Unlock()
	come := n.come
	n.come = nil
	return come
}

func (d *Reader) readRuns(ctx context.Context, rec registry.Record, req LogsRequest, give func(logPiece) error) LogsEnd {
	if req.Run > 0 {
		earlier := len(rec.Previous) - req.Run
		if earlier < 0 {
			return LogsEnd{Worker: worker.Of(rec), Err: &NoRunError{Name: rec.Name, Run: req.Run, Earlier: len(rec.Previous)}}
		}
		return LogsEnd{Worker: worker.Of(rec), Err: d.readEarlier(ctx, rec, rec.Previous[earlier], req.Output, give)}
	}
	o := req.Output
	if o.Follow {
		rec = d.begunNow(ctx, rec)
	}
	for {
		done := d.watchRun(ctx, rec, req)
		err := d.read(ctx, rec, o, func(out swarm.Output) error { return give(logPiece{Output: out}) })
		done()
		if err != nil || !o.Follow {
			return LogsEnd{Worker: worker.Of(rec), Err: err}
		}
		next, found := d.nextRun(ctx, rec)
		if !found {
			return LogsEnd{Worker: d.asEnded(ctx, rec), Err: ctx.Err()}
		}
		rec = next
		w := worker.Of(rec)
		if err := give(logPiece{run: &w}); err != nil {
			return LogsEnd{Worker: w, Err: err}
		}
		o = swarm.OutputOptions{Stream: o.Stream, Follow: true}
	}
}

// watchRun watches a run that is followed for restarts, until the function that it returns is
// called.
func (d *Reader) watchRun(ctx context.Context, rec registry.Record, req LogsRequest) (done func()) {
	if req.Restarting == nil || !req.Output.Follow || rec.Restart.When == swarm.RestartNo || rec.State == registry.Stopped {
		return func() {}
	}
	ctx, cancel := context.WithCancel(ctx)
	var watching sync.WaitGroup
	watching.Go(func() { d.watchRestarts(ctx, rec, func(text string) { req.Restarting(worker.Of(rec), text) }) })
	return func() {
		cancel()
		watching.Wait()
	}
}

func (d *Reader) read(ctx context.Context, rec registry.Record, o swarm.OutputOptions, each func(swarm.Output) error) error {
	if rec.Handle.IsZero() {
		return nil // it was never started
	}
	return d.readFrom(ctx, rec, o, each, func(*backend.Peer) (swarm.Handle, error) { return rec.Handle, nil })
}

// readEarlier reads the output of an earlier run, whose record is gone.
func (d *Reader) readEarlier(ctx context.Context, rec registry.Record, id string, o swarm.OutputOptions, give func(logPiece) error) error {
	before := rec
	before.ID = id
	// A worker can write its run directory, so only the name of the backend is taken from
	// there: no command and no settings.
	if f, err := d.Dir.ReadWorkerFile(id); err == nil && f.Backend != rec.Backend {
		before.Backend, before.Plugin, before.Options = f.Backend, nil, nil
	}
	err := d.readFrom(ctx, before, o, func(out swarm.Output) error { return give(logPiece{Output: out}) },
		func(p *backend.Peer) (swarm.Handle, error) { return d.Plugins.Find(ctx, p, &before) })
	if errors.Is(err, swarm.ErrNotFound) {
		return fmt.Errorf("the output of run %s of '%s' is gone", id, rec.Name)
	}
	return err
}

// readFrom reads the output of the worker that handle returns.
func (d *Reader) readFrom(ctx context.Context, rec registry.Record, o swarm.OutputOptions, each func(swarm.Output) error, handle func(*backend.Peer) (swarm.Handle, error)) error {
	// Output that was shown can't be taken back: only a read that showed nothing yet
	// is tried again.
	var failed error
	begun := false
	err := d.Plugins.AskOwner(ctx, &rec, true, func(p *backend.Peer) error {
		if begun {
			return failed
		}
		h, err := handle(p)
		if err != nil {
			return err
		}
		failed = p.Backend.Output(ctx, h, o, func(out swarm.Output) error {
			begun = true
			return each(out)
		})
		return failed
	})
	switch {
	case errors.Is(err, swarm.ErrUnsupported):
		return fmt.Errorf("%w: backend '%s' keeps no output", swarm.ErrUnsupported, rec.Backend)
	case errors.Is(err, swarm.ErrNotFound):
		return fmt.Errorf("the output of '%s' is gone: %w", rec.Name, err)
	default:
		return err
	}
}

// begunNow returns the record of a worker once its spawn has ended.
func (d *Reader) begunNow(ctx context.Context, rec registry.Record) registry.Record {
	if rec.State != registry.Starting {
		return rec
	}
	if held, err := d.Dir.AwaitLock(ctx, rec.ID); !held || err != nil {
		return rec
	}
	if recs, _, err := d.Roster.See(ctx, worker.Selection{Names: []string{rec.Name}}); err == nil {
		return recs[0]
	}
	return rec
}

// nextRun returns the record of the run after the one of rec, which has ended. It waits for
// a respawn that is under way.
func (d *Reader) nextRun(ctx context.Context, rec registry.Record) (next registry.Record, found bool) {
	_, _ = d.Dir.AwaitLock(ctx, statedir.RespawnLock(rec.ID))
	recs, _, err := d.Roster.See(ctx, worker.Selection{Names: []string{rec.Name}})
	if err != nil || !slices.Contains(recs[0].Previous, rec.ID) {
		return rec, false
	}
	return d.begunNow(ctx, recs[0]), true
}

// asEnded returns a worker whose output has ended. Its record may have gone with its end.
func (d *Reader) asEnded(ctx context.Context, rec registry.Record) worker.Worker {
	if recs, _, err := d.Roster.See(ctx, worker.Selection{Names: []string{rec.ID}}); err == nil && recs[0].ID == rec.ID {
		rec = recs[0]
	}
	w := d.Roster.Observe(ctx, []registry.Record{rec})[0]
	d.Roster.Remember(ctx, &w)
	return w
}
