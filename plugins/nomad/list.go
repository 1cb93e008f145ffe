package nomad

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/hashicorp/nomad/api"

	"github.com/swarmhost/swarm/shared/swarm"
)

// saved holds the parts of a worker's spec that Nomad does not need. The job keeps them for
// hosts that adopt the worker.
type saved struct {
	// Command is empty if it is long: a job's meta is also in the environment of
	// its task, where a value may not be longer than 128 KiB.
	Command     []string          `json:"command,omitempty"`
	Dir         string            `json:"dir,omitempty"`
	Tags        []string          `json:"tags,omitempty"`
	Options     map[string]string `json:"options,omitempty"`
	OutputLimit int64             `json:"output_limit,omitempty"`
	Stdin       bool              `json:"stdin,omitempty"`
	Signal      string            `json:"signal,omitempty"`
	Grace       time.Duration     `json:"grace_ns,omitempty"`
	Force       bool              `json:"force,omitempty"`
	Main        bool              `json:"main,omitempty"`
	Limits      swarm.Limits      `json:"limits,omitzero"`
}

// maxSaved is the size of a spec that is kept whole.
const maxSaved = 8 << 10

func save(spec swarm.Spec) (string, error) {
	s := saved{
		Command: spec.Command, Dir: spec.Dir, Tags: spec.Tags, Options: spec.Options,
		OutputLimit: spec.OutputLimit, Stdin: spec.Stdin,
		Signal: spec.Kill.Signal, Grace: spec.Kill.Grace, Force: spec.Kill.Force, Main: spec.Kill.Mode == swarm.KillMain,
		Limits: spec.Limits,
	}
	data, err := json.Marshal(s)
	if err == nil && len(data) > maxSaved {
		s.Command = nil
		data, err = json.Marshal(s)
	}
	if err != nil {
		return "", fmt.Errorf("write the spec of %s: %w", spec.ID, err)
	}
	if len(data) > maxSaved {
		return "", fmt.Errorf("%w: the tags and options are too long for a job of Nomad", swarm.ErrInvalidSpec)
	}
	return string(data), nil
}

func (s saved) spec(id, name string) swarm.Spec {
	spec := swarm.Spec{
		ID: id, Name: name, Command: s.Command, Dir: s.Dir, Tags: s.Tags, Options: s.Options,
		OutputLimit: s.OutputLimit, Stdin: s.Stdin, Limits: s.Limits,
		Kill: swarm.KillOptions{Signal: s.Signal, Grace: s.Grace, Force: s.Force},
	}
	if s.Main {
		spec.Kill.Mode = swarm.KillMain
	}
	return spec
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
	r, kept, ok := refOf(b.at, j.ID, j.Meta)
	if !ok {
		return swarm.Listed{}, false
	}
	l := swarm.Listed{Spec: kept.spec(r.ID, j.Meta[metaName]), Created: time.Unix(0, j.SubmitTime)}
	if len(kept.Command) == 0 {
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
