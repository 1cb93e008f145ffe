package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/swarmhost/swarm/host/registry"
	"github.com/swarmhost/swarm/shared/shim/rundir"
)

// realMost is how many of the others are real workers, each with a shim. More of them
// are copies of a real one: a record that runs, and a run directory with a status that
// names the shim of the original. For the host they cost what a real one costs, since it
// does not look at them; only their processes are missing.
const realMost = 300

// neighbours measures the spawn and the kill of one worker in state directories with more and
// more other workers.
func neighbours(ctx context.Context, w *world, o options) (_ []row, err error) {
	sizes := []int{1, o.others / 10, o.others}
	var all []contender
	for _, n := range sizes {
		crowd, err := w.crowded(ctx, n)
		if err != nil {
			return nil, err
		}
		defer func() { err = errors.Join(err, crowd.clear(ctx)) }()
		i := 0
		all = append(all,
			contender{name: fmt.Sprint("spawn", n), run: func(ctx context.Context) (time.Duration, error) {
				i++
				return crowd.swarm(ctx, "spawn", "--name", fmt.Sprint("one", i), "--", "sleep", "1000")
			}},
			contender{name: fmt.Sprint("kill", n), run: func(ctx context.Context) (time.Duration, error) {
				return crowd.swarm(ctx, "kill", fmt.Sprint("one", i))
			}})
	}
	m, err := inOrder(ctx, o.runs, all...)
	if err != nil {
		return nil, err
	}
	var rows []row
	for _, verb := range []string{"spawn", "kill"} {
		base := m[fmt.Sprint(verb, sizes[0])]
		for _, n := range sizes[1:] {
			what := fmt.Sprintf("swarm %s of one next to %d", verb, n)
			rows = append(rows, ratio(what, m[fmt.Sprint(verb, n)], fmt.Sprintf("next to %d", sizes[0]), base, 1.3))
		}
	}
	return rows, nil
}

// crowded is a world whose state directory has workers already.
type crowded struct {
	world
	state  string
	copies []string
}

// crowded returns the world with a state directory of its own and n workers in it.
func (w *world) crowded(ctx context.Context, n int) (*crowded, error) {
	c := &crowded{world: *w, state: w.path(fmt.Sprint("neighbours", n))}
	c.env = append(append([]string{}, w.env...), "SWARM_DIR="+c.state)
	if err := c.spawnMany(ctx, "w", 1, min(n, realMost), nil, []string{"sleep", "100000"}); err != nil {
		return nil, err
	}
	return c, c.copy(ctx, n-realMost)
}

// copy adds n copies of a real worker.
func (c *crowded) copy(ctx context.Context, n int) (err error) {
	if n <= 0 {
		return nil
	}
	reg, err := registry.Open(ctx, c.state)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, reg.Close()) }()
	recs, _, err := reg.Read(ctx, registry.Query{Names: []string{"w1"}})
	if err != nil {
		return err
	}
	dir := func(id string) string { return filepath.Join(c.state, "workers", id) }
	original := recs[0]
	var status rundir.Status
	text, err := os.ReadFile(filepath.Join(dir(original.ID), rundir.StatusFile))
	if err == nil {
		err = json.Unmarshal(text, &status)
	}
	if err != nil {
		return err
	}
	return reg.Change(ctx, func(ctx context.Context, tx *registry.Tx) error {
		for i := range n {
			rec := original
			rec.ID, rec.Name = fmt.Sprintf("%s%d", original.ID[:10], i), fmt.Sprint("copy", i)
			rec.Handle.Data = []byte(fmt.Sprintf(`{"id":%q,"dir":%q}`, rec.ID, dir(rec.ID)))
			if err := tx.Insert(ctx, &rec); err != nil {
				return err
			}
			c.copies = append(c.copies, rec.ID)
			status.ID = rec.ID
			if err := os.Mkdir(dir(rec.ID), 0o700); err != nil {
				return err
			}
			if err := os.WriteFile(filepath.Join(dir(rec.ID), rundir.StatusFile), rundir.EncodeStatus(status), 0o600); err != nil {
				return err
			}
		}
		return nil
	})
}

// clear removes the copies, and then all that is real.
func (c *crowded) clear(ctx context.Context) (err error) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 2*time.Minute)
	defer cancel()
	if len(c.copies) > 0 {
		reg, err := registry.Open(ctx, c.state)
		if err != nil {
			return err
		}
		err = reg.Change(ctx, func(ctx context.Context, tx *registry.Tx) error {
			for _, id := range c.copies {
				if err := tx.Delete(ctx, id); err != nil {
					return err
				}
			}
			return nil
		})
		if err := errors.Join(err, reg.Close()); err != nil {
			return err
		}
	}
	return c.world.clear(ctx)
}
