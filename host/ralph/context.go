package ralph

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/swarmhost/swarm/shared/lazyregexp"
)

const (
	// contextEvery is how often the context is checked while the agent writes.
	contextEvery = 2 * time.Second
	// contextMargin is by how many percent an agent may go over the limit, which it
	// is asked to obey before.
	contextMargin = 15
	// statusLines is how many of the last lines may show the use of the context.
	statusLines = 3
)

// compacting is what agents show while they replace their context by a summary, after
// which they have forgotten most of the prompt.
var compacting = lazyregexp.New(`Compacting\s*conversation`)

var percentage = lazyregexp.New(`(\d+)%`)

// contextWatch reads the use of the context from the output of an agent.
type contextWatch struct {
	// limit is in percent; 0: none.
	limit int
	// compacted finds a compaction, but not in the echo of the prompt.
	compacted *doneMatcher
	found     bool
	// asked says that the agent was asked to finish.
	asked  bool
	looked time.Time
}

func (w *contextWatch) wrote(text []byte) { w.found = w.compacted.write(text) || w.found }

// quiet is called when nothing was written for a moment; open are the lines that are
// not finished.
func (w *contextWatch) quiet(open []string) { w.found = w.compacted.shows(open) || w.found }

// contextUsed returns the first percentage in the last lines that are not empty, or -1.
func contextUsed(lines []string) int {
	var last []string
	for _, line := range lines {
		if text := strings.TrimSpace(line); text != "" {
			last = append(last, text)
		}
	}
	for _, line := range last[max(0, len(last)-statusLines):] {
		if m := percentage().FindStringSubmatch(line); m != nil {
			if n, err := strconv.Atoi(m[1]); err == nil {
				return n
			}
		}
	}
	return -1
}

// watchContext ends the iteration when the agent compacts its context or uses too
// much of it, and asks it once to come to its end before. now is zero if nothing is
// being written.
func (it *iteration) watchContext(ctx context.Context, now time.Time) {
	w := &it.context
	i := it.state.Iteration
	switch {
	case it.outcome.ending != 0 || it.ready.waiting:
		return
	case w.found:
		it.say("compaction detected, killing iteration %d", i)
		it.log(eventFatal, "iteration %d -- compaction detected, killing", i)
		it.end(compacted)
		return
	case w.limit == 0 || !now.IsZero() && now.Sub(w.looked) < contextEvery:
		return
	}
	if w.looked = now; now.IsZero() {
		w.looked = time.Now()
	}
	switch used := contextUsed(it.screen.Shown()); {
	case used >= w.limit+contextMargin:
		it.say("context threshold exceeded (%d%%), killing iteration %d", used, i)
		it.log(eventFatal, "iteration %d -- context threshold exceeded, killing", i)
		it.end(overContext)
	case used >= w.limit && !w.asked && it.pasted == nil && !it.state.Headless:
		w.asked = true
		it.log(eventWarn, "iteration %d: context nudge sent at %d%%", i, used)
		nudge := fmt.Sprintf("You're at %d%% context. Commit WIP and /exit NOW.", w.limit)
		it.agent.busy.Go(func() { _ = it.paste(ctx, []byte(nudge)) })
	}
}
