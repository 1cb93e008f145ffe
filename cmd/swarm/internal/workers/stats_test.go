package workers

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/swarmhost/swarm/cmd/swarm/internal/apptest"
	"github.com/swarmhost/swarm/cmd/swarm/internal/output"
	"github.com/swarmhost/swarm/host/registry"
	"github.com/swarmhost/swarm/host/stats"
	"github.com/swarmhost/swarm/host/worker"
	"github.com/swarmhost/swarm/shared/swarm"
)

func TestStatsTable(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("a", 64)
	figures := []stats.Figures{
		{Worker: worker.Worker{Spec: registry.Spec{Name: "web"}}, CPU: new(1.2), Stats: &swarm.Stats{
			Usage:  swarm.Usage{CPUTime: new(151 * time.Second), Peak: new(int64(123 << 20)), Read: new(int64(0)), Written: new(int64(1000 << 20))},
			Memory: new(int64(100 << 20)), Processes: new(12), Threads: new(1024),
		}},
		{Worker: worker.Worker{Spec: registry.Spec{Name: long}, Exit: &swarm.Exit{Usage: &swarm.Usage{CPUTime: new(time.Second)}}}},
	}
	a, out, _ := apptest.New()
	a.Env = []string{"LANG=C.UTF-8", "NO_COLOR=1"}
	shown := func(width int) string {
		out.Reset()
		a.OutWidth = func() int { return width }
		printStats(a, figures)
		return out.String()
	}
	const want = `NAME              CPU     MEM    PEAK  PROCS  THREADS  READ  WRITTEN   TIME
web              120%  100MiB  123MiB     12     1024    0B   1.0GiB  2m31s
aaaaaaaaaaaaaa…     -       -       -      -        -     -        -  1.00s
`
	if diff := cmp.Diff(want, shown(75)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	for _, width := range []int{20, 40, 60, 80, 200} {
		for line := range strings.Lines(shown(width)) {
			if got := output.Columns(strings.TrimSuffix(line, "\n")); got > width {
				t.Errorf("%d columns in %d: %s", got, width, line)
			}
		}
	}
	if !strings.Contains(shown(0), "\n"+long+" ") {
		t.Errorf("piped it is\n%s", out)
	}
}

// Each table takes the place of the one before it.
func TestStatsRedraw(t *testing.T) {
	t.Parallel()
	a, out, _ := apptest.New()
	drawn := redraw(a, []string{"one", "two"}, 0)
	drawn = redraw(a, nil, drawn)
	redraw(a, []string{"three"}, drawn)
	if got := out.String(); got != "one\ntwo\n\x1b[2A\r\x1b[Jno worker runs\n\x1b[1A\r\x1b[Jthree\n" {
		t.Errorf("drawn %q", got)
	}
}
