package launch

import (
	"context"
	"errors"
	"testing"

	"github.com/swarmhost/swarm/shared/plugin/client"
	"github.com/swarmhost/swarm/shared/swarm"
)

// The error of each call names the plugin that ended in it and the cause that it gave, whatever
// kind of call it is.
func TestCrashInEveryCall(t *testing.T) {
	t.Parallel()
	h, ws := swarm.Handle{Version: 1, Data: []byte("x")}, swarm.WorkspaceRef{Path: "/x", Handle: swarm.Handle{Version: 1, Data: []byte("x")}}
	calls := map[string]func(context.Context, *client.Client) error{
		"Spawn": func(ctx context.Context, c *client.Client) error {
			_, err := c.Backend().Spawn(ctx, swarm.Spec{ID: "x", Name: "x", Command: []string{"x"}, Dir: "/"})
			return err
		},
		"Status": func(ctx context.Context, c *client.Client) error { _, err := c.Backend().Status(ctx, h); return err },
		"Kill": func(ctx context.Context, c *client.Client) error {
			_, err := c.Backend().Kill(ctx, h, swarm.KillOptions{})
			return err
		},
		"Find": func(ctx context.Context, c *client.Client) error {
			_, err := c.Backend().Find(ctx, swarm.Lookup{ID: "x"})
			return err
		},
		"Output": func(ctx context.Context, c *client.Client) error {
			return c.Backend().Output(ctx, h, swarm.OutputOptions{}, func(swarm.Output) error { return nil })
		},
		"Watch": func(ctx context.Context, c *client.Client) error {
			return c.Backend().Watch(ctx, h, func(swarm.Status) error { return nil })
		},
		"Input": func(ctx context.Context, c *client.Client) error {
			_, err := c.Backend().Input(ctx, h, swarm.Input{Data: []byte("x")})
			return err
		},
		"Screen": func(ctx context.Context, c *client.Client) error {
			_, err := c.Backend().Screen(ctx, h, swarm.ScreenOptions{})
			return err
		},
		"Sweep": func(ctx context.Context, c *client.Client) error {
			_, err := c.Backend().Sweep(ctx, []swarm.Handle{h}, nil)
			return err
		},
		"List": func(ctx context.Context, c *client.Client) error {
			return c.Backend().List(ctx, func(swarm.Listed) error { return nil })
		},
		"Check": func(ctx context.Context, c *client.Client) error { return c.Check(ctx) },
		"Create": func(ctx context.Context, c *client.Client) error {
			_, err := c.Workspace().Create(ctx, swarm.WorkspaceSpec{ID: "x", Name: "x", Base: "/"})
			return err
		},
		"Inspect": func(ctx context.Context, c *client.Client) error {
			_, err := c.Workspace().Inspect(ctx, ws, swarm.RemoveOptions{})
			return err
		},
		"Remove": func(ctx context.Context, c *client.Client) error {
			_, err := c.Workspace().Remove(ctx, ws, swarm.RemoveOptions{})
			return err
		},
	}
	for how, want := range map[string]string{
		"exit":     "plugin 'test' crashed in a call (exit status 3): no engine here",
		"panic":    "plugin 'test' crashed in a call (exit status 2): panic: out of luck",
		"deadlock": "plugin 'test' crashed in a call (exit status 2): fatal error: sync: unlock of unlocked mutex",
		"log":      "plugin 'test' crashed in a call (exit status 4)",
		"signal":   "plugin 'test' crashed in a call (signal: killed): a wire came loose",
	} {
		for call, make := range calls {
			if how != "exit" && call != "Spawn" && call != "Watch" {
				continue // the way of the end does not depend on the call
			}
			t.Run(how+" in "+call, func(t *testing.T) {
				t.Parallel()
				kind := "dying-backend"
				if call == "Create" || call == "Inspect" || call == "Remove" {
					kind = "dying-workspace"
				}
				err := make(t.Context(), get(t, newSet(t), entry(kind, how)))
				if err == nil || err.Error() != want {
					t.Errorf("error %v\n want %s", err, want)
				}
				if !errors.Is(err, client.ErrPluginGone) {
					t.Error("it is not ErrPluginGone")
				}
			})
		}
	}
}

// The end that a host itself brings about does not count as a crash.
func TestClosedIsNoCrash(t *testing.T) {
	t.Parallel()
	s := newSet(t)
	c := get(t, s, entry("serve"))
	s.Close()
	if _, err := c.Backend().Status(t.Context(), swarm.Handle{Version: 1}); !errors.Is(err, client.ErrPluginGone) || err.Error() != client.ErrPluginGone.Error() {
		t.Errorf("error %v", err)
	}
}
