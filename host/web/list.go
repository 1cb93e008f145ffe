package web

import (
	"hash/maphash"
	"maps"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/swarmhost/swarm/host/condition"
	"github.com/swarmhost/swarm/host/dash"
	"github.com/swarmhost/swarm/host/worker"
	"github.com/swarmhost/swarm/shared/humane"
	"github.com/swarmhost/swarm/shared/safetext"
)

type row struct {
	ID, Name, Href string
	// Key names the row on its page.
	Key    string
	Kind   string
	Tone   condition.Tone
	Symbol string
	// State and Age are as in "exited 3" and "5m ago", with a comma between them if Over
	// says that the worker has ended. Since is the moment of the change.
	State, Age string
	Over       bool
	Since      string
	// Restarts is how often it was restarted, as in "↻4"; empty: never.
	Restarts string
	// Remark is what a person should know of the state, such as a question.
	Remark  string
	Command string
	// Place is the backend, with the window if there is one.
	Place  string
	Branch string
	Tags   []string
	Team   string
	// CPU and Memory are what it uses now; empty if that is not known.
	CPU, Memory string
}

type section struct {
	Name string
	// Label is the heading; empty: it has none.
	Label string
	// Href shows it without its rows, or with them if it is Folded.
	Href   string
	Folded bool
	Tone   condition.Tone
	// Count is how many rows it has, also if none is shown.
	Count int
	Rows  []row
}

type list struct {
	Sections []section
	Counts   []count
	Filter   string
	// Folds are the names of the folded sections.
	Folds         []string
	Groups, Sorts []option
	Heads         []columnHead
	// Empty says that there is no worker at all, Unread that they were not read yet.
	Empty, Unread bool
	Problem       string
	Total         int
	// Notes report actions on workers that have no page any more.
	Notes []note
}

// columnHead is the name of a column. Href shows the list sorted by it; empty: it can't be.
type columnHead struct {
	Label, Href string
	Sorted      bool
}

func headsOf(v dash.View) []columnHead {
	heads := []columnHead{{}}
	for _, c := range []struct {
		label string
		sort  dash.Sort
	}{{"Name", dash.SortName}, {"State", dash.SortUrgency}, {"Command", ""}, {"CPU", dash.SortCPU}, {"Memory", dash.SortMemory}, {"Tags, branch, backend", ""}} {
		head := columnHead{Label: c.label, Sorted: v.Sort == c.sort}
		if c.sort != "" {
			by := v
			by.Sort = c.sort
			head.Href = addressOf("/", by)
		}
		heads = append(heads, head)
	}
	return heads
}

type count struct {
	N     int
	Label string
	Tone  condition.Tone
}

func (s *Server) serveList(w http.ResponseWriter, r *http.Request) {
	if r.URL.Path != "/" {
		s.refuse(w, r, http.StatusNotFound, "There is no such page.")
		return
	}
	v := viewOf(r)
	now := s.feed.first(r.Context())
	l := listOf(now, v, time.Now())
	l.Notes = s.notes.ofGone(func(name string) bool { _, ok := now.find(name); return ok })
	s.show(w, page{Title: "Workers", Part: "list", Nav: "workers", Live: addressOf("/live", v), Data: l})
}

func listOf(s snapshot, v dash.View, now time.Time) list {
	l := list{
		Filter: v.Filter, Folds: folds(v), Heads: headsOf(v),
		Groups:  optionsOf(dash.Groups, groupLabels, dash.GroupNone, v.Group),
		Sorts:   optionsOf(dash.Sorts, sortLabels, dash.SortUrgency, v.Sort),
		Problem: safetext.Line(s.Problem), Unread: !s.Read, Empty: s.Read && len(s.Items) == 0, Total: len(s.Items),
	}
	l.Sections = sectionsOf(s, v, func(i dash.Item) row { return rowOf(i, now) })
	numbers := map[condition.Tone]int{}
	for _, i := range s.Items {
		c, doing := i.Condition(now)
		numbers[toneOf(c, doing)]++
	}
	for _, c := range []count{
		{Label: "asking", Tone: condition.Asking},
		{Label: "failed", Tone: condition.Bad},
		{Label: "waiting", Tone: condition.Waiting},
		{Label: "running", Tone: condition.Good},
		{Label: "ended", Tone: condition.Quiet},
	} {
		if c.N = numbers[c.Tone]; c.N > 0 {
			l.Counts = append(l.Counts, c)
		}
	}
	return l
}

