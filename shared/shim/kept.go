package shim

import (
	"context"
	"runtime"
	"sync"

	"github.com/swarmhost/swarm/shared/shim/client"
	"github.com/swarmhost/swarm/shared/swarm"
)

// Kept implements what a backend gets from shims: all of [swarm.Backend] but Spawn, and many
// capabilities. A backend with one shim for each worker embeds it.
//
// Every answer is derived from what is true at the moment of the call. If the shim of a worker was
// killed, the worker is lost: its remaining processes are searched for, and those that
// are proven to be its own can still be ended. A run directory that holds another worker than the
// handle names is [swarm.ErrStaleHandle].
type Kept struct {
	// Read returns the worker of a handle, of any version that the backend ever
	// wrote.
	Read func(swarm.Handle) (Worker, error)
	// RunDirs is the directory with the run directories of workers that are not the host's
	// own, such as those that a backend keeps on another machine. Usually empty: the host
	// names the directory with each call, see [swarm.RunDir].
	RunDirs string
}

var (
	_ swarm.BatchStatuser = Kept{}
	_ swarm.Outputter     = Kept{}
	_ swarm.Inputter      = Kept{}
	_ swarm.Signaller     = Kept{}
	_ swarm.Execer        = Kept{}
	_ swarm.Copier        = Kept{}
	_ swarm.Watcher       = Kept{}
	_ swarm.Completer     = Kept{}
	_ swarm.Measurer      = Kept{}
	_ swarm.CPUMeasurer   = Kept{}
	_ swarm.Limiter       = Kept{}
	_ swarm.Pauser        = Kept{}
	_ swarm.Announcer     = Kept{}
)

// RunDir returns where the run directory of a worker is now. A backend needs it only for what it
// does with a run directory itself; ctx is the context of the call.
func (k Kept) RunDir(ctx context.Context, w Worker) string {
	return swarm.RunDir(swarm.WithRunDirs(ctx, k.RunDirs), w.ID, w.Dir)
}

func (k Kept) read(ctx context.Context, raw swarm.Handle) (Worker, error) {
	w, err := k.Read(raw)
	w.Dir = k.RunDir(ctx, w)
	return w, err
}

// with returns what call returns for the worker of a handle.
func with[T any](ctx context.Context, k Kept, raw swarm.Handle, call func(Worker) (T, error)) (T, error) {
	w, err := k.read(ctx, raw)
	if err != nil {
		var zero T
		return zero, err
	}
	return call(w)
}

func (k Kept) do(ctx context.Context, raw swarm.Handle, call func(Worker) error) error {
	w, err := k.read(ctx, raw)
	if err != nil {
		return err
	}
	return call(w)
}

// Status returns the status of the worker. If the worker is lost, the status holds the reason, and the
// processes that outlived its shim.
func (k Kept) Status(ctx context.Context, raw swarm.Handle) (swarm.Status, error) {
	return k.status(ctx, new(client.Look), raw)
}

// StatusBatch reads the processes of the machine once for all workers.
func (k Kept) StatusBatch(ctx context.Context, raws []swarm.Handle) ([]swarm.StatusResult, error) {
	look := new(client.Look)
	results := make([]swarm.StatusResult, len(raws))
	for i, raw := range raws {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		results[i].Status, results[i].Err = k.status(ctx, look, raw)
	}
	return results, nil
}

func (k Kept) status(ctx context.Context, look *client.Look, raw swarm.Handle) (swarm.Status, error) {
	return with(ctx, k, raw, func(w Worker) (swarm.Status, error) { return look.Status(w.Dir, w.ID) })
}

// Kill ends the worker and everything it started, with SIGTERM first if no signal was asked for. The
// shim does the work, and continues if the context ends. If it does not, or is gone, Kill itself ends the
// processes that are proven to be the worker's, and returns at most 20 seconds after the grace.
func (k Kept) Kill(ctx context.Context, raw swarm.Handle, o swarm.KillOptions) (swarm.KillResult, error) {
	return with(ctx, k, raw, func(w Worker) (swarm.KillResult, error) { return client.Kill(ctx, w.Dir, w.ID, o) })
}

// Announce returns the optional fields of a spec that are supported. The input of a worker
// on a terminal is open whether or not a spec asks for it.
func (Kept) Announce() []swarm.Capability {
	return []swarm.Capability{
		swarm.CapStdin, swarm.CapRestart, swarm.CapOwner, swarm.CapTranscript,
		swarm.CapLimitMemory, swarm.CapLimitCPUs, swarm.CapLimitPIDs, swarm.CapLimitNice, swarm.CapLimitIOWeight,
	}
}

