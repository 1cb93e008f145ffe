package cgroup

import (
	"errors"
	"strconv"

	"github.com/swarmhost/swarm/shared/swarm"
)

// cpuPeriod is in how many microseconds a share of the CPUs is counted.
const cpuPeriod = 100_000

// Set makes other limits those of the group. It must have the controller of each limit that
// is set. After an error the limits are those of before, as far as the system allows.
func (g *Group) Set(l swarm.Limits) error {
	for _, c := range NeededBy(l) {
		if _, ok := g.at(c); !ok {
			return errors.New("the worker was started without a limit of " + Word(c))
		}
	}
	if g == nil {
		return nil
	}
	old := g.limits
	for _, c := range Controllers {
		if err := g.set(c, l); err != nil {
			for _, c := range Controllers {
				_ = g.set(c, old)
			}
			return errors.New("the limit of " + Word(c) + " can't be set: " + reason(err))
		}
	}
	g.limits = l
	return nil
}

// Limits returns the limits of the group. It enforces those whose controllers it has.
func (g *Group) Limits() swarm.Limits {
	if g == nil {
		return swarm.Limits{}
	}
	return g.limits
}

// Word returns the usual name of what a controller limits.
func Word(c Controller) string {
	switch c {
	case CPU:
		return "CPUs"
	case PIDs:
		return "processes"
	case IO:
		return "I/O weight"
	default:
		return string(c)
	}
}

// set sets the limit of one controller, if the group has that.
func (g *Group) set(c Controller, l swarm.Limits) error {
	p, ok := g.places[c]
	if !ok {
		return nil
	}
	switch c {
	case Memory:
		if p.v2 {
			return g.setMemory(p, l.Memory)
		}
		return g.setOldMemory(p, l.Memory)
	case CPU:
		var quota int64
		if l.CPUs != 0 {
			quota = int64(max(l.CPUs*cpuPeriod, 1000))
		}
		if p.v2 {
			return g.fs.write(p.file("cpu.max"), textOf(quota, "max")+" "+strconv.Itoa(cpuPeriod))
		}
		if err := g.fs.write(p.file("cpu.cfs_period_us"), strconv.Itoa(cpuPeriod)); err != nil {
			return err
		}
		return g.fs.write(p.file("cpu.cfs_quota_us"), textOf(quota, "-1"))
	case PIDs:
		return g.fs.write(p.file("pids.max"), textOf(int64(l.PIDs), "max"))
	case IO:
		return g.setWeight(p, l.IOWeight)
	case Freezer:
	}
	return nil
}

// textOf returns a limit as a text, or none if the limit is not set.
func textOf(limit int64, none string) string {
	if limit <= 0 {
		return none
	}
	return strconv.FormatInt(limit, 10)
}

// setMemory limits memory with version 2, which at once kills processes that hold more than a
// new limit allows. So memory is reclaimed first.
func (g *Group) setMemory(p place, bytes int64) error {
	if bytes > 0 {
		if held, ok := g.number(p.file("memory.current")); ok && held > bytes {
			_ = g.fs.write(p.file("memory.reclaim"), strconv.FormatInt(held-bytes, 10))
			if held, ok = g.number(p.file("memory.current")); ok && held > bytes {
				return errors.New("the worker holds " + strconv.FormatInt(held, 10) + " bytes")
			}
		}
	}
	if swap := p.file("memory.swap.max"); g.fs.exists(swap) {
		limit := "max"
		if bytes > 0 {
			limit = "0"
		}
		if err := g.fs.write(swap, limit); err != nil {
			return err
		}
	}
	return g.fs.write(p.file("memory.max"), textOf(bytes, "max"))
}

// setOldMemory limits memory with version 1, in which the limit with swap is never below the
// one without.
func (g *Group) setOldMemory(p place, bytes int64) error {
	value := textOf(bytes, "-1")
	first, second := p.file("memory.limit_in_bytes"), p.file("memory.memsw.limit_in_bytes")
	if !g.fs.exists(second) {
		return g.fs.write(first, value)
	}
	if now, ok := g.number(second); !ok || bytes <= 0 || bytes > now {
		first, second = second, first
	}
	if err := g.fs.write(first, value); err != nil {
		return err
	}
	return g.fs.write(second, value)
}

func (g *Group) setWeight(p place, weight int) error {
	if weight == 0 {
		weight = 100
	}
	for _, f := range []struct {
		name, prefix string
		value        int
	}{
		{"io.weight", "default ", weight},
		{"io.bfq.weight", "", min(weight, 1000)},
		{"blkio.bfq.weight", "", min(weight, 1000)},
		{"blkio.weight", "", min(max(weight*5, 10), 1000)},
	} {
		if file := p.file(f.name); g.fs.exists(file) {
			return g.fs.write(file, f.prefix+strconv.Itoa(f.value))
		}
	}
	return errors.New("this system has no I/O weights")
}
