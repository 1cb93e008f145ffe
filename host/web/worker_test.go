package web

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/swarmhost/swarm/host/dash"
	"github.com/swarmhost/swarm/host/history"
	"github.com/swarmhost/swarm/host/judgement"
	"github.com/swarmhost/swarm/host/profile"
	"github.com/swarmhost/swarm/host/registry"
	"github.com/swarmhost/swarm/host/worker"
	"github.com/swarmhost/swarm/shared/swarm"
)

// hostile is what a worker may write to harm a page.
const hostile = "<script>alert(1)</script>\x1b]0;title\a\u202e\x1b[31m<b onclick=x>\xff"

// harms are what it must not become.
var harms = []string{"<script>alert", "<b onclick", "\x1b", "\u202e", `\u003cscript\u003ealert`, "\xff"}

// attribute matches the value of an attribute, in which quotes are escaped.
var attribute = regexp.MustCompile(`="[^"]*"`)

func TestWorkerPages(t *testing.T) {
	t.Parallel()
	w := runningWorker("one")
	w.Command = []string{"sh", "-c", hostile}
	w.Env = []string{"SECRET=confidential", "OTHER=x"}
	w.Where = swarm.Where{Kind: "tmux window", Name: "swarm:" + hostile}
	w.State = &judgement.State{State: profile.Blocked, Question: hostile, Choices: []profile.Choice{{Key: hostile, Label: hostile}}}
	w.Tags, w.Team, w.Workspace = []string{hostile}, hostile, &swarm.WorkspaceRef{Branch: hostile, Base: hostile, Path: hostile}
	r := newRig(t, func(o *Options) { o.Write = true }, w, exited("two", 3))
	r.host.events = []registry.Event{{Seq: 1, Time: time.Now(), Worker: "one", ID: "id-one", Kind: history.Blocked, Text: hostile}}
	for path, want := range map[string]string{
		"/worker/one":                           `id="screen"`,
		"/worker/two":                           `id="log"`,
		"/worker/one/log":                       `id="log"`,
		"/worker/one/details":                   "Tmux window",
		"/worker/one/history":                   "blocked",
		"/worker/two/details":                   "exit code 3, exited",
		"/worker/id-one/details":                `<td class="d1">&lt;b&gt;\u202e</td>`,
		"/timeline":                             `class="bar open"`,
		"/":                                     `data-section="questions"`,
		"/?group=tag":                           "&lt;script&gt;",
		"/?group=team":                          "&lt;script&gt;",
		"/?group=worktree":                      "&lt;script&gt;",
		"/?q=&fold=" + url.QueryEscape(hostile): `data-section="questions"`,
		"/worker/one/do/answer":                 `name="text"`,
		"/worker/one/do/kill":                   "swarm kill one",
		"/timeline?span=7d":                     "1 week",
		"/teams":                                "No teams",
		"/worker/id-one":                        `id="screen"`,
		"/assets/style.css":                     ".f208{",
		"/assets/app.js":                        "EventSource",
		"/worker/one/details?":                  "SECRET",
	} {
		page := r.page(path)
		if !strings.Contains(page, want) {
			t.Errorf("%s lacks %q:\n%s", path, want, page)
		}
		page = attribute.ReplaceAllString(page, `=""`) // values of forms and names of groups are not shown
		for _, bad := range append(harms, "confidential", " style=", "javascript:") {
			if strings.Contains(page, bad) && !strings.HasPrefix(path, "/assets/") {
				t.Errorf("%s has %q", path, bad)
			}
		}
	}
	for _, path := range []string{"/worker/none", "/worker/none/live/x", "/worker/one/nothing", "/none", "/assets/list.html", "/assets/../server.go"} {
		if w := r.ask(r.request(http.MethodGet, path)); w.Code != http.StatusNotFound && w.Code != http.StatusTemporaryRedirect && w.Code != http.StatusMovedPermanently {
			t.Errorf("%s: %d", path, w.Code)
		}
	}
}

// changed is a plugin that compares a worktree: its command says what text is.
type changed struct {
	files []swarm.FileChange
	text  string
	err   error
}

