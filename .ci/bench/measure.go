package main

import (
	"context"
	"slices"
	"time"
)

// warmup is how many runs of each contender don't count.
const warmup = 3

// contender is one of several things that are measured side by side.
type contender struct {
	name string
	// before is not measured; nil: nothing.
	before func(context.Context) error
	run    func(context.Context) (time.Duration, error)
}

// race runs all contenders in turn, so that whatever else the machine does hits
// all of them, and returns their medians by name.
func race(ctx context.Context, runs int, contenders ...contender) (map[string]time.Duration, error) {
	times := map[string][]time.Duration{}
	for i := range runs + warmup {
		for _, c := range contenders {
			if c.before != nil {
				if err := c.before(ctx); err != nil {
					return nil, err
				}
			}
			took, err := c.run(ctx)
			if err != nil {
				return nil, err
			}
			if i >= warmup {
				times[c.name] = append(times[c.name], took)
			}
		}
	}
	medians := map[string]time.Duration{}
	for name, all := range times {
		medians[name] = median(all)
	}
	return medians, nil
}

func median(all []time.Duration) time.Duration {
	slices.Sort(all)
	return all[len(all)/2]
}
