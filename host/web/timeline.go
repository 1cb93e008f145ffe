package web

import (
	"cmp"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"time"

	"github.com/swarmhost/swarm/host/condition"
	"github.com/swarmhost/swarm/host/dash"
	"github.com/swarmhost/swarm/host/history"
	"github.com/swarmhost/swarm/host/registry"
	"github.com/swarmhost/swarm/host/worker"
	"github.com/swarmhost/swarm/shared/humane"
	"github.com/swarmhost/swarm/shared/safetext"
)

type timeline struct {
	Spans []span
	// Marks are the hours, or the like, below which they are shown.
	Marks  []mark
	Lives  []life
	Legend []legend
	Empty  bool
}

type span struct {
	Label, Href string
	Current     bool
	length      time.Duration
}

// mark is a line across all lives. At is in percent of the width.
type mark struct {
	At    string
	Label string
}

// life is one worker's bar. From and Width are in percent of the width.
type life struct {
	Name, Href string
	Fate       fate
	From       string
	Width      string
	// Open says that it continues.
	Open  bool
	Ticks []tick
	// Text reports it in words.
	Text       string
	begin, end time.Time
	// unsure says that it has ended, and that nothing reports when.
	unsure bool
	// lost says that its end is not recorded yet.
	lost bool
	// before says that it ended before the span.
	before bool
}

// fate is how a life is drawn: how the worker is, or how it ended. The style sheet has a
// class of each name.
type fate string

const (
	fateRunning fate = "runs"
	fateWaiting fate = "waits"
	fateAsking  fate = "asks"
	fateWell    fate = "well"
	fateKilled  fate = "killed"
	fateFailed  fate = "failed"
	fateLoop    fate = "loop"
	// fateLost is that of a worker whose exit is not known, and of one that can't be asked.
	fateLost fate = "lost"
)

type legend struct {
	Class, Label string
	Tick         bool
}

var legends = []legend{
	{Class: string(fateRunning), Label: "running"},
	{Class: string(fateWaiting), Label: "starting, restarting or paused"},
	{Class: string(fateAsking), Label: "asks"},
	{Class: string(fateWell), Label: "ended well"},
	{Class: string(fateKilled), Label: "killed"},
	{Class: string(fateFailed), Label: "failed"},
	{Class: string(fateLoop), Label: "crash loop"},
	{Class: string(fateLost), Label: "lost, or exit unknown"},
	{Class: "waiting", Label: "restart", Tick: true},
	{Class: "asking", Label: "question", Tick: true},
}

type tick struct {
	At   string
	Tone condition.Tone
	Text string
	time time.Time
}

var spans = []span{
	{Label: "5 minutes", Href: "5m", length: 5 * time.Minute},
	{Label: "15 minutes", Href: "15m", length: 15 * time.Minute},
	{Label: "1 hour", Href: "1h", length: time.Hour},
	{Label: "6 hours", Href: "6h", length: 6 * time.Hour},
	{Label: "1 day", Href: "1d", length: 24 * time.Hour},
	{Label: "1 week", Href: "7d", length: 7 * 24 * time.Hour},
}

// maxLives is how many lives a page shows at most, the newest ones.
const maxLives = 500

func (s *Server) serveTimeline(w http.ResponseWriter, r *http.Request) {
	t, err := s.timeline(r, time.Now())
	if err != nil {
		s.fail(w, r, err)
		return
	}
	s.show(w, page{Title: "Timeline", Part: "timeline", Nav: "timeline", Live: "/timeline/live?span=" + spans[spanOf(r)].Href, Data: t})
}

func (s *Server) liveTimeline(w http.ResponseWriter, r *http.Request) {
	s.livePart(w, r, "Timeline", "timeline", "lives", func() (any, error) { return s.timeline(r, time.Now()) })
}

// spanOf returns the index of the span that a request names; without one it is an hour.
func spanOf(r *http.Request) int {
	if i := slices.IndexFunc(spans, func(sp span) bool { return sp.Href == r.URL.Query().Get("span") }); i >= 0 {
		return i
	}
	return 2
}

func (s *Server) timeline(r *http.Request, now time.Time) (timeline, error) {
	chosen := spanOf(r)
	begin := now.Add(-spans[chosen].length)
	drawn := newLives(s.feed.first(r.Context()).Items, begin, now)
	for q := (registry.EventQuery{Since: begin, First: eventsAtOnce}); ; {
		events, err := s.opts.Host.Events(r.Context(), q)
		if err != nil {
			return timeline{}, err
		}
		for _, e := range events {
			drawn.add(e)
		}
		if len(events) < eventsAtOnce {
			break
		}
		q.After = events[len(events)-1].Seq
	}
	lives := drawn.list()
	begin = beginOf(lives, begin, now)
	place(lives, begin, now)
	t := timeline{Lives: lives, Empty: len(lives) == 0, Marks: marksOf(begin, now), Legend: legends}
	for i, sp := range spans {
		sp.Current, sp.Href = i == chosen, "/timeline?span="+sp.Href
		t.Spans = append(t.Spans, sp)
	}
	return t, nil
}

