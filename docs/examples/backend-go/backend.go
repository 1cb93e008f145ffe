package main

import (
	"context"
	"strconv"

	"github.com/swarmhost/swarm/shared/plugin"
	"github.com/swarmhost/swarm/shared/shim"
	"github.com/swarmhost/swarm/shared/swarm"
)

// settings are the table [plugins.nice.config] of the user's config.
type settings struct {
	Nice int `json:"nice" default:"10" min:"0" max:"19" help:"The priority of workers, from 0, the usual one, to 19, the lowest."`
}

// options are what a user can give one worker, as in --option nice=19, in place of the
// settings.
type options struct {
	Nice int `json:"nice" min:"0" max:"19" help:"The priority of the worker, in place of that of the settings."`
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

func newBackend(s settings) *backend {
	return &backend{Kept: shim.Kept{Read: decode}, settings: s}
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
	if err := shim.Start(ctx, spec); err != nil {
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

// nice returns the priority of a worker. An option that the plugin does not know is an error,
// never ignored.
func (b *backend) nice(given map[string]string) (int, error) {
	o := options{Nice: b.settings.Nice}
	if err := plugin.DecodeOptions(given, &o); err != nil {
		return 0, err
	}
	return o.Nice, nil
}

// Find recovers a worker when the host died between Spawn and its own record.
func (b *backend) Find(ctx context.Context, l swarm.Lookup) (swarm.Handle, error) {
	if err := shim.Recover(ctx, l); err != nil {
		return swarm.Handle{}, err
	}
	return encode(l.ID, l.Local.RunDir)
}
