package workers

import (
	"context"
	"regexp"
	"time"

	"github.com/swarmhost/swarm/host"
	"github.com/swarmhost/swarm/host/screen"
	"github.com/swarmhost/swarm/shared/swarm"
)

// countMatches returns how many lines of the output that there is now match. It reads
// them as those are read that are printed.
func countMatches(ctx context.Context, h *host.Host, name string, options swarm.OutputOptions, re *regexp.Regexp) (n int, err error) {
	screens := map[swarm.Stream]*screen.Screen{}
	var joined []*screen.Lines
	live := options.Follow
	options.Follow = false
	err = h.Logs(ctx, name, options, func(o swarm.Output) error {
		s := screens[o.Stream]
		if s == nil {
			lines := &screen.Lines{Pattern: re, Line: func(l screen.Line) {
				if l.Begins {
					n++
				}
			}}
			s = &screen.Screen{Live: live, Line: lines.Add}
			screens[o.Stream], joined = s, append(joined, lines)
		}
		for _, s := range screens {
			s.Live = s.Live || len(screens) > 1
		}
		s.Write(o.Data, time.Time{})
		if !o.Partial {
			s.Write([]byte{'\n'}, time.Time{})
		}
		return nil
	})
	for _, s := range screens {
		s.Close()
	}
	for _, lines := range joined {
		lines.Close()
	}
	return n, err
}
