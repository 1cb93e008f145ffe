// Hostile is a plugin of a third party all of whose texts are meant for the terminal
// of the terminal that shows them. Its workers are a file in their run directory; their command
// is what they do: run, lose, hide, or fail.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/swarmhost/swarm/shared/plugin"
	"github.com/swarmhost/swarm/shared/swarm"
)

// evil sets a title, colours what follows, turns its direction around, hides, and
// begins lines.
const evil = "evil\x1b]0;t\a\x7f\u009b31m\u202e\u200b\u2028\U000e0001\nend"

func main() {
	plugin.Serve(plugin.Options{
		Name: "hostile", Version: "1" + evil, Local: true,
		Backend: func(_ context.Context, env plugin.Env) (swarm.Backend, error) {
			env.Logger.Error("log "+evil, "key", "value "+evil)
			fmt.Fprintln(os.Stderr, "stderr "+evil)
			return backend{}, nil
		},
	})
}

type backend struct{}

func (backend) Spawn(_ context.Context, spec swarm.Spec) (swarm.Handle, error) {
	if spec.Command[0] == "fail" {
		return swarm.Handle{}, errors.New("spawn " + evil)
	}
	file := filepath.Join(spec.Local.RunDir, "does")
	return swarm.Handle{Version: 1, Data: []byte(file)}, os.WriteFile(file, []byte(spec.Command[0]), 0o600)
}

func (backend) Status(_ context.Context, h swarm.Handle) (swarm.Status, error) {
	does, err := os.ReadFile(string(h.Data))
	if err != nil {
		return swarm.Status{}, err
	}
	where := swarm.Where{Kind: "kind " + evil, Name: "name " + evil, Parts: map[string]string{"session": evil, "window": evil}}
	switch string(does) {
	case "lose":
		survivors := []swarm.Process{{PID: 1 << 30, Name: "process " + evil}}
		return swarm.Status{State: swarm.StateLost, Reason: "lost " + evil, Survivors: survivors, Where: where}, nil
	case "hide":
		return swarm.Status{State: swarm.StateUnknown, Reason: "unknown " + evil, Where: where}, nil
	case "ended":
		exit := &swarm.Exit{Code: 1, Cause: swarm.CauseExited, Reason: "ended " + evil, Time: time.Now()}
		return swarm.Status{State: swarm.StateExited, Exit: exit}, nil
	default:
		return swarm.Status{State: swarm.StateRunning, Where: where}, nil
	}
}

func (b backend) Kill(ctx context.Context, h swarm.Handle, _ swarm.KillOptions) (swarm.KillResult, error) {
	does, err := os.ReadFile(string(h.Data))
	if err != nil {
		return swarm.KillResult{}, err
	}
	if string(does) == "stay" {
		return swarm.KillResult{Survivors: []swarm.Process{{PID: 1 << 30, Name: "process " + evil}}}, errors.New("kill " + evil)
	}
	if err := os.WriteFile(string(h.Data), []byte("ended"), 0o600); err != nil {
		return swarm.KillResult{}, err
	}
	s, err := b.Status(ctx, h)
	return swarm.KillResult{Status: s}, err
}

func (backend) Screen(context.Context, swarm.Handle, swarm.ScreenOptions) (swarm.Screen, error) {
	return swarm.Screen{Lines: []string{"screen " + evil}}, nil
}

// Forward connects with a server that sends back what it gets, refuses port 1, and fails for port 2 later.
func (backend) Forward(_ context.Context, _ swarm.Handle, o swarm.ForwardOptions) (swarm.Program, error) {
	switch o.Port {
	case 1:
		return swarm.Program{}, errors.New("forward " + evil)
	case 2:
		return swarm.Program{Command: []string{"sh", "-c", `echo "$1" >&2; exit 1`, "sh", "connect " + evil}}, nil
	}
	return swarm.Program{Command: []string{"cat"}}, nil
}

func (backend) Check(context.Context) error { return errors.New("check " + evil) }
