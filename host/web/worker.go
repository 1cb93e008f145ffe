package web

import (
	"context"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/swarmhost/swarm/host"
	"github.com/swarmhost/swarm/host/condition"
	"github.com/swarmhost/swarm/host/dash"
	"github.com/swarmhost/swarm/host/registry"
	"github.com/swarmhost/swarm/shared/humane"
	"github.com/swarmhost/swarm/shared/safetext"
	"github.com/swarmhost/swarm/shared/sleep"
	"github.com/swarmhost/swarm/shared/wake"
)

type workerPage struct {
	Head workerHead
	Tabs []tab
	// Tab is the name of the one that is shown.
	Tab     string
	Facts   dash.Facts
	Changes changes
	History []moment
}

// workerHead is the part of the page that is the same on all tabs.
type workerHead struct {
	row
	Plots   []plot
	Actions []action
	// Dialog are the lines of what its agent asks, and Choices the answers that it offers.
	Dialog  []string
	Choices []choice
	Notes   []note
}

type tab struct{ Name, Label, Href string }

type moment struct {
	// Time is as programs read it, Date and Clock as people do.
	Time, Date, Clock string
	Worker, Href      string
	Kind, Text        string
	Tone              condition.Tone
}

// find returns the worker of a request, or answers that there is none.
func (s *Server) find(w http.ResponseWriter, r *http.Request) (dash.Item, bool) {
	now := s.feed.first(r.Context())
	i, ok := now.find(r.PathValue("name"))
	if !ok {
		s.refuseWith(w, r, http.StatusNotFound, refusal{
			Why: "There is no such worker. Its history may still be known:", Back: "/",
			Line: "swarm " + safetext.Line(humane.Command([]string{"events", "--worker", r.PathValue("name")})),
		})
	}
	return i, ok
}

func (s *Server) serveWorker(w http.ResponseWriter, r *http.Request) {
	i, ok := s.find(w, r)
	if !ok {
		return
	}
	s.feed.See(i.ID)
	now := time.Now()
	p := workerPage{Head: s.headOf(i, now), Tabs: tabsOf(i), Tab: r.PathValue("tab")}
	if p.Tab == "" {
		p.Tab = p.Tabs[0].Name
	}
	switch {
	case !slices.ContainsFunc(p.Tabs, func(t tab) bool { return t.Name == p.Tab }):
		s.refuse(w, r, http.StatusNotFound, "There is no such page.")
		return
	case p.Tab == "details":
		var err error
		if p.Facts, err = s.factsOf(r.Context(), i); err != nil {
			s.fail(w, r, err)
			return
		}
	case p.Tab == "diff":
		p.Changes = s.changesOf(r.Context(), i)
	case p.Tab == "history":
		last := 500
		events, err := s.opts.Host.Events(r.Context(), registry.EventQuery{Worker: i.Name, Last: &last})
		if err != nil {
			s.fail(w, r, err)
			return
		}
		for _, e := range slices.Backward(events) {
			p.History = append(p.History, momentOf(e))
		}
	}
	s.show(w, page{
		Title: i.Name, Part: "worker", Nav: "worker", Data: p,
		Live: hrefOf(i.Name) + "/live?" + url.Values{"tab": {p.Tab}}.Encode(),
	})
}

func (s *Server) fail(w http.ResponseWriter, r *http.Request, err error) {
	s.refuse(w, r, http.StatusInternalServerError, safetext.Line(err.Error()))
}

func (s *Server) factsOf(ctx context.Context, i dash.Item) (dash.Facts, error) {
	d, _, err := s.opts.Host.Details(ctx, i.ID, host.DetailsRequest{})
	if err != nil {
		return dash.Facts{}, err
	}
	return dash.FactsOf(d), nil
}

func tabsOf(i dash.Item) []tab {
	base := hrefOf(i.Name)
	var tabs []tab
	if i.Where.Kind != "" {
		tabs = append(tabs, tab{"screen", "Screen", base + "/screen"})
	}
	tabs = append(tabs, tab{"log", "Log", base + "/log"})
	if i.Workspace != nil {
		tabs = append(tabs, tab{"diff", "Diff", base + "/diff"})
	}
	return append(tabs, tab{"details", "Details", base + "/details"}, tab{"history", "History", base + "/history"})
}

