package nomad

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/hashicorp/nomad/api"

	"github.com/swarmhost/swarm/shared/swarm"
)

// Backend implements [swarm.Backend] and the capabilities asserted below. All
// its methods may be called at the same time.
type Backend struct {
	config   Config
	client   *api.Client
	hasToken bool
	at       place // of new workers
	log      *slog.Logger
	feeds    feeds
}

var (
	_ swarm.Backend       = (*Backend)(nil)
	_ swarm.BatchStatuser = (*Backend)(nil)
	_ swarm.Finder        = (*Backend)(nil)
	_ swarm.Checker       = (*Backend)(nil)
	_ swarm.Reporter      = (*Backend)(nil)
	_ swarm.Outputter     = (*Backend)(nil)
	_ swarm.Watcher       = (*Backend)(nil)
	_ swarm.Signaller     = (*Backend)(nil)
	_ swarm.Lister        = (*Backend)(nil)
	_ swarm.Inputter      = (*Backend)(nil)
	_ swarm.Measurer      = (*Backend)(nil)
	_ swarm.Announcer     = (*Backend)(nil)
	_ swarm.SpawnChecker  = (*Backend)(nil)
)

// longPoll is how long Nomad may take to answer a query that waits for a change.
const longPoll = time.Minute

// New returns the backend. It logs to log, which must not be nil, and does not contact
// Nomad yet.
func New(c Config, log *slog.Logger) (*Backend, error) {
	if err := c.check(); err != nil {
		return nil, err
	}
	o, err := c.api()
	if err != nil {
		return nil, err
	}
	client, err := api.NewClient(o)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", swarm.ErrInvalidConfig, err)
	}
	b := &Backend{
		config: c, client: client, hasToken: o.SecretID != "", log: log,
		at: place{Region: o.Region, Namespace: o.Namespace},
	}
	b.feeds.look = b.look
	return b, nil
}

// Check reports whether Nomad can be reached, takes the token, and has the namespace.
func (b *Backend) Check(ctx context.Context) error {
	if _, err := b.client.Status().RegionLeader(b.at.Region); err != nil {
		return b.explain(ctx, "ask for the leader", err)
	}
	if _, err := b.look(ctx, b.at, "", 0); err != nil {
		return err
	}
	if b.at.Namespace == api.DefaultNamespace {
		return nil
	}
	_, _, err := b.client.Namespaces().Info(b.at.Namespace, b.query(ctx, b.at))
	if err = b.explain(ctx, "look at the namespace", err); errors.Is(err, swarm.ErrNotFound) {
		return fmt.Errorf("%w: Nomad has no namespace '%s': create it, or change the setting 'namespace'",
			swarm.ErrInvalidConfig, b.at.Namespace)
	}
	return err
}

// Report returns the version of Nomad, if the token may read it, and what this version can't
// exclude: a worker is one allocation, but Nomad starts those of drained and lost nodes again.
func (b *Backend) Report(ctx context.Context) (string, error) {
	version := ""
	if self, err := b.client.Agent().Self(); err == nil {
		if build, ok := self.Member.Tags["build"]; ok {
			version = " " + build
		}
	}
	nodes := "drained or lost"
	if keepsLost(version) {
		nodes = "drained"
	}
	return fmt.Sprintf("Nomad%s (workers of %s nodes may start again, see docs/nomad.md)", version, nodes), ctx.Err()
}

// keepsLost reports whether a version, such as " 1.8.4", knows the block disconnect, so that it
// does not replace the workers of lost nodes.
func keepsLost(version string) bool {
	var major, minor int
	n, _ := fmt.Sscanf(version, " %d.%d", &major, &minor)
	return n == 2 && (major > 1 || major == 1 && minor >= 8)
}

// info returns a job, or [swarm.ErrNotFound].
func (b *Backend) info(ctx context.Context, at place, name string) (*api.Job, error) {
	j, _, err := b.client.Jobs().Info(name, b.query(ctx, at))
	return j, b.explain(ctx, fmt.Sprintf("look at the job '%s'", name), err)
}

// refOf returns the content of the handle of a job's worker and what the job keeps of its spec,
// and false for a job that is not a worker.
func refOf(at place, name string, meta map[string]string) (ref, swarm.Spec, bool) {
	var spec swarm.Spec
	if err := json.Unmarshal([]byte(meta[metaSpec]), &spec); err != nil {
		return ref{}, spec, false
	}
	spec.ID, spec.Name = meta[metaID], meta[metaName]
	if spec.ID == "" || name != jobPrefix+spec.Name || !swarm.ValidName(spec.Name) {
		return ref{}, spec, false
	}
	r, err := newRef(at, spec)
	return r, spec, err == nil
}
