package web

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/swarmhost/swarm/host/dash"
	"github.com/swarmhost/swarm/host/profile"
	"github.com/swarmhost/swarm/shared/safetext"
)

// verbs are those that pages offer, in the order of their buttons.
var verbs = []dash.Verb{dash.Answer, dash.Send, dash.Interrupt, dash.Respawn, dash.Clean, dash.Kill}

type action struct {
	Verb  dash.Verb
	Label string
	Href  string
	// Danger says that it ends something.
	Danger bool
}

// choice is an answer to the question of an agent. Value is what the agent calls it, and
// Href is the page that asks before it is given. Box says that it has a box, and Checked that
// this is checked.
type choice struct {
	Key, Text, Value, Href string
	Box, Checked           bool
}

func actionsOf(i dash.Item) []action {
	var all []action
	for _, v := range verbs {
		if v.Suits(i) {
			all = append(all, action{v, dash.Title(string(v)), hrefOf(i.Name) + "/do/" + string(v), v == dash.Kill})
		}
	}
	return all
}

func choicesOf(i dash.Item) []choice {
	if i.State.Urgency != dash.Attention || i.Worker.State == nil {
		return nil
	}
	var all []choice
	boxes := profile.HasBoxes(i.Worker.State.Choices)
	for _, c := range i.Worker.State.Choices {
		values := url.Values{"choice": {c.Label}}
		if boxes || c.Kind == profile.KindText {
			values.Del("choice") // the form has them all
		}
		if digest := i.Digest(); digest != "" {
			values.Set("digest", digest)
		}
		href := hrefOf(i.Name) + "/do/" + string(dash.Answer) + "?" + values.Encode()
		all = append(all, choice{
			Key: safetext.Line(c.Key), Text: safetext.Line(c.Label), Value: c.Label, Href: href,
			Box: c.Checked != nil, Checked: c.Checked != nil && *c.Checked,
		})
	}
	return all
}

type question struct {
	row
	Verb dash.Verb
	// Label is on the button, Heading above it all.
	Label, Heading string
	// About says what will be done; empty: the heading says it.
	About string
	// Line is the command line that does the same.
	Line string
	// Risk is what could be lost, one line each.
	Risk      []string
	TakesText bool
	Choices   []choice
	// Boxes says that several choices can be checked, which are sent together. Field is the
	// name of the field for a text of one's own; empty: there is none.
	Boxes bool
	Field string
	// Choice is the answer that was chosen already; nil: none.
	Choice *choice
	// Dialog are the lines of what the agent asks, and Digest identifies it. The form hands
	// it back, so that no other dialog is answered.
	Dialog []string
	Digest string
	// Changed says that the agent asked something else when the answer was chosen.
	Changed bool
	Danger  bool
}

// headings ask whether a verb is to be used on a worker, and abouts say what it does.
var (
	headings = map[dash.Verb]string{
		dash.Send: "Send a line to %s", dash.Answer: "Answer the question of %s",
		dash.Interrupt: "Press Ctrl-C in %s?", dash.Respawn: "Start %s again?",
	}
	abouts = map[dash.Verb]string{
		dash.Kill:    "The worker and everything it started will end. Its log and its files stay.",
		dash.Respawn: "The same command runs again, in the same directory.",
		dash.Clean:   "The worker leaves the list.",
		dash.Send:    "The line is typed in, and Enter is pressed.",
	}
)

// heading returns the heading of the page that asks. The name is fit for a page.
func heading(v dash.Verb, name string) string {
	return fmt.Sprintf(cmp.Or(headings[v], dash.Title(string(v))+" %s?"), name)
}

func about(v dash.Verb, i dash.Item) string {
	if v == dash.Respawn && !i.Gone() {
		return "The present run ends first. " + abouts[v]
	}
	return abouts[v]
}

func (s *Server) serveQuestion(w http.ResponseWriter, r *http.Request) {
	a, ok := s.actionFor(w, r)
	if !ok {
		return
	}
	seen := r.URL.Query().Get("digest")
	s.ask(w, r, http.StatusOK, a, seen != "" && seen != a.Items[0].Digest())
}