func (c changed) Compare(context.Context, string, swarm.DiffOptions) (swarm.WorkspaceRef, swarm.Diff, error) {
	return swarm.WorkspaceRef{}, swarm.Diff{Files: c.files, Command: []string{"printf", "%s", c.text}}, c.err
}

func TestChanges(t *testing.T) {
	t.Parallel()
	w := runningWorker("one")
	r := newRig(t, nil, w)
	if got := r.ask(r.request(http.MethodGet, "/worker/one/diff")); got.Code != http.StatusNotFound {
		t.Errorf("without a worktree: %d", got.Code)
	}
	w.Workspace = &swarm.WorkspaceRef{Branch: "one"}
	r = newRig(t, nil, w)
	r.differ = changed{}
	if page := r.page("/worker/one/diff"); !strings.Contains(page, "Nothing has changed") {
		t.Errorf("without a change:\n%s", page)
	}
	r.differ = changed{err: errors.New("cannot " + hostile)}
	if page := r.page("/worker/one/diff"); !strings.Contains(page, "cannot &lt;script&gt;") || strings.Contains(page, "<script>alert") {
		t.Errorf("an error:\n%s", page)
	}
	r.differ = changed{
		files: []swarm.FileChange{{Path: hostile, Added: 1, Removed: 1}, {Path: "logo.png", Added: -1, Removed: -1}},
		text:  "diff --git a/x b/x\n--- a/x\n+++ b/" + hostile + "\n@@ -1 +1 @@ " + hostile + "\n-old\n+" + hostile + "\n",
	}
	page := r.page("/worker/one/diff")
	for _, want := range []string{
		`<b>2</b> files`, `<div class="del"><i>1</i>old</div>`, `<div class="add"><i>1</i>&lt;script&gt;`, "logo.png", "binary file", "swarm diff one",
	} {
		if !strings.Contains(page, want) {
			t.Errorf("the page lacks %q:\n%s", want, page)
		}
	}
	for _, bad := range harms {
		if strings.Contains(page, bad) {
			t.Errorf("the page has %q:\n%s", bad, page)
		}
	}
	r.events("/worker/one/live?tab=diff", `"id":"changes"`)
}

func TestLiveLog(t *testing.T) {
	t.Parallel()
	r := newRig(t, nil, runningWorker("one"))
	for _, line := range []string{"first", hostile, "\x1b[32mgreen\x1b[0m", "ERROR: it failed"} {
		r.host.output = append(r.host.output, swarm.Output{Time: time.Now(), Stream: swarm.Stdout, Data: []byte(line)})
	}
	got := r.events("/worker/one/live?tab=log", "event: title\ndata: \"one · swarm\"", "event: head", "event: begin", "first", `f2\"\u003egreen`, `class=\"error\"`)
	for _, bad := range harms {
		if strings.Contains(got, bad) {
			t.Errorf("the stream has %q:\n%s", bad, got)
		}
	}
	r.events("/worker/none/live?tab=log", "event: gone")
}

// TestLogSaysWhatItLacks: a log reports when its lines were written, which of them are errors,
// and how many there are before them.
func TestLogSaysWhatItLacks(t *testing.T) {
	t.Parallel()
	r := newRig(t, nil, runningWorker("one"))
	at := time.Date(2026, 1, 2, 3, 4, 5, 0, time.Local)
	for n := range dash.LinesKept + 17 {
		r.host.output = append(r.host.output, swarm.Output{Time: at, Stream: swarm.Stdout, Data: []byte(strconv.Itoa(n))})
	}
	r.host.output = append(r.host.output, swarm.Output{Time: at, Stream: swarm.Stderr, Data: []byte("oops")})
	r.events("/worker/one/live?tab=log", "event: earlier\ndata: 17\n", `data: {"from":1`, `\u003cdiv class=\"stderr\" data-at=\"03:04:05\"\u003eoops`,
		`\u003cdiv data-at=\"03:04:05\"\u003e2016`)
	if page := r.page("/worker/one/log"); !strings.Contains(page, `<p id="earlier" class="hint" hidden>Not shown: <b></b>. <a href="/worker/one/output">`) {
		t.Errorf("the page:\n%s", page)
	}
}