// SetLimits makes l the limits of the running worker. One that was started without a limit of a
// kind can't be given one: what its processes hold already would not count.
func (k Kept) SetLimits(ctx context.Context, raw swarm.Handle, l swarm.Limits) error {
	return k.do(ctx, raw, func(w Worker) error { return client.SetLimits(ctx, w.Dir, w.ID, l) })
}

// SetPaused stops all processes of the running worker, or lets them continue.
func (k Kept) SetPaused(ctx context.Context, raw swarm.Handle, paused bool) error {
	return k.do(ctx, raw, func(w Worker) error { return client.SetPaused(ctx, w.Dir, w.ID, paused) })
}

// Output reads the worker's output, which the shim keeps in its run directory.
func (k Kept) Output(ctx context.Context, raw swarm.Handle, o swarm.OutputOptions, each func(swarm.Output) error) error {
	return k.do(ctx, raw, func(w Worker) error { return client.Output(ctx, w.Dir, o, each) })
}

// Input gives the worker input. The error is [swarm.ErrUnavailable] if it can't take any just now: it
// is between two starts, or has not read an earlier input.
func (k Kept) Input(ctx context.Context, raw swarm.Handle, in swarm.Input) (swarm.InputResult, error) {
	return with(ctx, k, raw, func(w Worker) (swarm.InputResult, error) { return client.Input(ctx, w.Dir, w.ID, in) })
}

// Signal sends the worker a signal that is not meant to end it. Between two starts there is no
// process that could get it: [swarm.ErrUnavailable].
func (k Kept) Signal(ctx context.Context, raw swarm.Handle, o swarm.SignalOptions) error {
	return k.do(ctx, raw, func(w Worker) error { return client.Signal(ctx, w.Dir, w.ID, o) })
}

// Exec returns the program that has the shim run a command in the worker's world: swarm-shim, which
// o.Shim names.
func (k Kept) Exec(ctx context.Context, raw swarm.Handle, o swarm.ExecOptions) (swarm.Program, error) {
	return with(ctx, k, raw, func(w Worker) (swarm.Program, error) { return client.Exec(w.Dir, w.ID, o) })
}

// Copy returns the program that copies files out of the worker or into it, running or ended:
// swarm-shim, which o.Shim names.
func (k Kept) Copy(ctx context.Context, raw swarm.Handle, o swarm.CopyOptions) (swarm.Program, error) {
	return with(ctx, k, raw, func(w Worker) (swarm.Program, error) { return client.Copy(w.Dir, w.ID, o) })
}

// Watch calls each with the status now and whenever it changes, until the worker no longer runs.
func (k Kept) Watch(ctx context.Context, raw swarm.Handle, each func(swarm.Status) error) error {
	return k.do(ctx, raw, func(w Worker) error { return client.Watch(ctx, w.Dir, w.ID, each) })
}

// Complete records that the worker is done. A summary of several lines becomes one, and a long one is
// cut.
func (k Kept) Complete(ctx context.Context, raw swarm.Handle, summary string, o swarm.KillOptions) error {
	return k.do(ctx, raw, func(w Worker) error { return client.Complete(ctx, w.Dir, w.ID, summary, o) })
}

// Stats measures what workers use. The shims themselves, and what runs below shims of other workers,
// do not count.
func (k Kept) Stats(ctx context.Context, raws []swarm.Handle) ([]swarm.StatsResult, error) {
	return k.measure(ctx, raws, client.Stats)
}

// CPUTimes measures the CPU times of workers alone.
func (k Kept) CPUTimes(ctx context.Context, raws []swarm.Handle) ([]swarm.StatsResult, error) {
	return k.measure(ctx, raws, client.CPUTimes)
}

// measure measures as many workers at the same time as there are processors.
func (k Kept) measure(ctx context.Context, raws []swarm.Handle, how func(dir, id string) (swarm.Stats, error)) ([]swarm.StatsResult, error) {
	results := make([]swarm.StatsResult, len(raws))
	next := make(chan int, len(raws))
	for i := range raws {
		next <- i
	}
	close(next)
	var looking sync.WaitGroup
	for range min(runtime.GOMAXPROCS(0), len(raws)) {
		looking.Go(func() {
			for i := range next {
				if ctx.Err() == nil {
					stats := func(w Worker) (swarm.Stats, error) { return how(w.Dir, w.ID) }
					results[i].Stats, results[i].Err = with(ctx, k, raws[i], stats)
				}
			}
		})
	}
	looking.Wait()
	return results, ctx.Err()
}
