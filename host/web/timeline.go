package web

import (
	"cmp"
	"fmt"
	"net/http"
	"slices"
	"time"

	"github.com/swarmhost/swarm/host/condition"
	"github.com/swarmhost/swarm/host/dash"
	"github.com/swarmhost/swarm/host/history"
	"github.com/swarmhost/swarm/shared/humane"
	"github.com/swarmhost/swarm/shared/safetext"
)

// timeline shows the lives of workers over time.
type timeline struct {
	Spans []span
	// Marks are the hours, or the like, below which they are shown.
	Marks []mark
	Lives []life
	Empty bool
}

// span is a choice of how much time is shown.
type span struct {
	Label, Href string
	Current     bool
	length      time.Duration
	every       time.Duration
	format      string
}

// mark is a line across all lives. At is in percent of the width.
type mark struct {
	At    string
	Label string
}

// life is one worker's bar. From and Width are in percent of the width.
type life struct {
	Name, Href string
	Tone       condition.Tone
	From       string
	Width      string
	// Open says that it goes on.
	Open  bool
	Ticks []tick
	// Text tells of it in words.
	Text       string
	begin, end time.Time
	// before says that it ended before the span.
	before bool
}

// tick is a restart, or a kill that was asked for.
type tick struct {
	At   string
	Tone condition.Tone
	Text string
}

var spans = []span{
	{Label: "5 minutes", Href: "5m", length: 5 * time.Minute, every: time.Minute, format: "15:04"},
	{Label: "15 minutes", Href: "15m", length: 15 * time.Minute, every: 3 * time.Minute, format: "15:04"},
	{Label: "1 hour", Href: "1h", length: time.Hour, every: 10 * time.Minute, format: "15:04"},
	{Label: "6 hours", Href: "6h", length: 6 * time.Hour, every: time.Hour, format: "15:04"},
	{Label: "1 day", Href: "1d", length: 24 * time.Hour, every: 4 * time.Hour, format: "15:04"},
	{Label: "1 week", Href: "7d", length: 7 * 24 * time.Hour, every: 24 * time.Hour, format: "2 Jan"},
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

// liveTimeline keeps the timeline of one browser current.
func (s *Server) liveTimeline(w http.ResponseWriter, r *http.Request) {
	s.livePart(w, r, "timeline", "lives", func() (any, error) { return s.timeline(r, time.Now()) })
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
	events, err := s.opts.Host.Events(r.Context(), history.Query{Since: begin})
	if err != nil {
		return timeline{}, err
	}
	t := timeline{Lives: livesOf(s.feed.first(r.Context()).Items, events, begin, now)}
	t.Empty = len(t.Lives) == 0
	for i, sp := range spans {
		sp.Current, sp.Href = i == chosen, "/timeline?span="+sp.Href
		t.Spans = append(t.Spans, sp)
	}
	t.Marks = marksOf(spans[chosen], begin, now)
	return t, nil
}

// marksOf returns the marks of a span at full hours, or the like, of the local time.
func marksOf(sp span, begin, end time.Time) []mark {
	var marks []mark
	_, offset := begin.Zone()
	shift := time.Duration(offset) * time.Second
	for at := begin.Add(shift).Truncate(sp.every).Add(-shift).Add(sp.every); at.Before(end); at = at.Add(sp.every) {
		share := at.Sub(begin).Seconds() / end.Sub(begin).Seconds()
		if share < 0.04 || share > 0.97 {
			continue // the label would be cut
		}
		marks = append(marks, mark{percentOf(share), at.Format(sp.format)})
	}
	return marks
}

// percentOf returns a share between 0 and 1 as an SVG has it.
func percentOf(share float64) string { return fmt.Sprintf("%.3f%%", 100*min(max(share, 0), 1)) }

// livesOf returns the lives between two moments, the newest first, as the history and the
// workers that are known tell them.
func livesOf(items []dash.Item, events []history.Event, begin, end time.Time) []life {
	byID := map[string]*life{}
	var order []*life
	get := func(id, name string) *life {
		l := byID[id]
		if l == nil {
			l = &life{Name: safetext.Line(name), Href: hrefOf(name), begin: begin, end: end, Open: true, Tone: condition.Good, Text: "runs"}
			byID[id] = l
			order = append(order, l)
		}
		return l
	}
	for _, i := range items {
		c := condition.Of(i.Worker)
		if c.Over && i.Ended.Before(begin) {
			continue
		}
		l := get(i.ID, i.Name)
		l.begin, l.Open, l.Tone, l.Text = i.Created, !c.Over, c.Kind.Tone(), c.Text
		if c.Over && !i.Ended.IsZero() {
			l.end = i.Ended
		}
	}
	share := func(t time.Time) string { return percentOf(t.Sub(begin).Seconds() / end.Sub(begin).Seconds()) }
	for _, e := range events {
		l := get(e.ID, e.Worker)
		switch {
		case e.Kind == history.Spawned || e.Kind == history.Adopted:
			l.begin = e.Time
		case e.Final:
			l.end, l.Open = e.Time, false
			if !known(items, e.ID) {
				l.Tone, l.Text = toneOfEvent(e), safetext.Line(e.String())
			}
			if e.Kind == history.Complete || e.Kind == history.Exited && l.Tone == condition.Good {
				l.Tone = condition.Quiet
			}
		case e.Kind == history.Restarted:
			l.Ticks = append(l.Ticks, tick{share(e.Time), condition.Waiting, "restarted"})
		case e.Kind == history.Blocked:
			l.Ticks = append(l.Ticks, tick{share(e.Time), condition.Asking, "asked"})
		case e.Kind == history.Cleaned && l.Open:
			l.before = true
		}
	}
	order = slices.DeleteFunc(order, func(l *life) bool { return l.before })
	slices.SortStableFunc(order, func(a, b *life) int {
		return cmp.Or(b.begin.Compare(a.begin), cmp.Compare(a.Name, b.Name))
	})
	lives := make([]life, 0, len(order))
	for _, l := range order[:min(len(order), maxLives)] {
		from := max(l.begin.Sub(begin), 0).Seconds() / end.Sub(begin).Seconds()
		to := l.end.Sub(begin).Seconds() / end.Sub(begin).Seconds()
		l.From, l.Width = percentOf(from), percentOf(max(to-from, 0.004)) // one that was short is seen too
		l.Text = safetext.Line(l.Text) + ", " + l.begin.Local().Format("2 Jan 15:04:05")
		if !l.Open {
			l.Text += " to " + l.end.Local().Format("15:04:05") + " (" + humane.Age(l.end.Sub(l.begin)) + ")"
		}
		lives = append(lives, *l)
	}
	return lives
}

func known(items []dash.Item, id string) bool {
	return slices.ContainsFunc(items, func(i dash.Item) bool { return i.ID == id })
}
