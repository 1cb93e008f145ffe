package history

import (
	"context"
	"sync"

	"github.com/swarmhost/swarm/cmd/swarm/internal/app"
	"github.com/swarmhost/swarm/cmd/swarm/internal/output"
	"github.com/swarmhost/swarm/host/notify"
	"github.com/swarmhost/swarm/host/registry"
)

// startNotifier shows notifications until ctx ends, counted in background. It gets the events
// by the function that it returns, which never waits.
func startNotifier(ctx context.Context, a *app.App, background *sync.WaitGroup) (func(registry.Event) error, error) {
	var shows []func(context.Context, notify.Notice)
	var screen *output.Stream
	switch term := a.Getenv("TERM"); {
	case term == "dumb":
	case a.OutWidth() > 0:
		screen = &output.Stream{W: a.Out.W} // its own: it is written next to the events
	case a.ErrWidth() > 0:
		screen = &output.Stream{W: a.Err}
	}
	if screen != nil {
		inTmux := a.Getenv("TMUX") != ""
		shows = append(shows, func(_ context.Context, n notify.Notice) { _, _ = screen.Write([]byte(n.Terminal(inTmux))) })
	}
	if notify.HasDesktop(a.Env) {
		l, _, err := launcher(a)
		if err != nil {
			return nil, err
		}
		failed := false
		shows = append(shows, func(ctx context.Context, n notify.Notice) {
			r, err := l.Launch(ctx, nil, n.Desktop())
			if err == nil && r.Failure != "" && !failed {
				a.Warn("the desktop shows no notification: notify-send: "+r.Failure, "")
			}
			failed = r.Failure != ""
		})
	}
	if shows == nil {
		a.Warn("there is nothing to show notifications on: no desktop session with notify-send, and no terminal", "")
	}
	events := make(chan registry.Event, 1024)
	background.Go(func() {
		notify.Gather(ctx, events, func(ctx context.Context, n notify.Notice) {
			for _, show := range shows {
				show(ctx, n)
			}
		})
	})
	return func(e registry.Event) error {
		select {
		case events <- e:
		default: // a thousand others wait already
		}
		return nil
	}, nil
}