const shortest = time.Minute

// beginOf returns where the axis of lives begins: at the beginning of the span, or a little
// before the first life if that is later, so that the workers of the last minutes use the
// whole width.
func beginOf(lives []life, begin, end time.Time) time.Time {
	if len(lives) == 0 {
		return begin
	}
	first := slices.MinFunc(lives, func(a, b life) int { return a.begin.Compare(b.begin) }).begin
	first = first.Add(-end.Sub(first) / 50)
	if latest := end.Add(-shortest); first.After(latest) {
		first = latest
	}
	if first.Before(begin) {
		return begin
	}
	return first
}

// marksEvery are the distances that marks may have, and mostMarks is how many there are at most.
var marksEvery = []struct {
	every  time.Duration
	format string
}{
	{10 * time.Second, "15:04:05"},
	{30 * time.Second, "15:04:05"},
	{time.Minute, "15:04"},
	{3 * time.Minute, "15:04"},
	{10 * time.Minute, "15:04"},
	{30 * time.Minute, "15:04"},
	{time.Hour, "15:04"},
	{4 * time.Hour, "15:04"},
	{24 * time.Hour, "2 Jan"},
}

const mostMarks = 7

func marksOf(begin, end time.Time) []mark {
	step := marksEvery[len(marksEvery)-1]
	for _, s := range slices.Backward(marksEvery) {
		if end.Sub(begin) <= mostMarks*s.every {
			step = s
		}
	}
	var marks []mark
	_, offset := begin.Zone()
	shift := time.Duration(offset) * time.Second
	for at := begin.Add(shift).Truncate(step.every).Add(-shift).Add(step.every); at.Before(end); at = at.Add(step.every) {
		share := at.Sub(begin).Seconds() / end.Sub(begin).Seconds()
		if share < 0.04 || share > 0.97 {
			continue // the label would be cut
		}
		marks = append(marks, mark{percentOf(share), at.Format(step.format)})
	}
	return marks
}

// percentOf returns a share between 0 and 1 as an SVG has it.
func percentOf(share float64) string { return fmt.Sprintf("%.3f%%", 100*min(max(share, 0), 1)) }

// eventsAtOnce is how many events are read at a time.
const eventsAtOnce = 1000

// maxTicks is how many ticks a life has at most, the newest ones.
const maxTicks = 200

// lives are the lives between two moments, as the history and the workers that are known show
// them. Their memory does not depend on the number of events, but on that of workers.
type lives struct {
	begin, end time.Time
	byID       map[string]*life
	order      []*life
	known      map[string]bool
}

func newLives(items []dash.Item, begin, end time.Time) *lives {
	ls := &lives{begin: begin, end: end, byID: map[string]*life{}, known: map[string]bool{}}
	for _, i := range items {
		ls.known[i.ID] = true
		c := condition.Of(i.Worker)
		if c.Over && !i.Ended.IsZero() && i.Ended.Before(begin) {
			continue
		}
		l := ls.get(i.ID, i.Name)
		l.begin, l.Open, l.Fate, l.Text = i.Created, !c.Over, fateOf(c, i), c.Text
		if l.unsure = c.Over && i.Ended.IsZero(); c.Over && !l.unsure {
			l.end = i.Ended
		}
		l.lost = i.Status == worker.StatusLost
	}
	return ls
}

func (ls *lives) get(id, name string) *life {
	l := ls.byID[id]
	if l == nil {
		l = &life{Name: safetext.Line(name), Href: hrefOf(name), begin: ls.begin, end: ls.end, Open: true, Fate: fateRunning, Text: "runs"}
		ls.byID[id] = l
		if ls.order = append(ls.order, l); len(ls.order) > livesKept {
			ls.prune()
		}
	}
	return l
}

// livesKept is how many lives are remembered until the oldest ones are forgotten.
const livesKept = 8 * maxLives

