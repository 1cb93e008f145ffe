package host

import (
	"context"

	"github.com/swarmhost/swarm/shared/swarm"
)

// interactions are what a fake backend was asked for, and its hooks.
type interactions struct {
	inputs  []string
	signals []string
	env     []string
	// completes are the options of all completions.
	completes []swarm.KillOptions
	// onInput and onScreen take the place of what the fake does.
	onInput  func(fakeWorker, swarm.Input) (swarm.InputResult, error)
	onScreen func(fakeWorker, swarm.ScreenOptions) (swarm.Screen, error)
	onStats  func(fakeWorker) swarm.Stats
	onOutput func(context.Context, fakeWorker, swarm.OutputOptions, func(swarm.Output) error) error
}

// living returns a worker that runs.
func (b *fakeBackend) living(h swarm.Handle) (fakeWorker, error) {
	w, err := b.read(h)
	if err == nil && w.State != swarm.StateRunning {
		err = swarm.ErrNotFound
	}
	return w, err
}

func (b *fakeBackend) Input(_ context.Context, h swarm.Handle, in swarm.Input) (swarm.InputResult, error) {
	w, err := b.living(h)
	if err != nil {
		return swarm.InputResult{}, err
	}
	if b.onInput != nil {
		return b.onInput(w, in)
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.inputs = append(b.inputs, w.Spec.Name+" "+in.Kind.String()+" "+string(in.Data))
	return swarm.InputResult{}, nil
}

func (b *fakeBackend) Signal(_ context.Context, h swarm.Handle, o swarm.SignalOptions) error {
	w, err := b.living(h)
	if err != nil {
		return err
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.signals = append(b.signals, w.Spec.Name+" "+o.Signal+" "+o.Mode.String())
	return nil
}

func (b *fakeBackend) Screen(_ context.Context, h swarm.Handle, o swarm.ScreenOptions) (swarm.Screen, error) {
	w, err := b.read(h)
	if err != nil {
		return swarm.Screen{}, err
	}
	if b.onScreen != nil {
		return b.onScreen(w, o)
	}
	return swarm.Screen{Lines: []string{"screen of " + w.Spec.Name}, Taken: w.State != swarm.StateRunning}, nil
}

func (b *fakeBackend) ScreenBatch(ctx context.Context, hs []swarm.Handle, o swarm.ScreenOptions) ([]swarm.ScreenResult, error) {
	results := make([]swarm.ScreenResult, len(hs))
	for i, h := range hs {
		results[i].Screen, results[i].Err = b.Screen(ctx, h, o)
	}
	return results, nil
}

func (b *fakeBackend) Attach(_ context.Context, h swarm.Handle, o swarm.AttachOptions) (swarm.Attachment, error) {
	w, err := b.living(h)
	if err != nil {
		return swarm.Attachment{}, err
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.env = o.Env
	return swarm.Attachment{Command: []string{"connect", w.Spec.Name}, Unset: []string{"TMUX"}}, nil
}
