package command

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/swarmhost/swarm/config"
	"github.com/swarmhost/swarm/host/registry"
	"github.com/swarmhost/swarm/shared/swarm"
)

// Limits are the flags that say what a worker may use; nil: not given.
type Limits struct {
	memory               *int64
	cpus                 *float64
	pids, nice, ioWeight *int
	effort               *ChoiceFlag
}

// noLimit is the value of a flag that ends a limit.
const noLimit = "none"

// AddTo adds the flags to a command.
func (l *Limits) AddTo(cmd *cobra.Command) {
	f := cmd.Flags()
	f.Var(Parsed(&l.memory, "size", orNone(config.ParseMemory)),
		"memory", "most memory of all its processes, with swap, such as 2g; none: no limit")
	f.Var(Parsed(&l.cpus, "number", orNone(config.ParseCPUs)),
		"cpus", "most CPUs that it uses at a time, such as 1.5; none: no limit")
	f.Var(Parsed(&l.pids, "number", limitFrom(1, swarm.MaxPIDs)),
		"pids", "most processes and threads; none: no limit")
	f.Var(Parsed(&l.nice, "-20..19", limitFrom(swarm.MinNice, swarm.MaxNice)),
		"nice", "priority of its processes, from -20 (first) to 19 (last); none: as usual")
	f.Var(Parsed(&l.ioWeight, "1..10000", limitFrom(1, swarm.MaxIOWeight)),
		"io-weight", "its share of storage bandwidth, where others have 100; none: as usual")
	l.effort = Choice(cmd, "limits", "if a limit can't be enforced: fail, or start anyway (default: strict)", "",
		config.LimitsStrict, config.LimitsBestEffort)
	CompleteWith(cmd, "memory", noLimit, "512m", "1g", "2g", "4g")
	CompleteWith(cmd, "cpus", noLimit, "0.5", "1", "2")
	CompleteWith(cmd, "pids", noLimit, "100", "500")
	CompleteWith(cmd, "nice", noLimit, "5", "10", "19")
	CompleteWith(cmd, "io-weight", noLimit, "10", "50")
}

// Given reports whether any of the flags was given.
func (l *Limits) Given() bool {
	return l.memory != nil || l.cpus != nil || l.pids != nil || l.nice != nil || l.ioWeight != nil
}

// Apply puts what was given into limits.
func (l *Limits) Apply(to *swarm.Limits) {
	apply(l.memory, &to.Memory)
	apply(l.cpus, &to.CPUs)
	apply(l.pids, &to.PIDs)
	apply(l.nice, &to.Nice)
	apply(l.ioWeight, &to.IOWeight)
	if l.effort != nil && l.effort.Value != "" {
		to.BestEffort = l.effort.Value == config.LimitsBestEffort
	}
}

// Own returns which limits the flags decide, "none" included.
func (l *Limits) Own() registry.Own {
	return registry.Own{
		Memory: l.memory != nil, CPUs: l.cpus != nil, PIDs: l.pids != nil, Nice: l.nice != nil, IOWeight: l.ioWeight != nil,
		Effort: l.effort != nil && l.effort.Value != "",
	}
}

// orNone returns a parser of limits that reads noLimit as the zero value.
func orNone[V any](parse func(string) (V, error)) func(string) (*V, error) {
	return func(s string) (*V, error) {
		if s == noLimit {
			return new(V), nil
		}
		return given(parse)(s)
	}
}

func limitFrom(least, most int) func(string) (*int, error) {
	return orNone(numberFrom(least, most, fmt.Sprintf("%d to %d, or none", least, most)))
}

func apply[V any](given, to *V) {
	if given != nil {
		*to = *given
	}
}
