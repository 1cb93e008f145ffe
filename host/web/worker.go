package web

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/swarmhost/swarm/host"
	"github.com/swarmhost/swarm/host/condition"
	"github.com/swarmhost/swarm/host/dash"
	"github.com/swarmhost/swarm/host/history"
	"github.com/swarmhost/swarm/shared/humane"
	"github.com/swarmhost/swarm/shared/safetext"
	"github.com/swarmhost/swarm/shared/swarm"
)

// workerPage is the page of one worker.
type workerPage struct {
	Head workerHead
	Tabs []tab
	// Tab is the name of the one that is shown.
	Tab     string
	Details []detail
	History []moment
}

// workerHead is the part of the page that is the same on all tabs.
type workerHead struct {
	row
	Plots   []plot
	Actions []action
	// Choices are the answers to the question of its agent.
	Choices []choice
	Notes   []note
}

type tab struct{ Name, Label, Href string }

// detail is a fact about a worker. Code says that it is shown as a program has it.
type detail struct {
	Label string
	Lines []string
	Code  bool
}

// moment is an event of a history.
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
		s.refuse(w, r, http.StatusNotFound, "There is no such worker. Its history may still be known: ‘swarm events NAME’.")
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
		p.Details = detailsOf(i.Worker)
	case p.Tab == "history":
		last := 500
		events, err := s.opts.Host.Events(r.Context(), history.Query{Worker: i.Name, Lines: &last})
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

// fail answers with an error of the host.
func (s *Server) fail(w http.ResponseWriter, r *http.Request, err error) {
	s.refuse(w, r, http.StatusInternalServerError, safetext.Line(err.Error()))
}

func tabsOf(i dash.Item) []tab {
	base := hrefOf(i.Name)
	var tabs []tab
	if i.Where.Kind != "" {
		tabs = append(tabs, tab{"screen", "Screen", base + "/screen"})
	}
	return append(tabs, tab{"log", "Log", base + "/log"}, tab{"details", "Details", base + "/details"}, tab{"history", "History", base + "/history"})
}

func (s *Server) headOf(i dash.Item, now time.Time) workerHead {
	h := workerHead{row: rowOf(i, now)}
	if i.Status == host.StatusRunning {
		h.Plots = plotsOf(i.Figures)
	}
	if s.opts.Write {
		h.Actions, h.Choices = actionsOf(i), choicesOf(i)
		h.Notes = s.notes.of(i.Name)
	}
	return h
}

func momentOf(e history.Event) moment {
	return moment{
		Time: stamp(e.Time), Date: e.Time.Local().Format("2 Jan 2006"), Clock: e.Time.Local().Format("15:04:05"),
		Worker: safetext.Line(e.Worker), Href: hrefOf(e.Worker),
		Kind: strings.ToLower(safetext.Line(string(e.Kind))), Text: safetext.Line(e.Text), Tone: toneOfEvent(e),
	}
}

// toneOfEvent is how an event is shown.
func toneOfEvent(e history.Event) condition.Tone {
	switch e.Kind {
	case history.Failed, history.Died, history.CrashLoop, history.RespawnFailed:
		return condition.Bad
	case history.Exited:
		if e.Exit != nil && e.Exit.Code != 0 {
			return condition.Bad
		}
		return condition.Good
	case history.Complete, history.Spawned, history.Adopted, history.Working:
		return condition.Good
	case history.Blocked, history.Limited:
		return condition.Asking
	case history.Restarted:
		return condition.Waiting
	default:
		return condition.Quiet
	}
}

