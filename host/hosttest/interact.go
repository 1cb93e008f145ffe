package hosttest

import (
	"context"
	"os"
	"path"

	"github.com/swarmhost/swarm/shared/archive"
	"github.com/swarmhost/swarm/shared/relay"
	"github.com/swarmhost/swarm/shared/swarm"
)

func (b *Backend) Input(_ context.Context, h swarm.Handle, in swarm.Input) (swarm.InputResult, error) {
	w, err := b.liveWorker(h)
	if err != nil {
		return swarm.InputResult{}, err
	}
	if b.OnInput != nil {
		return b.OnInput(w, in)
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.Inputs = append(b.Inputs, w.Spec.Name+" "+in.Kind.String()+" "+string(in.Data))
	return swarm.InputResult{}, nil
}

func (b *Backend) Signal(_ context.Context, h swarm.Handle, o swarm.SignalOptions) error {
	w, err := b.liveWorker(h)
	if err != nil {
		return err
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.Signals = append(b.Signals, w.Spec.Name+" "+o.Signal+" "+o.Mode.String())
	return nil
}

func (b *Backend) Screen(_ context.Context, h swarm.Handle, o swarm.ScreenOptions) (swarm.Screen, error) {
	w, err := b.read(h)
	if err != nil {
		return swarm.Screen{}, err
	}
	if b.OnScreen != nil {
		return b.OnScreen(w, o)
	}
	return swarm.Screen{Lines: []string{"screen of " + w.Spec.Name}, Taken: w.State != swarm.StateRunning}, nil
}

func (b *Backend) ScreenBatch(ctx context.Context, hs []swarm.Handle, o swarm.ScreenOptions) ([]swarm.ScreenResult, error) {
	results := make([]swarm.ScreenResult, len(hs))
	for i, h := range hs {
		results[i].Screen, results[i].Err = b.Screen(ctx, h, o)
	}
	return results, nil
}

func (b *Backend) Attach(_ context.Context, h swarm.Handle, o swarm.AttachOptions) (swarm.Attachment, error) {
	w, err := b.liveWorker(h)
	if err != nil {
		return swarm.Attachment{}, err
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.AttachEnv = o.Env
	return swarm.Attachment{Command: []string{"connect", w.Spec.Name}, Unset: []string{"TMUX"}}, nil
}

func (b *Backend) Exec(_ context.Context, h swarm.Handle, o swarm.ExecOptions) (swarm.Program, error) {
	w, err := b.liveWorker(h)
	if err != nil {
		return swarm.Program{}, err
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.ExecOptions = o
	return swarm.Program{Command: append([]string{"enter", w.Spec.Name}, o.Command...)}, nil
}

// Copy returns a tar in the directory of the worker, whether it runs or not.
func (b *Backend) Copy(_ context.Context, h swarm.Handle, o swarm.CopyOptions) (swarm.Program, error) {
	if _, err := b.read(h); err != nil {
		return swarm.Program{}, err
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.CopyOptions = o
	at := o.Path
	if !path.IsAbs(at) {
		at = o.Dir + "/" + at
	}
	dir, name := archive.Split(at)
	pack := []string{"tar", "-cf", "-", "-C", dir, "--", name}
	if o.Into {
		pack = []string{"tar", "-xf", "-", "-C", at}
	}
	return swarm.Program{Command: pack}, nil
}

// Forward returns the test's own program, which connects with a port of this machine if its main function calls
// [relay.PortMain] for [relay.Verb].
func (b *Backend) Forward(_ context.Context, h swarm.Handle, o swarm.ForwardOptions) (swarm.Program, error) {
	if _, err := b.liveWorker(h); err != nil {
		return swarm.Program{}, err
	}
	self, err := os.Executable()
	return swarm.Program{Command: append([]string{self}, relay.Args(o.Port)...)}, err
}

// liveWorker returns a worker that runs.
func (b *Backend) liveWorker(h swarm.Handle) (Worker, error) {
	w, err := b.read(h)
	if err == nil && w.State != swarm.StateRunning {
		err = swarm.ErrNotFound
	}
	return w, err
}

func (b *Backend) SetLimits(_ context.Context, h swarm.Handle, l swarm.Limits) error {
	return b.update(h, func(w *Worker) { w.Spec.Limits = l })
}

func (b *Backend) Resize(_ context.Context, h swarm.Handle, columns, rows int) error {
	if _, err := b.liveWorker(h); err != nil {
		return err
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.Sizes = append(b.Sizes, [2]int{columns, rows})
	return nil
}

func (b *Backend) SetPaused(_ context.Context, h swarm.Handle, paused bool) error {
	return b.update(h, func(w *Worker) { w.Paused = paused })
}

func (b *Backend) Progress(context.Context, string, func(string) error) error {
	return swarm.ErrUnsupported
}

func (b *Backend) update(h swarm.Handle, how func(*Worker)) error {
	b.order.Lock()
	defer b.order.Unlock()
	w, err := b.liveWorker(h)
	if err != nil {
		return err
	}
	how(&w)
	return b.Write(w)
}

func (b *Backend) Stats(_ context.Context, hs []swarm.Handle) ([]swarm.StatsResult, error) {
	results := make([]swarm.StatsResult, len(hs))
	for i, h := range hs {
		w, err := b.liveWorker(h)
		if results[i].Err = err; err == nil && b.OnStats != nil {
			results[i].Stats = b.OnStats(w)
		}
	}
	return results, nil
}

// CPUTimes leaves out what the host may not use then.
func (b *Backend) CPUTimes(ctx context.Context, hs []swarm.Handle) ([]swarm.StatsResult, error) {
	results, err := b.Stats(ctx, hs)
	for i := range results {
		if s := &results[i].Stats; s.CPUTime != nil {
			*s = swarm.Stats{Time: s.Time, Usage: swarm.Usage{CPUTime: s.CPUTime}}
		}
	}
	return results, err
}
