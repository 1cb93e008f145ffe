package swarm

import (
	"context"
	"time"
)

// Usage is what a worker has used since its spawn: all its processes, including those that
// have ended, over all restarts. A number that the backend can't know is nil, not 0.
type Usage struct {
	// CPUTime is the CPU time of its processes, user and system time, summed over all CPUs.
	CPUTime *time.Duration `json:",omitempty"`
	// Peak is the largest amount of memory that the worker is known to have held at one
	// moment, in bytes: it held at least that much. A backend that measures single
	// processes takes the peak of the largest process, or the current memory of all if that
	// is more.
	Peak *int64 `json:",omitempty"`
	// Read and Written are the bytes that it caused to be read from and written to
	// storage. Pipes, terminals, sockets and cached reads do not count.
	Read    *int64 `json:",omitempty"`
	Written *int64 `json:",omitempty"`
}

// MemoryKind says how the memory of several processes was added up. Readers keep kinds
// that they do not know.
type MemoryKind string

// The kinds of memory figures.
const (
	// MemoryPSS counts a page that several processes share in equal parts.
	MemoryPSS MemoryKind = "pss"
	// MemoryRSS counts a shared page once for each process: the sum may be more than the
	// worker holds.
	MemoryRSS MemoryKind = "rss"
)

// Stats are the figures of a running worker, summed over all its processes, at one moment.
// A figure that the backend can't know is nil, not 0.
type Stats struct {
	// Time is when it was measured; it is always set.
	Time time.Time
	Usage
	// CPUShare is the share of one CPU that the worker used just before Time: 1 is one
	// whole CPU. Only a backend that knows no CPUTime sets it. The host computes the share
	// of other workers from the CPUTime of two measurements.
	CPUShare *float64
	// Memory is the memory that the worker holds, in bytes; MemoryKind says how it was
	// counted and is empty if that is not known.
	Memory     *int64
	MemoryKind MemoryKind
	// Processes and Threads are their numbers, 0 between two starts.
	Processes *int
	Threads   *int
}

// Measurer measures what running workers use.
type Measurer interface {
	// Stats returns one result for each handle, in order: the figures of all processes of
	// the worker, including children in other sessions and orphans, and the usage of exited
	// ones. It changes nothing and never waits for a worker. It returns an error only if it
	// can't answer for any.
	//
	// Errors of one result: [ErrNotFound] for a worker that does not run, [ErrInvalidHandle]
	// when the handle can't be read, [ErrUnavailable] when the engine can't be asked or has
	// not measured the worker yet.
	Stats(ctx context.Context, hs []Handle) ([]StatsResult, error)
}

// CPUMeasurer is a [Measurer] that can measure the CPU time alone with less work. The host
// asks for that at the first of two looks, between which a share of a CPU is computed. A
// backend does not need it.
type CPUMeasurer interface {
	// CPUTimes is [Measurer].Stats for a caller who needs only Time and CPUTime: the backend
	// may leave out all else of a worker whose CPUTime it knows.
	CPUTimes(ctx context.Context, hs []Handle) ([]StatsResult, error)
}

// StatsResult is the result for one worker of a batch: its figures, or why it has none.
type StatsResult struct {
	Stats Stats
	Err   error
}
