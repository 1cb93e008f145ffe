package ralph

import (
	"context"
	"fmt"
	"time"

	"github.com/swarmhost/swarm/host/deliver"
	"github.com/swarmhost/swarm/host/profile"
	"github.com/swarmhost/swarm/shared/pty"
	"github.com/swarmhost/swarm/shared/swarm"
)

// promptLimit is how long an agent with a profile may take to show its prompt.
const promptLimit = 2 * time.Minute

func (it *iteration) paste(ctx context.Context) error {
	if it.profile == nil {
		return it.agent.paste(ctx, it.prompt)
	}
	return it.deliver(ctx, it.prompt)
}

// deliver gives a text to an agent with a profile, at its prompt alone.
func (it *iteration) deliver(ctx context.Context, text []byte) error {
	a := deliver.Agent{Name: it.name, Profile: it.profile, Terminal: (*window)(it), Timeout: promptLimit}
	return a.Text(ctx, string(text), true)
}

// window is the terminal of the agent, for the goroutine that gives the prompt.
type window iteration

// Screen asks the goroutine of the loop, which alone has the screen.
func (w *window) Screen(ctx context.Context) (profile.Screen, error) {
	shown := make(chan []string, 1)
	select {
	case w.looks <- shown:
	case <-ctx.Done():
		return profile.Screen{}, context.Cause(ctx)
	}
	select {
	case lines := <-shown:
		return profile.Screen{Lines: lines}, nil
	case <-ctx.Done():
		return profile.Screen{}, context.Cause(ctx)
	}
}

// Input gives the agent a text or Enter.
func (w *window) Input(ctx context.Context, in swarm.Input) (swarm.InputResult, error) {
	if in.Kind != swarm.InputText {
		return swarm.InputResult{}, fmt.Errorf("%w: an input of kind %s", swarm.ErrInvalidSpec, in.Kind)
	}
	w.agent.input.Lock()
	defer w.agent.input.Unlock()
	if in.Enter {
		w.entered.CompareAndSwap(0, time.Now().UnixNano())
	}
	return swarm.InputResult{}, w.agent.terminal.Give(ctx, in.Data, pty.Giving{
		Enter: in.Enter, EnterAfter: in.EnterAfter, PasteOnly: in.PasteOnly,
	})
}
