package swarm

import (
	"context"
	"time"
)

// Usage is what a worker has used since its spawn: all its processes, those that have
// ended, and all its restarts. A number that the backend can't know is nil, not 0.
type Usage struct {
	// CPUTime is the time that its processes have spent on CPUs, of the user's and of the
	// system's code, all CPUs added.
	CPUTime *time.Duration `json:",omitempty"`
	// Peak is the largest amount of memory that the worker is known to have held at one
	// moment, in bytes: it held at least that much. A backend that measures single
	// processes takes the peak of the largest one, or the present memory of all if that is
	// more.
	Peak *int64 `json:",omitempty"`
	// Read and Written are the bytes that it caused to be read from and written to
	// storage. Pipes, terminals, sockets and what the system had in its cache do not count.
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
	// MemoryRSS counts a page that several processes share once for each: the sum may be
	// more than the worker holds.
	MemoryRSS MemoryKind = "rss"
)

// Stats are the figures of a running worker, of all its processes, at one moment. A figure
// that the backend can't know is nil, not 0.
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
	// Processes and Threads are how many it has. Between two starts it has none.
	Processes *int
	Threads   *int
}

// Measurer measures what running workers use.
type Measurer interface {
	// Stats returns one result for each handle, in their order: the figures of all
	// processes of the worker, children in other sessions and orphans included, and what
	// the exited ones have used. It changes nothing and never waits for a worker. An error
	// is returned only if none can be answered.
	//
	// Errors of one result: [ErrNotFound] for a worker that does not run, [ErrInvalidHandle]
	// when the handle can't be read, [ErrUnavailable] when the engine can't be asked or has
	// not measured the worker yet.
	Stats(ctx context.Context, hs []Handle) ([]StatsResult, error)
}

// StatsResult is the answer for one worker of a batch: its figures, or why there are none.
type StatsResult struct {
	Stats Stats
	Err   error
}
