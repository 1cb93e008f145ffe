package plugin

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/swarmhost/swarm/shared/swarm"
)

// servedEnv makes the test binary a plugin, for tests of a real process.
const servedEnv = "SWARM_TEST_SERVE"

func TestMain(m *testing.M) {
	switch os.Getenv(servedEnv) {
	case "":
		os.Exit(m.Run())
	case "nothing": // options that make no sense
		Serve(Options{Name: "served"})
	default:
		Serve(Options{Name: "served", Version: "1.2.3", Settings: SchemaOf[settingsOf](), SpecOptions: SchemaOf[optionsOf](), Backend: newServed})
	}
}

// settingsOf is what the served plugin is configured with.
type settingsOf struct {
	Answer string `json:"answer"`
}

// optionsOf are the options of its workers.
type optionsOf struct {
	Loud bool `json:"loud" default:"true" help:"Whether it is loud."`
}

// served is a backend whose Spawn does what the command says.
type served struct{ settingsOf }

func newServed(ctx context.Context, env Env) (swarm.Backend, error) {
	fmt.Println("the factory writes to stdout")
	env.Logger.Info("made", "plugin", "served")
	s := &served{}
	if err := env.Config.Decode(&s.settingsOf); err != nil {
		return nil, err
	}
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	return s, nil
}

func (s *served) Spawn(ctx context.Context, spec swarm.Spec) (swarm.Handle, error) {
	answer := func(text string) (swarm.Handle, error) {
		return swarm.Handle{Version: 1, Data: []byte(text + " ")}, nil
	}
	switch spec.Command[0] {
	case "answer":
		return answer(s.Answer)
	case "print":
		for i := range 5000 {
			fmt.Println("stdout", i)
			fmt.Fprintln(os.Stderr, "stderr", i)
		}
		return answer("printed")
	case "env":
		var own []string
		for _, kv := range os.Environ() {
			if strings.HasPrefix(kv, "SWARM_") || strings.HasPrefix(kv, "PLUGIN_") {
				own = append(own, kv)
			}
		}
		return answer(strings.Join(own, " "))
	case "descriptor": // whether a child of the plugin gets the death pipe
		out, _ := exec.CommandContext(ctx, "sh", "-c", "{ true <&3; } 2>/dev/null && echo inherited || echo closed").Output()
		return answer(strings.TrimSpace(string(out)))
	case "panic":
		panic("oh")
	case "exit":
		os.Exit(3)
	case "obeys": // marks that its context ended
		f, err := os.Create(spec.Command[1])
		if err != nil {
			return swarm.Handle{}, err
		}
		defer func() { _ = f.Close() }()
		<-ctx.Done()
		_, _ = f.WriteString("cancelled")
		return swarm.Handle{}, ctx.Err()
	case "hangs":
		if f, err := os.Create(spec.Command[1]); err == nil {
			_ = f.Close()
		}
		select {}
	}
	return swarm.Handle{}, errors.New("what?")
}

func (s *served) Status(context.Context, swarm.Handle) (swarm.Status, error) {
	return swarm.Status{}, nil
}

func (s *served) Kill(context.Context, swarm.Handle, swarm.KillOptions) (swarm.KillResult, error) {
	return swarm.KillResult{}, nil
}
