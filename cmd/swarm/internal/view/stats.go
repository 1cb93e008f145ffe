package view

import (
	"time"

	"github.com/swarmhost/swarm/cmd/swarm/internal/output"
	"github.com/swarmhost/swarm/host"
	"github.com/swarmhost/swarm/shared/swarm"
)

// StatsJSON is what a worker uses as docs/stats.schema.json describes it. Fields are only
// ever added, at the end.
type StatsJSON struct {
	Name       string   `json:"name"`
	ID         string   `json:"id"`
	Status     string   `json:"status"`
	Time       *string  `json:"time"`
	CPU        *float64 `json:"cpu"`
	CPUSeconds *float64 `json:"cpu_seconds"`
	Memory     *int64   `json:"memory"`
	MemoryKind *string  `json:"memory_kind"`
	Peak       *int64   `json:"peak"`
	Processes  *int     `json:"processes"`
	Threads    *int     `json:"threads"`
	Read       *int64   `json:"read"`
	Written    *int64   `json:"written"`
}

// StatsJSONOf returns the figures of a worker.
func StatsJSONOf(f host.Figures) StatsJSON {
	used := f.Usage()
	j := StatsJSON{
		Name: f.Worker.Name, ID: f.Worker.ID, Status: string(f.Worker.Status),
		CPU: f.CPU, CPUSeconds: seconds(used.CPUTime), Peak: used.Peak, Read: used.Read, Written: used.Written,
	}
	if s := f.Stats; s != nil {
		j.Time, j.Memory, j.MemoryKind = output.TimeJSON(s.Time), s.Memory, output.OrNull(string(s.MemoryKind))
		j.Processes, j.Threads = s.Processes, s.Threads
	}
	return j
}

// UsageJSON is what a worker used until its end.
type UsageJSON struct {
	CPUSeconds *float64 `json:"cpu_seconds"`
	Peak       *int64   `json:"peak"`
	Read       *int64   `json:"read"`
	Written    *int64   `json:"written"`
}

// UsageJSONOf is null if nothing is known.
func UsageJSONOf(u *swarm.Usage) *UsageJSON {
	if u == nil {
		return nil
	}
	return &UsageJSON{CPUSeconds: seconds(u.CPUTime), Peak: u.Peak, Read: u.Read, Written: u.Written}
}

func seconds(d *time.Duration) *float64 {
	if d == nil {
		return nil
	}
	return new(d.Seconds())
}
