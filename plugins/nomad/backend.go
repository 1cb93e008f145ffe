package nomad

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/hashicorp/go-hclog"
	"github.com/hashicorp/nomad/api"

	"github.com/swarmhost/swarm/shared/swarm"
)

// Backend implements [swarm.Backend] and the capabilities asserted below. All
// its methods may be called at the same time.
type Backend struct {
	config Config
	client *api.Client
	at     place
	log    hclog.Logger
	feeds  feeds
}

var (
	_ swarm.Backend       = (*Backend)(nil)
	_ swarm.BatchStatuser = (*Backend)(nil)
	_ swarm.Finder        = (*Backend)(nil)
	_ swarm.Checker       = (*Backend)(nil)
	_ swarm.Outputter     = (*Backend)(nil)
	_ swarm.Waiter        = (*Backend)(nil)
	_ swarm.Watcher       = (*Backend)(nil)
	_ swarm.Signaller     = (*Backend)(nil)
	_ swarm.Lister        = (*Backend)(nil)
	_ swarm.Inputter      = (*Backend)(nil)
	_ swarm.Announcer     = (*Backend)(nil)
)

// longPoll is how long Nomad keeps a question open that waits for a change.
const longPoll = time.Minute

// New returns the backend. It logs to log, which must not be nil, and talks to
// nobody yet.
func New(c Config, log hclog.Logger) (*Backend, error) {
	if err := c.check(); err != nil {
		return nil, err
	}
	client, at, err := c.client()
	if err != nil {
		return nil, err
	}
	b := &Backend{config: c, client: client, at: at, log: log}
	b.feeds.look = b.look
	return b, nil
}

// Check tells whether Nomad can be reached, takes the token, and has the namespace.
func (b *Backend) Check(ctx context.Context) error {
	if _, err := b.client.Status().RegionLeader(b.at.Region); err != nil {
		return b.tell(ctx, "ask for the leader", err)
	}
	if _, err := b.look(ctx, b.at, "", 0); err != nil {
		return err
	}
	if b.at.Namespace == api.DefaultNamespace {
		return nil
	}
	_, _, err := b.client.Namespaces().Info(b.at.Namespace, b.query(ctx, b.at))
	if err != nil {
		if err = b.tell(ctx, "look at the namespace", err); errors.Is(err, swarm.ErrNotFound) {
			return fmt.Errorf("%w: Nomad has no namespace '%s': create it, or change the setting 'namespace'",
				swarm.ErrInvalidConfig, b.at.Namespace)
		}
	}
	return err
}

// Find returns the worker that was spawned with that id, as long as Nomad has its
// job.
func (b *Backend) Find(ctx context.Context, l swarm.Lookup) (swarm.Handle, error) {
	j, err := b.info(ctx, b.at, jobPrefix+l.Name)
	if err != nil {
		return swarm.Handle{}, err
	}
	r, _, ok := refOf(b.at, *j.ID, j.Meta)
	if !ok || r.ID != l.ID {
		return swarm.Handle{}, fmt.Errorf("%w: nomad worker %s", swarm.ErrNotFound, l.ID)
	}
	return r.encode()
}

// info returns a job, or [swarm.ErrNotFound].
func (b *Backend) info(ctx context.Context, at place, name string) (*api.Job, error) {
	j, _, err := b.client.Jobs().Info(name, b.query(ctx, at))
	if err != nil {
		return nil, b.tell(ctx, fmt.Sprintf("look at the job '%s'", name), err)
	}
	return j, nil
}

// refOf returns what the handle of a job's worker says. It reports false for jobs
// that are none.
func refOf(at place, name string, meta map[string]string) (ref, saved, bool) {
	var kept saved
	id, of := meta[metaID], meta[metaName]
	if err := json.Unmarshal([]byte(meta[metaSpec]), &kept); err != nil || id == "" || name != jobPrefix+of || !swarm.ValidName(of) {
		return ref{}, saved{}, false
	}
	r, err := newRef(at, kept.spec(id, of))
	return r, kept, err == nil
}