func (s *Server) headOf(i dash.Item, now time.Time) workerHead {
	h := workerHead{row: rowOf(i, now), Plots: plotsOf(i), Dialog: dash.DialogLines(i.Dialog(), !s.opts.Write)}
	if s.opts.Write {
		h.Actions, h.Choices = actionsOf(i), choicesOf(i)
		h.Notes = s.notes.of(i.Name)
	}
	return h
}

func momentOf(e registry.Event) moment {
	return moment{
		Time: stamp(e.Time), Date: e.Time.Local().Format("2 Jan 2006"), Clock: e.Time.Local().Format("15:04:05"),
		Worker: safetext.Line(e.Worker), Href: hrefOf(e.Worker),
		Kind: strings.ToLower(safetext.Line(string(e.Kind))), Text: safetext.Line(e.Text), Tone: dash.ToneOf(e),
	}
}

const (
	// headLook is how often the ages in a head are written anew.
	headLook = 5 * time.Second
	// goneAfter is how long a worker must be missing: the board may not know it yet.
	goneAfter = 2 * time.Second
	// factsLook is how often the details are read anew, and diffLook how often a workspace
	// is compared. After a look that took long, the next one waits lookShare times as long.
	factsLook, diffLook, lookShare = 3 * time.Second, 5 * time.Second, 20
	// logPause is the shortest time between two pieces of a log.
	logPause = 120 * time.Millisecond
)

func (s *Server) liveWorker(w http.ResponseWriter, r *http.Request) {
	name, shown := r.PathValue("name"), r.URL.Query().Get("tab")
	s.stream(w, r, func(out *stream) error {
		defer s.feed.watched()()
		var head, part string
		var look, missing time.Time
		f := &logView{server: s, tab: shown, more: make(chan struct{}, 1)}
		defer f.stop()
		// The search for saved work must not delay the rest of the page.
		var searching sync.WaitGroup
		defer searching.Wait()
		ctx, cancel := context.WithCancel(r.Context())
		defer cancel()
		works, worksShown := make(chan dash.Fact, 1), ""
		searching.Go(func() {
			i, ok := s.feed.first(ctx).find(name)
			if !ok {
				return
			}
			fact, err := dash.SavedOf(ctx, s.rescues, i.Name, time.Now())
			if err != nil {
				s.opts.Logger.Debug("cannot look for saved work", "worker", i.Name, "error", err)
				return
			}
			works <- fact
			wake.Up(f.more)
		})
		for {
			now := s.feed.first(r.Context())
			i, ok := now.find(name)
			if !ok {
				if missing.IsZero() {
					missing = time.Now()
				}
				if time.Since(missing) > goneAfter {
					return out.json("gone", name)
				}
				if err := out.wait(now.changed, nil, goneAfter); err != nil {
					return err
				}
				continue
			}
			missing = time.Time{}
			if err := out.title(titleOf(i.Name, now)); err != nil {
				return err
			}
			html, err := s.render("workerhead", s.headOf(i, time.Now()))
			if err != nil {
				return err
			}
			if string(html) != head {
				head = string(html)
				if err := out.json("head", map[string]string{"html": head}); err != nil {
					return err
				}
			}
			if err := f.send(r.Context(), out, i.ID); err != nil {
				return err
			}
			select {
			case found := <-works:
				if err := out.part("saved", "saved", found, &worksShown); err != nil {
					return err
				}
			default:
			}
			if began := time.Now(); began.After(look) {
				every, err := s.sendPart(r.Context(), out, shown, i, &part)
				if err != nil {
					return err
				}
				look = time.Now().Add(max(every, lookShare*time.Since(began)))
			}
			if err := out.wait(now.changed, f.more, headLook); err != nil {
				return err
			}
			if sleep.For(r.Context(), logPause-time.Since(out.sent)) != nil {
				return r.Context().Err()
			}
		}
	})
}

// sendPart sends the part of a tab that is read anew as a whole, unless it is shown already,
// and returns how long it may be shown.
func (s *Server) sendPart(ctx context.Context, out *stream, tab string, i dash.Item, part *string) (time.Duration, error) {
	switch tab {
	case "details":
		view, err := s.factsOf(ctx, i)
		if err != nil {
			return 0, err
		}
		return factsLook, out.part("facts", "facts", view, part)
	case "diff":
		return diffLook, out.part("changes", "changes", s.changesOf(ctx, i), part)
	default:
		return headLook, nil
	}
}