func rowOf(i dash.Item, now time.Time) row {
	c, doing := i.Condition(now)
	r := row{
		ID: i.ID, Key: i.ID, Name: safetext.Line(i.Name), Href: hrefOf(i.Name), Kind: string(c.Kind), Tone: toneOf(c, doing),
		Symbol: c.Kind.Symbol(false), State: safetext.Line(c.Text), Age: c.Age(now), Over: c.Over,
		Since: stamp(c.Since), Remark: safetext.Line(i.Remark()), Command: safetext.Line(commandOf(i.Worker)),
		Place: safetext.Line(i.Backend), Team: safetext.Line(i.Team),
	}
	r.Restarts = c.RestartMark(false)
	if doing != "" {
		r.State, r.Age, r.Since, r.Restarts = doing, "", "", ""
	}
	if f := i.Figures; len(f) > 0 && i.Status == worker.StatusRunning {
		r.CPU, r.Memory = percent(f[len(f)-1].CPU), size(f[len(f)-1].Memory)
	}
	if i.Workspace != nil {
		r.Branch = safetext.Line(i.Workspace.Branch)
	}
	for _, tag := range i.Tags {
		r.Tags = append(r.Tags, safetext.Line(tag))
	}
	return r
}

// toneOf returns how a condition is shown. doing says what a person has asked for.
func toneOf(c condition.Condition, doing string) condition.Tone {
	if doing != "" {
		return condition.Waiting
	}
	return c.Kind.Tone()
}

func hrefOf(name string) string { return "/worker/" + url.PathEscape(name) }

// stamp returns a time as HTML has it; empty if it is not known.
func stamp(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format(time.RFC3339)
}

const maxCommand = 300

func commandOf(w worker.Worker) string { return safetext.Cut(w.CommandLine(), maxCommand) }

// percent returns a share of a CPU as people read it; empty if it is not known.
func percent(share float64) string {
	if share < 0 {
		return ""
	}
	return humane.Share(share)
}

// size returns an amount of memory as "12MiB"; empty if it is not known.
func size(n int64) string {
	if n < 0 {
		return ""
	}
	return humane.Bytes(n)
}

// listChange is what a stream sends of a list: the sections with the ids of their rows, and
// the HTML of the rows that have changed.
type listChange struct {
	Sections []sectionChange   `json:"sections"`
	Rows     map[string]string `json:"rows"`
	Head     string            `json:"head"`
	// Empty is what is shown instead of a list without rows.
	Empty string `json:"empty"`
}

type sectionChange struct {
	Name string `json:"name"`
	// Head is the HTML of the heading, Keys are those of the rows.
	Head string   `json:"head"`
	Keys []string `json:"keys"`
}

const ageLook = 5 * time.Second

var seed = maphash.MakeSeed()

func (s *Server) liveList(w http.ResponseWriter, r *http.Request) {
	v := viewOf(r)
	s.stream(w, r, func(out *stream) error {
		defer s.feed.watched()()
		shown := map[string]uint64{}
		var last uint64
		for {
			now := s.feed.now()
			if now.Read || now.Problem != "" {
				if err := out.title(titleOf("Workers", now)); err != nil {
					return err
				}
				change, err := s.changeOf(listOf(now, v, time.Now()), shown)
				if err != nil {
					return err
				}
				if sum := change.sum(); len(change.Rows) > 0 || sum != last {
					last = sum
					if err := out.json("list", change); err != nil {
						return err
					}
				}
			}
			if err := out.wait(now.changed, nil, ageLook); err != nil {
				return err
			}
		}
	})
}

// changeOf returns what has to be sent to a browser to show the list. shown has the sums of
// the rows that it shows, and is updated.
func (s *Server) changeOf(l list, shown map[string]uint64) (listChange, error) {
	c := listChange{Rows: map[string]string{}, Sections: []sectionChange{}}
	there := map[string]bool{}
	for _, sec := range l.Sections {
		head, err := s.render("sectionhead", sec)
		if err != nil {
			return c, err
		}
		sc := sectionChange{Name: sec.Name, Head: string(head), Keys: []string{}}
		for _, r := range sec.Rows {
			html, err := s.render("row", r)
			if err != nil {
				return c, err
			}
			there[r.Key] = true
			sc.Keys = append(sc.Keys, r.Key)
			if sum := maphash.Bytes(seed, html); shown[r.Key] != sum {
				shown[r.Key] = sum
				c.Rows[r.Key] = string(html)
			}
		}
		c.Sections = append(c.Sections, sc)
	}
	maps.DeleteFunc(shown, func(key string, _ uint64) bool { return !there[key] })
	head, err := s.render("head", l)
	if err != nil {
		return c, err
	}
	empty, err := s.render("empty", l)
	c.Head, c.Empty = string(head), string(empty)
	return c, err
}

// sum reports whether anything but the rows has changed.
func (c listChange) sum() uint64 {
	var h maphash.Hash
	h.SetSeed(seed)
	_, _ = h.WriteString(c.Head + "\x00" + c.Empty)
	for _, sec := range c.Sections {
		_, _ = h.WriteString("\x00" + sec.Head + "\x00" + strings.Join(sec.Keys, "\x00"))
	}
	return h.Sum64()
}
