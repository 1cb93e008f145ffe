package server

import (
	"testing"
	"time"

	"github.com/swarmhost/swarm/shared/swarm"
)

func TestDelay(t *testing.T) {
	t.Parallel()
	const year = 365 * 24 * 3600 * 1000
	for _, tt := range []struct {
		min, max int64
		row      int
		want     time.Duration
	}{
		{1000, 30_000, 0, time.Second},
		{1000, 30_000, 1, 2 * time.Second},
		{1000, 30_000, 4, 16 * time.Second},
		{1000, 30_000, 5, 30 * time.Second},
		{1000, 30_000, 1000, 30 * time.Second},
		{year, year, 31, year * time.Millisecond},
		{1, year, 31, 1 << 31 * time.Millisecond},
		{0, 0, 3, 0},
	} {
		r := restarts{Restart: swarm.Restart{MinDelay: time.Duration(tt.min) * time.Millisecond, MaxDelay: time.Duration(tt.max) * time.Millisecond}, row: tt.row}
		longest := min(tt.want*6/5+1, max(time.Duration(tt.max)*time.Millisecond, 1))
		for range 100 {
			if d := r.delay(); d < tt.want*4/5 || d > longest {
				t.Fatalf("%+v: %v", tt, d)
			}
		}
	}
}
