package shim

import (
	"context"
	"fmt"
	"path/filepath"

	"github.com/swarmhost/swarm/shared/rawjson"
	"github.com/swarmhost/swarm/shared/swarm"
)

// Kept implements what a backend gets from shims: all of [swarm.Backend] but Spawn, and the
// capabilities asserted below. A backend with one shim for each worker embeds it.
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

// Status returns the status of the worker, see [Status].
func (k Kept) Status(ctx context.Context, raw swarm.Handle) (swarm.Status, error) {
	return k.status(ctx, new(Look), raw)
}

// StatusBatch reads the processes of the machine once for all workers.
func (k Kept) StatusBatch(ctx context.Context, raws []swarm.Handle) ([]swarm.StatusResult, error) {
	look := new(Look)
	results := make([]swarm.StatusResult, len(raws))
	for i, raw := range raws {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		results[i].Status, results[i].Err = k.status(ctx, look, raw)
	}
	return results, nil
}

func (k Kept) status(ctx context.Context, look *Look, raw swarm.Handle) (swarm.Status, error) {
	return with(ctx, k, raw, func(w Worker) (swarm.Status, error) { return look.Status(w.Dir, w.ID) })
}

// Kill ends the worker, with SIGTERM if no signal was asked for, see [Kill].
func (k Kept) Kill(ctx context.Context, raw swarm.Handle, o swarm.KillOptions) (swarm.KillResult, error) {
	return with(ctx, k, raw, func(w Worker) (swarm.KillResult, error) { return Kill(ctx, w.Dir, w.ID, o) })
}

// Announce returns the optional fields of a spec that are supported. The input of a worker
// on a terminal is open whether or not a spec asks for it.
func (Kept) Announce() []swarm.Capability {
	return []swarm.Capability{
		swarm.CapStdin, swarm.CapRestart, swarm.CapOwner, swarm.CapTranscript,
		swarm.CapLimitMemory, swarm.CapLimitCPUs, swarm.CapLimitPIDs, swarm.CapLimitNice, swarm.CapLimitIOWeight,
	}
}

// SetLimits makes other limits those of the worker, see [SetLimits].
func (k Kept) SetLimits(ctx context.Context, raw swarm.Handle, l swarm.Limits) error {
	return k.do(ctx, raw, func(w Worker) error { return SetLimits(ctx, w.Dir, w.ID, l) })
}

// SetPaused pauses the worker or lets it continue, see [SetPaused].
func (k Kept) SetPaused(ctx context.Context, raw swarm.Handle, paused bool) error {
	return k.do(ctx, raw, func(w Worker) error { return SetPaused(ctx, w.Dir, w.ID, paused) })
}

// Output reads the worker's output, see [Output].
func (k Kept) Output(ctx context.Context, raw swarm.Handle, o swarm.OutputOptions, each func(swarm.Output) error) error {
	return k.do(ctx, raw, func(w Worker) error { return Output(ctx, w.Dir, o, each) })
}

// Input gives the worker input, see [Input].
func (k Kept) Input(ctx context.Context, raw swarm.Handle, in swarm.Input) (swarm.InputResult, error) {
	return with(ctx, k, raw, func(w Worker) (swarm.InputResult, error) { return Input(ctx, w.Dir, w.ID, in) })
}

// Signal sends the worker a signal, see [Signal].
func (k Kept) Signal(ctx context.Context, raw swarm.Handle, o swarm.SignalOptions) error {
	return k.do(ctx, raw, func(w Worker) error { return Signal(ctx, w.Dir, w.ID, o) })
}

// Exec returns the program that runs a command in the worker, see [Exec].
func (k Kept) Exec(ctx context.Context, raw swarm.Handle, o swarm.ExecOptions) (swarm.Program, error) {
	return with(ctx, k, raw, func(w Worker) (swarm.Program, error) { return Exec(w.Dir, w.ID, o) })
}

// Copy returns the program that copies files out of the worker or into it, see [Copy].
func (k Kept) Copy(ctx context.Context, raw swarm.Handle, o swarm.CopyOptions) (swarm.Program, error) {
	return with(ctx, k, raw, func(w Worker) (swarm.Program, error) { return Copy(w.Dir, w.ID, o) })
}

// Watch reports the changes of the worker until it has ended, see [Watch].
func (k Kept) Watch(ctx context.Context, raw swarm.Handle, each func(swarm.Status) error) error {
	return k.do(ctx, raw, func(w Worker) error { return Watch(ctx, w.Dir, w.ID, each) })
}

// Complete records that the worker is done, see [Complete].
func (k Kept) Complete(ctx context.Context, raw swarm.Handle, summary string, o swarm.KillOptions) error {
	return k.do(ctx, raw, func(w Worker) error { return Complete(ctx, w.Dir, w.ID, summary, o) })
}

// Worker is what every handle of a worker with a shim holds. A backend embeds it
// in the value that it writes with [EncodeHandle].
type Worker struct {
	// ID is the worker's id.
	ID string `json:"id"`
	// Dir is its run directory when it was started, absolute. See [Kept.RunDir].
	Dir string `json:"dir"`
}

func (w Worker) named() bool { return w.ID != "" && filepath.IsAbs(w.Dir) }

// EncodeHandle returns a handle of a version, with h as JSON. If it is too large, the error
// is [swarm.ErrInvalidSpec], since its paths are too long.
func EncodeHandle(version uint32, h any) (swarm.Handle, error) {
	b, err := rawjson.Marshal(h)
	if err != nil {
		return swarm.Handle{}, err
	}
	if len(b) > swarm.MaxHandle {
		return swarm.Handle{}, fmt.Errorf("%w: the path of the run directory is too long", swarm.ErrInvalidSpec)
	}
	return swarm.Handle{Version: version, Data: b}, nil
}

// DecodeHandle reads what [EncodeHandle] wrote of a value that embeds [Worker].
// All else is [swarm.ErrInvalidHandle].
func DecodeHandle[H interface{ named() bool }](raw swarm.Handle, version uint32) (H, error) {
	var h H
	if raw.Version != version {
		return h, fmt.Errorf("%w: this plugin does not know version %d", swarm.ErrInvalidHandle, raw.Version)
	}
	if err := rawjson.Unmarshal(raw.Data, &h); err != nil {
		return h, fmt.Errorf("%w: %w", swarm.ErrInvalidHandle, err)
	}
	if !h.named() {
		return h, fmt.Errorf("%w: it does not name a worker", swarm.ErrInvalidHandle)
	}
	return h, nil
}
