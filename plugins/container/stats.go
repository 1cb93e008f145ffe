package container

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"time"

	"github.com/moby/moby/api/types/container"
	"github.com/moby/moby/client"

	"github.com/swarmhost/swarm/plugins/container/members"
	"github.com/swarmhost/swarm/shared/swarm"
)

// statsLimit is how many containers are measured at the same time. Docker may wait for the
// tick of its clock, a second, before it answers.
const statsLimit = 100

func (b *Backend) Stats(ctx context.Context, hs []swarm.Handle) ([]swarm.StatsResult, error) {
	results := make([]swarm.StatsResult, len(hs))
	slots := make(chan struct{}, statsLimit)
	var asking sync.WaitGroup
	for i, h := range hs {
		r, e, err := b.open(ctx, h)
		if err != nil {
			results[i].Err = err
			continue
		}
		slots <- struct{}{}
		asking.Go(func() {
			defer func() { <-slots }()
			results[i].Stats, results[i].Err = e.measure(ctx, r)
		})
	}
	asking.Wait()
	return results, ctx.Err()
}

// measure returns the figures of one worker. An engine measures one that does not run, too.
func (e *engine) measure(ctx context.Context, r ref) (swarm.Stats, error) {
	s, err := e.inspect(ctx, r)
	if err != nil {
		return swarm.Stats{}, err
	}
	if !s.running {
		return swarm.Stats{}, errEnded()
	}
	got, err := e.ContainerStats(ctx, r.Container, client.ContainerStatsOptions{})
	if err != nil {
		return swarm.Stats{}, e.explain(ctx, "measure the worker", err)
	}
	defer func() { _ = got.Body.Close() }()
	var u container.StatsResponse
	if err := json.NewDecoder(got.Body).Decode(&u); err != nil {
		if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
			return swarm.Stats{}, errEnded()
		}
		return swarm.Stats{}, e.explain(ctx, "measure the worker", err)
	}
	stats, ok := statsOf(u)
	if !ok {
		return swarm.Stats{}, fmt.Errorf("%w: the engine has not measured the worker yet", swarm.ErrUnavailable)
	}
	if pids, err := members.Of(s.pid, r.Container); err == nil && len(pids) > 1 {
		stats.Processes = new(len(pids) - 1) // without the init
	}
	return stats, nil
}

// statsOf converts the figures of a container. It returns false if there are none yet.
func statsOf(u container.StatsResponse) (swarm.Stats, bool) {
	s := swarm.Stats{Time: u.Read}
	if s.Time.Year() <= 1 {
		s.Time = time.Now()
	}
	if n := u.CPUStats.CPUUsage.TotalUsage; n > 0 {
		s.CPUTime = new(time.Duration(n))
	}
	if m := u.MemoryStats; m.Usage > 0 {
		// Memory that the system can drop at any time does not count.
		cache := m.Stats["inactive_file"] // cgroups of version 2
		if n, ok := m.Stats["total_inactive_file"]; ok {
			cache = n
		}
		memory := int64(m.Usage)
		if cache < m.Usage {
			memory -= int64(cache)
		}
		s.Memory = &memory
		if m.MaxUsage > 0 {
			s.Peak = new(max(int64(m.MaxUsage), memory))
		}
	}
	for _, io := range u.BlkioStats.IoServiceBytesRecursive {
		switch strings.ToLower(io.Op) {
		case "read":
			add(&s.Read, io.Value)
		case "write":
			add(&s.Written, io.Value)
		}
	}
	if n := u.PidsStats.Current; n > 1 {
		s.Threads = new(int(n) - 1) // without the init
	}
	return s, s.CPUTime != nil || s.Memory != nil
}

func add(to **int64, n uint64) {
	if *to == nil {
		*to = new(int64)
	}
	**to += int64(n)
}
