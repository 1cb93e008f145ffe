package main

import (
	"context"
	"math/rand/v2"
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
// all of them, and returns their medians by name. The turns are shuffled: who
// comes after a run of another program finds colder caches.
func race(ctx context.Context, runs int, contenders ...contender) (map[string]time.Duration, error) {
	shuffle := rand.New(rand.NewPCG(1, 2)) // the same turns in every run
	return rounds(ctx, runs, contenders, func() {
		shuffle.Shuffle(len(contenders), func(i, j int) { contenders[i], contenders[j] = contenders[j], contenders[i] })
	})
}

// inOrder is as race, for contenders that need what the one before has left.
func inOrder(ctx context.Context, runs int, contenders ...contender) (map[string]time.Duration, error) {
	return rounds(ctx, runs, contenders, func() {})
}

func rounds(ctx context.Context, runs int, contenders []contender, order func()) (map[string]time.Duration, error) {
	times := map[string][]time.Duration{}
	for i := range runs + warmup {
		order()
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
