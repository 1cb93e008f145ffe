package ralph

import (
	"context"
	"errors"
	"fmt"

	"github.com/swarmhost/swarm/host/deliver"
	"github.com/swarmhost/swarm/host/profile"
	"github.com/swarmhost/swarm/shared/shim/pty"
	"github.com/swarmhost/swarm/shared/swarm"
)

// paste gives the agent its prompt. One with a profile must be seen to take it.
func (it *iteration) paste(ctx context.Context) error {
	if it.profile == nil {
		return it.agent.paste(ctx, it.prompt)
	}
	a := deliver.Agent{Name: it.name, Profile: it.profile, Terminal: (*window)(it), Timeout: readyLimit}
	err := a.Text(ctx, string(it.prompt), true)
	if errors.Is(err, pty.ErrNoPaste) {
		// Nothing was given: it is no agent as the profile knows it.
		return it.agent.paste(ctx, it.prompt)
	}
	return err
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
	return swarm.InputResult{}, w.agent.terminal.Give(ctx, in.Data, pty.Giving{
		Enter: in.Enter, EnterAfter: in.EnterAfter, PasteOnly: in.PasteOnly,
	})
}