// ask shows the page that asks before an action. changed says that the agent asks something
// else than what the person has seen.
func (s *Server) ask(w http.ResponseWriter, r *http.Request, code int, a dash.Action, changed bool) {
	i := a.Items[0]
	var chosen *choice
	if a.Verb.TakesText() {
		a.Text = "…"
	}
	if a.Verb == dash.Answer {
		want := r.URL.Query().Get("choice")
		for _, c := range choicesOf(i) {
			if want != "" && c.Value == want && !changed {
				chosen, a.Text = &c, c.Value
			}
		}
	}
	q := question{
		row: rowOf(i, time.Now()), Verb: a.Verb, Label: dash.Title(string(a.Verb)), About: about(a.Verb, i),
		Line: safetext.Line(strings.ReplaceAll(a.Line(), "'…'", "…")), Risk: a.Risk(time.Now()),
		TakesText: a.Verb.TakesText() && chosen == nil, Choice: chosen, Danger: a.Verb == dash.Kill,
	}
	q.Heading = heading(a.Verb, q.Name)
	for at, line := range q.Risk {
		q.Risk[at] = safetext.Line(line)
	}
	if a.Verb == dash.Answer && chosen == nil {
		q.fill(i)
	}
	if a.Verb == dash.Answer {
		// The choices are below it.
		q.Dialog, q.Digest, q.Changed = dash.DialogLines(i.Dialog(), false), i.Digest(), changed
	}
	s.showAs(w, code, page{Title: q.Label + " " + i.Name, Part: "question", Nav: "worker", Data: q})
}

// fill offers all choices of a dialog, and its field.
func (q *question) fill(i dash.Item) {
	if i.Worker.State == nil {
		return
	}
	all := i.Worker.State.Choices
	q.Boxes = profile.HasBoxes(all)
	if at := profile.IndexKind(all, profile.KindText); at >= 0 {
		q.Field = safetext.Line(all[at].Label)
	}
	for at, c := range choicesOf(i) {
		if kind := all[at].Kind; kind == profile.KindText || q.Boxes && kind == profile.KindSubmit {
			continue
		}
		q.Choices = append(q.Choices, c)
	}
}

// readAnswer reads the answer to a dialog from its form.
func readAnswer(a *dash.Action, r *http.Request) {
	a.Field = strings.TrimSpace(r.PostFormValue("field"))
	a.Submit = r.PostFormValue("submit") != ""
	a.Choices = r.PostForm["box"]
	if a.Submit || a.Field != "" {
		a.Text = "" // the field is the answer, and not the choice that was selected before
	}
}

// actionFor returns the action that a request names, or answers that it can't be done.
func (s *Server) actionFor(w http.ResponseWriter, r *http.Request) (dash.Action, bool) {
	i, ok := s.find(w, r)
	if !ok {
		return dash.Action{}, false
	}
	v := dash.Verb(r.PathValue("verb"))
	switch {
	case !s.opts.Write:
		s.refuse(w, r, http.StatusForbidden, "This server only shows workers. ‘swarm web --write’ starts one that acts on them.")
	case !slices.Contains(verbs, v):
		s.refuse(w, r, http.StatusNotFound, "There is no such action.")
	case !v.Suits(i):
		s.refuseWith(w, r, http.StatusConflict, refusal{Why: "The worker has changed: this can't be done any more.", Back: hrefOf(i.Name)})
	default:
		return dash.Action{Verb: v, Items: []dash.Item{i}}, true
	}
	return dash.Action{}, false
}

// soon is how long an answer waits for an action to be done. A longer one continues, and the
// page of the worker reports its end.
const soon = 700 * time.Millisecond

