package main

import (
	"context"
	"fmt"
	"time"
)

// crowd is the kill of many workers at once.
func crowd(ctx context.Context, w *world, o options) ([]row, error) {
	again := func(ctx context.Context) error {
		if err := w.clear(ctx); err != nil {
			return err
		}
		return w.spawnMany(ctx, "w", 1, o.crowd, nil, []string{"sleep", "1000"})
	}
	var floors, kills, system []time.Duration
	for range 7 {
		for range 10 {
			took, err := w.floor(ctx)
			if err != nil {
				return nil, err
			}
			floors = append(floors, took)
		}
		if err := again(ctx); err != nil {
			return nil, err
		}
		took, err := w.swarm(ctx, "kill", "--all")
		if err != nil {
			return nil, err
		}
		kills = append(kills, took)
		if took, err = killSleeps(ctx, o.crowd); err != nil {
			return nil, err
		}
		system = append(system, took)
	}
	return []row{
		ratio(fmt.Sprintf("swarm kill --all, %d workers", o.crowd), median(kills), "floor", median(floors), 24),
		{what: fmt.Sprintf("the system: kill and waitpid of %d children", o.crowd), measured: millis(median(system))},
	}, w.clear(ctx)
}

// stubborn is the kill of workers that have to be forced.
func stubborn(ctx context.Context, w *world, _ options) ([]row, error) {
	const workers, grace = 50, 5 * time.Second
	if err := w.spawnMany(ctx, "s", 1, workers, nil, []string{"sh", "-c", "trap '' TERM; sleep 1000"}); err != nil {
		return nil, err
	}
	took, err := w.swarm(ctx, "kill", "--all", "--timeout", "5s")
	if err != nil {
		return nil, err
	}
	return []row{{
		what:     fmt.Sprintf("swarm kill --all, %d workers that ignore SIGTERM", workers),
		measured: millis(took), against: "grace 5 s", value: took.Seconds(), unit: "s", max: (grace + time.Second).Seconds(),
	}}, w.clear(ctx)
}

// list is ls with many workers. Half as many show whether it is linear.
func list(ctx context.Context, w *world, o options) ([]row, error) {
	var rows []row
	for _, backend := range []struct {
		name  string
		flags []string
	}{
		{"process", nil},
		{"tmux", []string{"--tmux", "--tmux-socket", "bench"}},
	} {
		ls := contender{name: "ls", run: func(ctx context.Context) (time.Duration, error) { return w.swarm(ctx, "ls") }}
		times := map[int]time.Duration{}
		spawned := 0
		for _, n := range []int{1, o.workers / 2, o.workers, 2 * o.workers} {
			if err := w.spawnMany(ctx, "w", spawned+1, n, backend.flags, []string{"sleep", "10000"}); err != nil {
				return nil, err
			}
			spawned = n
			m, err := race(ctx, max(5, o.runs/4), ls)
			if err != nil {
				return nil, err
			}
			times[n] = m["ls"]
		}
		rows = append(rows, ratio(fmt.Sprintf("swarm ls, %d %s workers", o.workers, backend.name), times[o.workers], "ls of 1", times[1], 8))
		rows = append(rows, ratio(fmt.Sprintf("swarm ls, %d %s workers", o.workers/2, backend.name), times[o.workers/2], "ls of 1", times[1], 0))
		rows = append(rows, ratio(fmt.Sprintf("linear beyond: %d against %d, %s", 2*o.workers, o.workers, backend.name),
			times[2*o.workers], "half as many", times[o.workers], 2.2))
		if err := w.clear(ctx); err != nil {
			return nil, err
		}
	}
	return rows, nil
}

// measureMany compares stats of many workers with ls of the same workers. Each call of stats
// looks twice, with a pause between the looks that does not count.
func measureMany(ctx context.Context, w *world, o options) ([]row, error) {
	const pause = 200 * time.Millisecond
	contenders := []contender{
		{name: "stats", run: func(ctx context.Context) (time.Duration, error) { return w.swarm(ctx, "stats") }},
		{name: "ls", run: func(ctx context.Context) (time.Duration, error) { return w.swarm(ctx, "ls") }},
	}
	workers := 2 * o.workers
	if err := w.spawnMany(ctx, "w", 1, workers, nil, []string{"sleep", "10000"}); err != nil {
		return nil, err
	}
	m, err := race(ctx, max(5, o.runs/4), contenders...)
	if err != nil {
		return nil, err
	}
	return []row{
		ratio(fmt.Sprintf("both looks of swarm stats, %d workers", workers), m["stats"]-pause, fmt.Sprintf("ls of %d", workers), m["ls"], 6),
	}, w.clear(ctx)
}