// prune forgets lives that began so early that they are not shown. If an event names one of them
// later, it counts as one that began before the span, and is not shown either.
func (ls *lives) prune() {
	slices.SortStableFunc(ls.order, func(a, b *life) int { return b.begin.Compare(a.begin) })
	keep := map[*life]bool{}
	for _, l := range ls.order[:livesKept/2] {
		keep[l] = true
	}
	maps.DeleteFunc(ls.byID, func(_ string, l *life) bool { return !keep[l] })
	clear(ls.order[livesKept/2:])
	ls.order = ls.order[:livesKept/2]
}

func (ls *lives) add(e registry.Event) {
	l := ls.get(e.ID, e.Worker)
	switch {
	case e.Kind == history.Spawned || e.Kind == history.Adopted:
		l.begin = e.Time
	case e.Final:
		l.end, l.Open, l.unsure = e.Time, false, false
		if !ls.known[e.ID] && l.Fate != fateLoop {
			l.Fate, l.Text = fateOfEnd(e), safetext.Line(e.String())
		}
	case e.Kind == history.CrashLoop && !ls.known[e.ID]:
		l.Fate, l.Text = fateLoop, safetext.Line(e.String())
	case e.Kind == history.Restarted:
		l.tick(tick{time: e.Time, Tone: condition.Waiting, Text: "restarted"})
	case e.Kind == history.Blocked:
		l.tick(tick{time: e.Time, Tone: condition.Asking, Text: "asked"})
	case e.Kind == history.Limited:
		l.tick(tick{time: e.Time, Tone: condition.Bad, Text: "limited"})
	case e.Kind == history.Broken:
		l.tick(tick{time: e.Time, Tone: condition.Bad, Text: "broken"})
	case e.Kind == history.Cleaned && l.Open:
		l.before = true
	}
}

func (l *life) tick(t tick) {
	if len(l.Ticks) == maxTicks {
		l.Ticks = append(l.Ticks[:0], l.Ticks[1:]...)
	}
	l.Ticks = append(l.Ticks, t)
}

// list returns the lives, the newest first.
func (ls *lives) list() []life {
	order := slices.DeleteFunc(ls.order, func(l *life) bool {
		// An end that is written down, and not in the span, was before it.
		return l.before || l.unsure && !l.lost && l.begin.Before(ls.begin)
	})
	slices.SortStableFunc(order, func(a, b *life) int {
		return cmp.Or(b.begin.Compare(a.begin), cmp.Compare(a.Name, b.Name))
	})
	all := make([]life, 0, min(len(order), maxLives))
	for _, l := range order[:min(len(order), maxLives)] {
		all = append(all, *l)
	}
	return all
}

func place(lives []life, begin, end time.Time) {
	share := func(t time.Time) float64 { return t.Sub(begin).Seconds() / end.Sub(begin).Seconds() }
	for n := range lives {
		l := &lives[n]
		from := max(share(l.begin), 0)
		l.From, l.Width = percentOf(from), percentOf(max(share(l.end)-from, 0.004)) // one that was short is seen too
		for i := range l.Ticks {
			l.Ticks[i].At = percentOf(share(l.Ticks[i].time))
		}
		l.Text = safetext.Line(l.Text) + ", " + l.begin.Local().Format("2 Jan 15:04:05")
		switch {
		case l.unsure:
			l.Text += " to an unknown time"
		case !l.Open:
			l.Text += " to " + l.end.Local().Format("15:04:05") + " (" + humane.Age(l.end.Sub(l.begin)) + ")"
		}
	}
}

// fates are how workers are drawn that are so, and fatesOfEnd those that ended so.
var (
	fates = map[condition.Kind]fate{
		condition.Blocked: fateAsking, condition.CrashLoop: fateLoop, condition.Lost: fateLost, condition.Unknown: fateLost,
		condition.Failed: fateFailed, condition.Broken: fateFailed, condition.Limited: fateFailed,
		condition.Restarting: fateWaiting, condition.Starting: fateWaiting, condition.Paused: fateWaiting,
		condition.Succeeded: fateWell, condition.Completed: fateWell, condition.Killed: fateKilled,
	}
	fatesOfEnd = map[registry.EventKind]fate{
		history.Complete: fateWell, history.Exited: fateWell, history.Killed: fateKilled, history.Died: fateLost,
	}
)

func fateOf(c condition.Condition, i dash.Item) fate {
	if c.Kind == condition.Failed && c.Over && i.Exit == nil {
		return fateLost
	}
	return cmp.Or(fates[c.Kind], fateRunning)
}

func fateOfEnd(e registry.Event) fate {
	if e.Kind == history.Exited && e.Exit != nil && e.Exit.Code != 0 {
		return fateFailed
	}
	return cmp.Or(fatesOfEnd[e.Kind], fateFailed)
}