func (s *Server) serveAction(w http.ResponseWriter, r *http.Request) {
	a, ok := s.actionFor(w, r)
	if !ok {
		return
	}
	i := a.Items[0]
	// The page that asked was about this worker, not about one that has taken its name since.
	if r.PostFormValue("id") != i.ID {
		s.refuseWith(w, r, http.StatusConflict, refusal{Why: "The worker has changed: look at it again before you act.", Back: hrefOf(i.Name)})
		return
	}
	a.Text = r.PostFormValue("text")
	if a.Verb == dash.Answer {
		readAnswer(&a, r)
	}
	if a.Verb.TakesText() && strings.TrimSpace(a.Text) == "" && !a.Submit && a.Field == "" {
		s.refuseWith(w, r, http.StatusBadRequest, refusal{Why: "There is no text to send.", Back: hrefOf(i.Name)})
		return
	}
	if a.Digest = r.PostFormValue("digest"); a.Verb == dash.Answer && a.Digest != i.Digest() {
		s.ask(w, r, http.StatusConflict, a, true)
		return
	}
	done := make(chan struct{})
	s.acting.Go(func() {
		defer close(done)
		ctx, cancel := context.WithCancel(context.WithoutCancel(r.Context()))
		defer cancel()
		stop := context.AfterFunc(s.life, cancel)
		defer stop()
		for _, out := range s.feed.Do(ctx, s.opts.Host, a) {
			s.notes.add(i.Name, a.Verb, out)
		}
		s.feed.announce()
	})
	limit := time.NewTimer(soon)
	defer limit.Stop()
	select {
	case <-done:
	case <-limit.C:
	}
	to := s.base + hrefOf(i.Name)
	if _, there := s.feed.now().find(i.Name); !there || a.Verb == dash.Clean && s.notes.succeeded(i.Name) {
		to = s.base + "/"
	}
	http.Redirect(w, r, to, http.StatusSeeOther)
}

type note struct {
	// Name is the worker's, Text what was done with it, or the error.
	Name, Text string
	// More are further lines.
	More  []string
	Bad   bool
	Clock string
	at    time.Time
	verb  dash.Verb
}

// notes are what pages say of actions that are done.
type notes struct {
	mu  sync.Mutex
	all map[string][]note
}

const (
	// notesKept is how many notes of a worker are remembered, for noteShown.
	notesKept = 3
	noteShown = time.Minute
	// workersNoted is how many workers have notes.
	workersNoted = 200
)

func (n *notes) add(name string, v dash.Verb, out dash.Outcome) {
	now := time.Now()
	fresh := note{Name: safetext.Line(name), Text: strings.TrimRight(strings.TrimSuffix(v.Past(), " to"), ":"), Clock: now.Format("15:04:05"), at: now, verb: v}
	if out.Err != nil {
		fresh.Text, fresh.Bad = safetext.Line(out.Err.Error()), true
	}
	for _, line := range out.Notes {
		fresh.More = append(fresh.More, safetext.Line(line))
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.all == nil || len(n.all) >= workersNoted {
		n.all = map[string][]note{}
	}
	all := append(n.all[name], fresh)
	n.all[name] = all[max(0, len(all)-notesKept):]
}

func (n *notes) of(name string) []note {
	n.mu.Lock()
	defer n.mu.Unlock()
	var all []note
	for _, one := range slices.Backward(n.all[name]) {
		if time.Since(one.at) < noteShown {
			all = append(all, one)
		}
	}
	return all
}

// ofGone returns the notes of workers that are gone, or about to go, the newest first. there
// reports whether there is a worker of a name.
func (n *notes) ofGone(there func(name string) bool) []note {
	n.mu.Lock()
	defer n.mu.Unlock()
	var all []note
	for name, some := range n.all {
		last := some[len(some)-1]
		if time.Since(last.at) < noteShown && (!there(name) || last.verb == dash.Clean && !last.Bad) {
			all = append(all, last)
		}
	}
	slices.SortFunc(all, func(a, b note) int { return b.at.Compare(a.at) })
	return all
}

// succeeded reports whether the last action on a worker did what it should.
func (n *notes) succeeded(name string) bool {
	all := n.of(name)
	return len(all) > 0 && !all[0].Bad
}
