package command

import (
	"errors"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/swarmhost/swarm/config"
	"github.com/swarmhost/swarm/shared/swarm"
)

// Limits are the flags that say what a worker may use.
type Limits struct {
	memory   memoryFlag
	cpus     cpusFlag
	pids     limitFlag
	nice     limitFlag
	ioWeight limitFlag
	effort   *ChoiceFlag
}

// noLimit is the value of a flag that ends a limit.
const noLimit = "none"

// AddTo adds the flags to a command.
func (l *Limits) AddTo(cmd *cobra.Command) {
	l.pids = limitFlag{least: 1, most: swarm.MaxPIDs, kind: "number"}
	l.nice = limitFlag{least: swarm.MinNice, most: swarm.MaxNice, kind: "-20..19"}
	l.ioWeight = limitFlag{least: 1, most: swarm.MaxIOWeight, kind: "1..10000"}
	f := cmd.Flags()
	f.Var(&l.memory, "memory", "most memory of all its processes, with swap, such as 2g; none: no limit")
	f.Var(&l.cpus, "cpus", "most CPUs that it uses at a time, such as 1.5; none: no limit")
	f.Var(&l.pids, "pids", "most processes and threads; none: no limit")
	f.Var(&l.nice, "nice", "priority of its processes, from -20 (first) to 19 (last); none: as usual")
	f.Var(&l.ioWeight, "io-weight", "its share of storage bandwidth, where others have 100; none: as usual")
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
	return l.memory.given || l.cpus.given || l.pids.given || l.nice.given || l.ioWeight.given
}

// Apply puts what was given into limits.
func (l *Limits) Apply(to *swarm.Limits) {
	if l.memory.given {
		to.Memory = l.memory.bytes
	}
	if l.cpus.given {
		to.CPUs = l.cpus.n
	}
	for _, f := range []struct {
		flag *limitFlag
		to   *int
	}{{&l.pids, &to.PIDs}, {&l.nice, &to.Nice}, {&l.ioWeight, &to.IOWeight}} {
		if f.flag.given {
			*f.to = f.flag.n
		}
	}
	if l.effort != nil && l.effort.Value != "" {
		to.BestEffort = l.effort.Value == config.LimitsBestEffort
	}
}

type memoryFlag struct {
	bytes int64
	given bool
}

func (f *memoryFlag) Set(s string) error {
	f.given = true
	if s == noLimit {
		f.bytes = 0
		return nil
	}
	n, err := config.ParseMemory(s)
	f.bytes = n
	return err
}
func (f *memoryFlag) Type() string   { return "size" }
func (f *memoryFlag) String() string { return "" }

type cpusFlag struct {
	n     float64
	given bool
}

func (f *cpusFlag) Set(s string) error {
	f.given = true
	if s == noLimit {
		f.n = 0
		return nil
	}
	n, err := config.ParseCPUs(s)
	f.n = n
	return err
}
func (f *cpusFlag) Type() string   { return "number" }
func (f *cpusFlag) String() string { return "" }

type limitFlag struct {
	n, least, most int
	given          bool
	kind           string
}

func (f *limitFlag) Set(s string) error {
	f.given = true
	if s == noLimit {
		f.n = 0
		return nil
	}
	n, err := strconv.Atoi(s)
	if err != nil || n < f.least || n > f.most {
		return errors.New("expected a number from " + strconv.Itoa(f.least) + " to " + strconv.Itoa(f.most) + ", or none")
	}
	f.n = n
	return nil
}
func (f *limitFlag) Type() string   { return f.kind }
func (f *limitFlag) String() string { return "" }
