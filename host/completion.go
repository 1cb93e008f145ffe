package host

import (
	"context"
	"slices"

	"github.com/swarmhost/swarm/host/registry"
)

// Tags returns the tags of all workers in the state directory dir, for completion. It
// starts nothing and writes nothing.
func Tags(ctx context.Context, dir string) ([]string, error) {
	return valuesOf(ctx, dir, func(rec registry.Record) []string { return rec.Tags })
}

// OptionValues returns the values that the workers in the state directory dir have for
// an option of their backends, for completion. It starts nothing and writes nothing.
func OptionValues(ctx context.Context, dir, option string) ([]string, error) {
	return valuesOf(ctx, dir, func(rec registry.Record) []string {
		if value := rec.Options[option]; value != "" {
			return []string{value}
		}
		return nil
	})
}

// valuesOf returns all values that records have, each once, sorted.
func valuesOf(ctx context.Context, dir string, of func(registry.Record) []string) ([]string, error) {
	return namesOf(ctx, dir, func(reg *registry.Registry, ctx context.Context) ([]string, error) {
		// The values that can be read are offered.
		records, _, err := reg.Read(ctx, registry.Query{})
		var values []string
		for _, rec := range records {
			values = append(values, of(rec)...)
		}
		slices.Sort(values)
		return slices.Compact(values), err
	})
}
