package swarm

import (
	"context"
	"strconv"
)

// Limits bound what a worker and everything that it starts may use together. The zero value
// sets no limit. A backend enforces each of them or refuses it; it never ignores one, unless
// BestEffort says so.
type Limits struct {
	// Memory is the limit of memory in bytes, including swap; 0: no limit. When the processes
	// need more, the system kills one of them. If that is the main process, the cause of the
	// worker's end is [CauseOutOfMemory].
	Memory int64 `json:"memory,omitempty"`
	// CPUs is the limit of CPU time per second: 1.5 is one and a half CPUs. 0: no limit. The
	// processes are slowed down, never ended.
	CPUs float64 `json:"cpus,omitempty"`
	// PIDs is the limit of processes and threads; 0: no limit. A fork beyond it fails.
	PIDs int `json:"pids,omitempty"`
	// Nice is added to the priority that processes get by default, from -20 (first) to 19
	// (last); 0 changes nothing.
	Nice int `json:"nice,omitempty"`
	// IOWeight is the share of storage bandwidth relative to others, from 1 to 10000, where 100
	// is what others have by default; 0 changes nothing.
	IOWeight int `json:"io_weight,omitempty"`
	// BestEffort starts the worker even if some limits can't be enforced, see
	// [Status.Unenforced]. Without it, such a limit is [ErrInvalidSpec].
	BestEffort bool `json:"best_effort,omitempty"`
}

// The bounds of the fields of [Limits].
const (
	MinMemory   = 1 << 20
	MinCPUs     = 0.01
	MaxCPUs     = 10000
	MaxPIDs     = 1 << 22
	MinNice     = -20
	MaxNice     = 19
	MaxIOWeight = 10000
)

// Check returns nil, or an [ErrInvalidSpec] that names the field out of bounds.
func (l Limits) Check() error {
	switch {
	case l.Memory != 0 && l.Memory < MinMemory:
		return &specError{"a limit of memory is at least 1 MiB"}
	case l.CPUs != 0 && !(l.CPUs >= MinCPUs && l.CPUs <= MaxCPUs): // not a number is neither
		return &specError{"a limit of CPUs is at least 0.01"}
	case l.PIDs < 0 || l.PIDs > MaxPIDs:
		return &specError{"a limit of processes is from 1 to " + strconv.Itoa(MaxPIDs)}
	case l.Nice < MinNice || l.Nice > MaxNice:
		return &specError{"a nice value is from -20 to 19"}
	case l.IOWeight < 0 || l.IOWeight > MaxIOWeight:
		return &specError{"an I/O weight is from 1 to 10000"}
	}
	return nil
}

// IsZero reports whether l sets no limit.
func (l Limits) IsZero() bool {
	l.BestEffort = false
	return l == Limits{}
}

// Needs returns the capabilities that a backend needs for l, one for each limit that is set.
func (l Limits) Needs() []Capability {
	var caps []Capability
	for _, limit := range []struct {
		set bool
		cap Capability
	}{
		{l.Memory != 0, CapLimitMemory},
		{l.CPUs != 0, CapLimitCPUs},
		{l.PIDs != 0, CapLimitPIDs},
		{l.Nice != 0, CapLimitNice},
		{l.IOWeight != 0, CapLimitIOWeight},
	} {
		if limit.set {
			caps = append(caps, limit.cap)
		}
	}
	return caps
}

// Limiter changes the limits of running workers.
type Limiter interface {
	// SetLimits replaces all limits of the worker by l: a zero field removes that limit. They
	// are in force when it returns, also after later restarts. It may be repeated. After an
	// error the limits are unchanged, as far as the engine allows.
	//
	// Errors: [ErrNotFound] for a worker that does not run, [ErrInvalidSpec] for a limit that
	// can't be enforced, such as less memory than the worker holds and can't give back.
	SetLimits(ctx context.Context, h Handle, l Limits) error
}

// Pauser pauses running workers.
type Pauser interface {
	// SetPaused stops all processes of the worker, or resumes them. When it returns nil for
	// paused, none of them runs, and [Status.Paused] is set until SetPaused is called
	// again. It may be repeated. Kill ends a paused worker like any other: its processes
	// are resumed to handle the signal.
	//
	// Errors: [ErrNotFound] for a worker that does not run, [ErrUnavailable] for one that
	// can't be paused at the moment, such as between two starts.
	SetPaused(ctx context.Context, h Handle, paused bool) error
}
