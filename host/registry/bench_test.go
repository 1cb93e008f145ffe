package registry_test

import (
	"context"
	"fmt"
	"path/filepath"
	"testing"

	"github.com/swarmhost/swarm/host/registry"
)

// BenchmarkUpdate is the end of 200 workers at once.
func BenchmarkUpdate(b *testing.B) {
	reg, err := registry.Open(b.Context(), filepath.Join(b.TempDir(), "swarm.db"))
	if err != nil {
		b.Fatal(err)
	}
	defer func() { _ = reg.Close() }()
	const workers = 200
	id := func(i int) string { return fmt.Sprintf("id%d", i) }
	err = reg.Change(b.Context(), func(ctx context.Context, tx *registry.Tx) error {
		for i := range workers {
			rec := registry.Record{Spec: registry.Spec{ID: id(i), Name: fmt.Sprintf("w%d", i), Command: []string{"sleep", "1"}}, State: registry.Running}
			if err := tx.Insert(ctx, &rec); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		err := reg.Change(b.Context(), func(ctx context.Context, tx *registry.Tx) error {
			for i := range workers {
				err := tx.Update(ctx, id(i), func(r *registry.Record) error {
					r.State = registry.Stopped
					return nil
				})
				if err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			b.Fatal(err)
		}
	}
}
