package nomad

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/hashicorp/nomad/api"

	"github.com/swarmhost/swarm/shared/swarm"
)

// maxSaved is the size of a spec that is kept whole.
const maxSaved = 8 << 10

// save returns what a job keeps of a worker's spec, for hosts that adopt the worker. Its command is
// left out if it is long: a job's meta is also in the environment of its task, where a value may not
// be longer than 128 KiB.
func save(spec swarm.Spec) (string, error) {
	spec.Env = nil // it is the task's, and may hold secrets
	data, err := json.Marshal(spec)
	if err == nil && len(data) > maxSaved {
		spec.Command = nil
		data, err = json.Marshal(spec)
	}
	if err != nil {
		return "", fmt.Errorf("write the spec of %s: %w", spec.ID, err)
	}
	if len(data) > maxSaved {
		return "", fmt.Errorf("%w: the tags and options are too long for a job of Nomad", swarm.ErrInvalidSpec)
	}
	return string(data), nil
}

// List lists all workers in the namespace.
func (b *Backend) List(ctx context.Context, each func(swarm.Listed) error) error {
	s, err := b.look(ctx, b.at, "", 0)
	if err != nil {
		return err
	}
	for _, j := range s.jobs {
		listed, ok := b.listed(ctx, s, j)
		if !ok {
			continue
		}
		if err := each(listed); err != nil {
			return err
		}
	}
	return ctx.Err()
}

// listed describes one job. It reports false if the job is not a worker, or can't be read.
func (b *Backend) listed(ctx context.Context, s snapshot, j *api.JobListStub) (swarm.Listed, bool) {
	r, spec, ok := refOf(b.at, j.ID, j.Meta)
	if !ok {
		return swarm.Listed{}, false
	}
	l := swarm.Listed{Spec: spec, Created: time.Unix(0, j.SubmitTime)}
	if len(spec.Command) == 0 {
		full, err := b.info(ctx, b.at, j.ID)
		if err != nil || full.Meta[metaID] != r.ID {
			return swarm.Listed{}, false
		}
		if l.Spec.Command = commandOf(full); l.Spec.Command == nil {
			return swarm.Listed{}, false
		}
	}
	l.Status = b.statusIn(ctx, s, r)
	h, err := r.encode()
	l.Handle = h
	return l, err == nil
}

// findLimit is how long Find waits for a job: one of a Spawn whose plugin was
// killed may be on its way.
const findLimit = time.Second

// Find returns the worker that was spawned with that id, as long as Nomad has its
// job.
func (b *Backend) Find(ctx context.Context, l swarm.Lookup) (swarm.Handle, error) {
	limited, cancel := context.WithTimeout(ctx, findLimit)
	defer cancel()
	name := jobPrefix + l.Name
	var index uint64
	for {
		q := b.query(limited, b.at)
		q.Prefix, q.WaitIndex, q.WaitTime = name, index, findLimit
		jobs, meta, err := b.client.Jobs().ListOptions(&api.JobListOptions{Fields: &api.JobListFields{Meta: true}}, q)
		switch {
		case err != nil && limited.Err() != nil && ctx.Err() == nil:
			return swarm.Handle{}, fmt.Errorf("%w: nomad worker %s", swarm.ErrNotFound, l.ID)
		case err != nil:
			return swarm.Handle{}, b.explain(ctx, "look for the worker", err)
		}
		index = meta.LastIndex
		for _, j := range jobs {
			if r, _, ok := refOf(b.at, j.ID, j.Meta); ok && j.ID == name && r.ID == l.ID {
				return r.encode()
			}
		}
	}
}
