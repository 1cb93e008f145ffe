package nomad

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/swarmhost/swarm/shared/swarm"
)

// handleVersion counts the formats of handles; all of them stay readable.
const handleVersion = 1

// jobPrefix begins the names of the jobs that are workers.
const jobPrefix = "swarm-"

// place is a part of a cluster in which the names of jobs are unique.
type place struct {
	Region    string `json:"region,omitempty"` // empty: the agent's
	Namespace string `json:"namespace"`
}

type ref struct {
	place
	Job string `json:"job"`
	// ID is the worker's id and the name of the job's only group.
	ID string `json:"id"`
	// Signal and Grace are how Nomad ends the task when the job is stopped, which
	// can't be changed once it is registered.
	Signal string        `json:"signal"`
	Grace  time.Duration `json:"grace_ns"`
	Stdin  bool          `json:"stdin,omitempty"`
}

// maxGrace is what Nomad's clients cut a longer kill_timeout to.
const maxGrace = 30 * time.Second

func newRef(at place, spec swarm.Spec) (ref, error) {
	signal, err := parseSignal(cmp.Or(spec.Kill.Signal, "SIGTERM"))
	return ref{
		place: at, Job: jobPrefix + spec.Name, ID: spec.ID,
		Signal: signal, Grace: min(max(spec.Kill.Grace, time.Millisecond), maxGrace), Stdin: spec.Stdin,
	}, err
}

func (r ref) encode() (swarm.Handle, error) {
	data, err := json.Marshal(r)
	if err != nil {
		return swarm.Handle{}, fmt.Errorf("write the handle of %s: %w", r.Job, err)
	}
	return swarm.Handle{Version: handleVersion, Data: data}, nil
}

func decode(h swarm.Handle) (ref, error) {
	if h.Version != handleVersion {
		return ref{}, fmt.Errorf("%w: version %d, this plugin knows version %d", swarm.ErrInvalidHandle, h.Version, handleVersion)
	}
	d := json.NewDecoder(bytes.NewReader(h.Data))
	d.DisallowUnknownFields()
	var r ref
	if err := d.Decode(&r); err != nil {
		return ref{}, fmt.Errorf("%w: %w", swarm.ErrInvalidHandle, err)
	}
	if r.Namespace == "" || r.ID == "" || r.Signal == "" || r.Grace <= 0 || !strings.HasPrefix(r.Job, jobPrefix) {
		return ref{}, fmt.Errorf("%w: incomplete", swarm.ErrInvalidHandle)
	}
	return r, nil
}
