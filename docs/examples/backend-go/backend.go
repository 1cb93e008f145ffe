package main

import (
	"context"
	"fmt"
	"strconv"

	"github.com/swarmhost/swarm/shared/shim"
	"github.com/swarmhost/swarm/shared/swarm"
)

// settings are the table [plugins.nice.config] of the user's config.
type settings struct {
	// Nice is the priority of workers, from 0, the usual one, to 19, the lowest.
	Nice int `json:"nice"`
}

// backend implements [swarm.Backend]. It remembers nothing: any call may come to
// another process of this plugin than the call before.
//
// A swarm-shim keeps each worker, its output and its exit. [shim.Kept] is what
// shims can do for any backend: status, kill, output, input, signals, watching.
type backend struct {
	shim.Kept
	settings settings
}

func newBackend(s settings) (*backend, error) {
	if s.Nice < 0 || s.Nice > 19 {
		return nil, fmt.Errorf("%w: nice is %d, it has to be from 0 to 19", swarm.ErrInvalidConfig, s.Nice)
	}
	return &backend{Kept: shim.Kept{Read: decode}, settings: s}, nil
}

// Spawn starts a shim, which starts the worker.
func (b *backend) Spawn(ctx context.Context, spec swarm.Spec) (swarm.Handle, error) {
	nice, err := b.nice(spec.Options)
	if err != nil {
		return swarm.Handle{}, err
	}
	// With a wrapper around it the shim can't know that there is no such command.
	if err := executable(spec); err != nil {
		return swarm.Handle{}, err
	}
	spec.Command = append([]string{"nice", "-n", strconv.Itoa(nice)}, spec.Command...)
	// First what can fail without a trace: after an error nothing may be left.
	h, err := encode(spec.ID, spec.Local.RunDir)
	if err != nil {
		return swarm.Handle{}, err
	}
	if err := shim.Start(ctx, spec.Local.Shim, spec.Local.RunDir, shim.LaunchOf(spec)); err != nil {
		return swarm.Handle{}, err
	}
	return h, nil
}

// CheckSpawn implements [swarm.SpawnChecker]: the host asks before it ends a worker that the new
// one replaces.
func (b *backend) CheckSpawn(_ context.Context, c swarm.SpawnCheck) error {
	if _, err := b.nice(c.Spec.Options); err != nil {
		return err
	}
	return shim.CheckSpawn(c)
}

// nice returns the priority of a worker, from its options. An option that no caller
// knows is an error, never ignored.
func (b *backend) nice(options map[string]string) (int, error) {
	nice := b.settings.Nice
	for key, value := range options {
		if key != "nice" {
			return 0, fmt.Errorf("%w: nice has no option %q", swarm.ErrInvalidSpec, key)
		}
		n, err := strconv.Atoi(value)
		if err != nil || n < 0 || n > 19 {
			return 0, fmt.Errorf("%w: option nice is %q, it has to be a number from 0 to 19", swarm.ErrInvalidSpec, value)
		}
		nice = n
	}
	return nice, nil
}

// Find recovers a worker when the host died between Spawn and its own record.
func (b *backend) Find(ctx context.Context, l swarm.Lookup) (swarm.Handle, error) {
	if _, err := shim.Recover(ctx, l.Local.RunDir, l.ID); err != nil {
		return swarm.Handle{}, err
	}
	return encode(l.ID, l.Local.RunDir)
}
