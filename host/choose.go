package host

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/swarmhost/swarm/host/registry"
)

// choose returns the records of the selected workers, for reading.
func (h *Host) choose(ctx context.Context, sel Selection) ([]registry.Record, []string, error) {
	h.startAhead()
	reg, err := h.reading(ctx)
	if err != nil {
		return nil, nil, err
	}
	return chosen(ctx, reg, sel)
}

// chooseNamed is as choose, for changes: nothing selected is not everything.
func (h *Host) chooseNamed(ctx context.Context, sel Selection) ([]registry.Record, []string, error) {
	if len(sel.Names) == 0 && !sel.All && sel.Tag == "" {
		return nil, nil, ErrNoSelection
	}
	h.startAhead()
	reg, err := h.changing(ctx)
	if err != nil {
		return nil, nil, err
	}
	return chosen(ctx, reg, sel)
}

// chosen returns the selected records in the order of the selection. reg may be
// nil.
func chosen(ctx context.Context, reg *registry.Registry, sel Selection) ([]registry.Record, []string, error) {
	var recs []registry.Record
	var warnings []string
	if reg != nil {
		var err error
		if recs, warnings, err = reg.Read(ctx, registry.Query{Names: sel.Names}); err != nil {
			return nil, nil, err
		}
	}
	if len(sel.Names) == 0 {
		if sel.Tag != "" {
			recs = slices.DeleteFunc(recs, func(r registry.Record) bool { return !slices.Contains(r.Tags, sel.Tag) })
		}
		return recs, warnings, nil
	}
	var picked []registry.Record
	for _, name := range sel.Names {
		i := find(recs, name)
		if i < 0 && len(warnings) > 0 {
			// It may be the one that can't be read.
			return nil, nil, fmt.Errorf("%w: %s", registry.ErrDamaged, strings.Join(warnings, "; "))
		}
		if i < 0 {
			return nil, nil, &NotFoundError{Name: name}
		}
		if indexID(picked, recs[i].ID) < 0 {
			picked = append(picked, recs[i])
		}
	}
	return picked, warnings, nil
}

// find returns the place of the worker of that name, else of that id, or -1. A
// name that looks like another worker's id is a name.
func find(recs []registry.Record, name string) int {
	if i := slices.IndexFunc(recs, func(r registry.Record) bool { return r.Name == name }); i >= 0 {
		return i
	}
	return indexID(recs, name)
}

func indexID(recs []registry.Record, id string) int {
	return slices.IndexFunc(recs, func(r registry.Record) bool { return r.ID == id })
}