func TestLiveScreen(t *testing.T) {
	t.Parallel()
	w := runningWorker("one")
	w.Where = swarm.Where{Kind: "tmux window", Name: "x"}
	r := newRig(t, nil, w)
	r.host.screen = []string{"Proceed?", "plain"}
	r.host.styled = []string{"\x1b[1;33mProceed?\x1b[0m", "plain"}
	// The output has the same text in another style, which says nothing about the screen.
	r.host.output = []swarm.Output{{Stream: swarm.Stdout, Data: []byte("\x1b[31mplain\x1b[0m\r\nother"), Partial: true}}
	r.events("/worker/one/live?tab=screen", `bold\"\u003eProceed?`, `\nplain`)
}

// linesOf makes lines of texts.
func linesOf(texts []string) []dash.Line {
	lines := make([]dash.Line, len(texts))
	for i, text := range texts {
		lines[i].Text = text
	}
	return lines
}

func TestDifference(t *testing.T) {
	t.Parallel()
	lines := func(from, to int) []string {
		var all []string
		for i := from; i < to; i++ {
			all = append(all, strconv.Itoa(i))
		}
		return all
	}
	for _, c := range []struct {
		name          string
		old           []string
		oldFirst      int
		now           []string
		first         int
		from, skipped int
		fresh         int
		nothing       bool
	}{
		{name: "the first", now: lines(0, 3), from: 0, fresh: 3},
		{name: "more", old: lines(0, 3), now: lines(0, 5), from: 3, fresh: 2},
		{name: "nothing new", old: lines(0, 3), now: lines(0, 3), nothing: true},
		{name: "a line that changed", old: []string{"0", "10%"}, now: []string{"0", "20%"}, from: 1, fresh: 1},
		{name: "a line that went", old: []string{"0", "open"}, now: []string{"0"}, from: 1, fresh: 0},
		{name: "the oldest went", old: lines(0, 5), now: lines(2, 7), first: 2, from: 5, fresh: 2},
		{name: "a gap", old: lines(0, 5), now: lines(50, 60), first: 50, from: 50, skipped: 45, fresh: 10},
		{name: "many, whose first the browser has", old: lines(0, 1), now: lines(0, 1501), from: 1, fresh: 1500},
	} {
		p, ok := difference(linesOf(c.old), c.oldFirst, linesOf(c.now), c.first)
		if ok == c.nothing || !c.nothing && (p.From != c.from || p.Skipped != c.skipped || len(p.Lines) != c.fresh) {
			t.Errorf("%s: %v, from %d, skipped %d, %d lines", c.name, ok, p.From, p.Skipped, len(p.Lines))
		}
	}
}

func TestPlots(t *testing.T) {
	t.Parallel()
	if got := plotsOf(dash.Item{}); got != nil {
		t.Errorf("%v", got)
	}
	got := plotsOf(dash.Item{
		Worker:  worker.Worker{Status: worker.StatusRunning},
		Figures: []dash.Figure{{CPU: -1, Memory: 1 << 20}, {CPU: 0.5, Memory: 3 << 20}},
	})
	if len(got) != 2 || got[0].Now != "50%" || got[1].Now != "3.0MiB" || !strings.HasSuffix(got[1].Line, "100.0,2.0") {
		t.Errorf("%+v", got)
	}
}

// TestSavedWork: the page of a worker reports the work that was saved from its worktrees.
func TestSavedWork(t *testing.T) {
	t.Parallel()
	r := newRig(t, nil, runningWorker("one"))
	r.rescues = rescues{
		{Ref: "refs/swarm/rescue/two/20260101T030405.000Z", Name: "two"},
		{Ref: "refs/swarm/rescue/one/20260102T030405.000Z", Name: "one", Time: time.Now().Add(-time.Hour), Title: hostile},
	}
	got := r.events("/worker/one/live?tab=details", `"id":"saved"`, "Saved work", "1h ago: swarm rescue restore one")
	for _, bad := range append(harms, "restore two") {
		if strings.Contains(got, bad) {
			t.Errorf("the stream has %q:\n%s", bad, got)
		}
	}
}
