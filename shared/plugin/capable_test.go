package plugin

import (
	"context"
	"log/slog"
	"testing"

	"github.com/swarmhost/swarm/shared/swarm"
)

type listing struct{ swarm.Backend }

func (listing) Capabilities() []swarm.Capability { return []swarm.Capability{swarm.CapPause} }

// A plugin that lists a capability which it does not implement is not served.
func TestCapabilityWithoutMethod(t *testing.T) {
	t.Parallel()
	o := Options{Name: "test", Backend: func(context.Context, Env) (swarm.Backend, error) { return listing{}, nil }}
	p, err := o.plugin(slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	const want = "the plugin lists the capability 'pause' and does not implement it"
	if _, err := p.New(t.Context(), nil); err == nil || err.Error() != want {
		t.Errorf("the factory: %v, want %s", err, want)
	}
}