// detailsOf returns what is known of a worker besides its state.
func detailsOf(w host.Worker) []detail {
	var all []detail
	add := func(label string, code bool, lines ...string) {
		var shown []string
		for _, line := range lines {
			if line != "" {
				shown = append(shown, safetext.Line(line))
			}
		}
		if len(shown) > 0 {
			all = append(all, detail{label, shown, code})
		}
	}
	when := func(t time.Time) string {
		if t.IsZero() {
			return ""
		}
		return t.Local().Format("2 Jan 2006, 15:04:05")
	}
	add("Command", true, strings.Join(w.Command, " "))
	add("Directory", true, w.Dir)
	add("Backend", false, strings.TrimSpace(w.Backend+" "+optionsOf(w.Options)))
	add(title(w.Where.Kind), true, w.Where.Name)
	if w.PID > 0 {
		add("Main process", false, strconv.Itoa(w.PID))
	}
	add("Created", false, when(w.Created))
	add("Started", false, when(w.Started))
	add("Ended", false, when(w.Ended))
	if w.Exit != nil {
		add("Exit", false, exitOf(*w.Exit))
		if u := w.Exit.Usage; u != nil {
			add("Used in all", false, usageOf(*u)...)
		}
	}
	add("Reason", false, w.Reason)
	if w.Completion != nil {
		add("Completed", false, w.Completion.Summary)
	}
	for _, p := range w.Survivors {
		add("Still alive", false, fmt.Sprintf("%s (pid %d)", p.Name, p.PID))
	}
	if r := w.Restart.OrDefault(); r.When != swarm.RestartNo {
		add("Restarts", false, fmt.Sprintf("%s, %d so far; at most %d within %s", r.When, w.Restarts, r.Budget, r.Window))
	}
	add("Kill", false, killOf(w.Kill))
	if w.Workspace != nil {
		add("Worktree", true, w.Workspace.Path)
		add("Branch", true, w.Workspace.Branch)
		add("Repository", true, w.Workspace.Base)
	}
	add("Tags", false, strings.Join(w.Tags, ", "))
	add("Team", false, w.Team)
	add("Project", true, w.Project)
	add("Environment", true, envNames(w.Env)...)
	if w.OutputLimit > 0 {
		add("Log limit", false, humane.Bytes(w.OutputLimit))
	}
	add("Retention", false, w.Retain)
	add("Earlier runs", true, w.Previous...)
	add("Id", true, w.ID)
	return all
}

func title(s string) string {
	if s == "" {
		return ""
	}
	return strings.ToUpper(s[:1]) + s[1:]
}

func optionsOf(options map[string]string) string {
	var all []string
	for k, v := range options {
		all = append(all, k+"="+v)
	}
	slices.Sort(all)
	return strings.Join(all, " ")
}

// envNames returns the names of variables: their values may be secret.
func envNames(env []string) []string {
	var names []string
	for _, entry := range env {
		name, _, _ := strings.Cut(entry, "=")
		names = append(names, name)
	}
	return names
}

func exitOf(e swarm.Exit) string {
	text := "exit code " + strconv.Itoa(e.Code)
	if e.Signal != "" {
		text = e.Signal
	}
	return text + ", " + string(e.Cause)
}

func killOf(k swarm.KillOptions) string {
	signal := k.Signal
	if signal == "" {
		signal = "the backend's gentle way"
	}
	text := signal + ", then " + k.Grace.String()
	if k.Force {
		text += ", then by force"
	}
	return text
}

// usageOf returns what is known of what a worker used in all.
func usageOf(u swarm.Usage) []string {
	var all []string
	if u.CPUTime != nil {
		all = append(all, "CPU time "+u.CPUTime.Round(10*time.Millisecond).String())
	}
	if u.Peak != nil {
		all = append(all, "memory "+humane.Bytes(*u.Peak)+" at most")
	}
	if u.Read != nil && u.Written != nil {
		all = append(all, humane.Bytes(*u.Read)+" read, "+humane.Bytes(*u.Written)+" written")
	}
	return all
}

const (
	// headLook is how often the ages in a head are written anew.
	headLook = 5 * time.Second
	// logPause is the shortest time between two pieces of a log.
	logPause = 120 * time.Millisecond
)

// liveWorker keeps the page of one worker current.
func (s *Server) liveWorker(w http.ResponseWriter, r *http.Request) {
	name, shown := r.PathValue("name"), r.URL.Query().Get("tab")
	s.stream(w, r, func(out *stream) error {
		defer s.feed.watched()()
		var head string
		f := &following{server: s, tab: shown, more: make(chan struct{}, 1)}
		defer f.stop()
		for {
			now := s.feed.first(r.Context())
			i, ok := now.find(name)
			if !ok {
				return out.json("gone", name)
			}
			html, err := render("workerhead", s.headOf(i, time.Now()))
			if err != nil {
				return err
			}
			if string(html) != head {
				head = string(html)
				if err := out.json("head", map[string]string{"html": head, "title": safetext.Line(i.Name)}); err != nil {
					return err
				}
			}
			if err := f.tell(r.Context(), out, i.ID); err != nil {
				return err
			}
			if err := out.wait(now.changed, f.more, headLook); err != nil {
				return err
			}
			if !pause(r.Context(), logPause-time.Since(out.sent)) {
				return r.Context().Err()
			}
		}
	})
}

// pause waits for a time and reports whether ctx goes on.
func pause(ctx context.Context, d time.Duration) bool {
	if d <= 0 {
		return ctx.Err() == nil
	}
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-t.C:
		return true
	}
}
