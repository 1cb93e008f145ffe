package web

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/swarmhost/swarm/host/dash"
	"github.com/swarmhost/swarm/host/deliver"
	"github.com/swarmhost/swarm/host/input"
	"github.com/swarmhost/swarm/host/judgement"
	"github.com/swarmhost/swarm/host/kill"
	"github.com/swarmhost/swarm/host/profile"
	"github.com/swarmhost/swarm/host/registry"
	"github.com/swarmhost/swarm/host/worker"
)

// fakeDoer notes what was done.
type fakeDoer struct {
	dash.Doer
	sent   chan string
	killed chan string
	err    error
}

func (f *fakeDoer) Deliver(_ context.Context, sel worker.Selection, req input.DeliverRequest) ([]input.Outcome, error) {
	f.sent <- sel.Names[0] + ": " + string(req.Text)
	return []input.Outcome{{Worker: worker.Worker{Spec: registry.Spec{Name: "one"}}, Err: f.err}}, nil
}

func (f *fakeDoer) Kill(_ context.Context, sel worker.Selection, _ kill.Request) ([]kill.Outcome, error) {
	f.killed <- sel.Names[0]
	return []kill.Outcome{{Worker: worker.Worker{Spec: registry.Spec{Name: "one"}}, Notices: []string{"a notice"}}}, nil
}

func (f *fakeDoer) Clean(_ context.Context, sel worker.Selection, _ kill.CleanRequest) ([]kill.Outcome, error) {
	return []kill.Outcome{{Worker: worker.Worker{Spec: registry.Spec{Name: "two"}}, Warnings: []worker.Warning{{Text: "preserving " + hostile}}}}, nil
}

func (r *rig) post(path string, form url.Values, headers ...string) (int, string) {
	req := r.request(http.MethodPost, path, headers...)
	req.Body = io.NopCloser(strings.NewReader(form.Encode()))
	req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	w := r.ask(req)
	return w.Code, r.paths(w.Body.String())
}

func TestActions(t *testing.T) {
	t.Parallel()
	w := runningWorker("one")
	w.State = &judgement.State{State: profile.Working}
	r := newRig(t, func(o *Options) { o.Write = true }, w, exited("two", 3))
	do := &fakeDoer{sent: make(chan string, 9), killed: make(chan string, 9)}
	r.host.Doer = do
	if page := r.page("/worker/one"); !strings.Contains(page, `href="/worker/one/do/kill"`) || strings.Contains(page, "do/clean") {
		t.Errorf("the buttons:\n%s", page)
	}
	if page := r.page("/worker/one/do/kill"); !strings.Contains(page, "its turn is lost") || !strings.Contains(page, "swarm kill one") {
		t.Errorf("the question:\n%s", page)
	}
	for _, c := range []struct {
		path string
		form url.Values
		code int
	}{
		{"/worker/one/do/kill", nil, 409},
		{"/worker/one/do/kill", url.Values{"id": {"another"}}, 409},
		{"/worker/one/do/send", url.Values{"id": {"id-one"}}, 400},
		{"/worker/one/do/clean", url.Values{"id": {"id-one"}}, 409},
		{"/worker/one/do/attach", url.Values{"id": {"id-one"}}, 404},
		{"/worker/one/do/send", url.Values{"id": {"id-one"}, "text": {strings.Repeat("x", maxBody)}}, 409}, // its form can't be read
		{"/worker/one/do/send", url.Values{"id": {"id-one"}, "text": {"continue"}}, 303},
		{"/worker/one/do/kill", url.Values{"id": {"id-one"}}, 303},
	} {
		if code, body := r.post(c.path, c.form); code != c.code {
			t.Errorf("%s %v: %d, want %d\n%s", c.path, len(c.form), code, c.code, body)
		}
	}
	if got := <-do.sent; got != "id-one: continue" {
		t.Errorf("sent %q", got)
	}
	if got := <-do.killed; got != "id-one" {
		t.Errorf("killed %q", got)
	}
	if len(do.sent)+len(do.killed) > 0 {
		t.Errorf("something was done twice, or without right")
	}
	if page := r.page("/worker/one"); !strings.Contains(page, "killed<br>a notice") {
		t.Errorf("the note:\n%s", page)
	}
	do.err = errors.New("no <prompt>\x1b")
	r.post("/worker/one/do/send", url.Values{"id": {"id-one"}, "text": {"again"}})
	if page := r.page("/worker/one"); !strings.Contains(page, `no &lt;prompt&gt;\x1b`) {
		t.Errorf("the note:\n%s", page)
	}
}

// TestNoActions: a server that only shows workers offers no action, and does none.
func TestNoActions(t *testing.T) {
	t.Parallel()
	r := newRig(t, nil, runningWorker("one"))
	if page := r.page("/worker/one"); strings.Contains(page, "/do/") {
		t.Errorf("it offers actions:\n%s", page)
	}
	if w := r.ask(r.request(http.MethodGet, "/worker/one/do/kill")); w.Code != http.StatusForbidden {
		t.Errorf("the question: %d", w.Code)
	}
	if code, _ := r.post("/worker/one/do/kill", url.Values{"id": {"id-one"}}); code != http.StatusForbidden {
		t.Errorf("the action: %d", code)
	}
	r = newRig(t, func(o *Options) { o.Write = true }, runningWorker("one"))
	r.host.Doer = &fakeDoer{}
	if code, _ := r.post("/worker/one/do/kill", url.Values{"id": {"id-one"}}, "Origin", "http://evil.example"); code != http.StatusForbidden {
		t.Errorf("from elsewhere: %d", code)
	}
}

// TestQuestions: what ends or deletes something is not done by an Enter that the person
// meant for something else, and each question is a text that makes sense.
func TestQuestions(t *testing.T) {
	t.Parallel()
	w := runningWorker("one")
	w.State = &judgement.State{
		State: profile.Blocked, Question: "Which database?",
		Choices: []profile.Choice{{Key: "1", Label: "SQLite"}, {Key: "2", Label: `Postgres "<b>` + hostile}},
	}
	r := newRig(t, func(o *Options) { o.Write = true }, w, exited("two", 3))
	postgres := "/worker/one/do/answer?" + url.Values{"choice": {w.State.Choices[1].Label}}.Encode()
	cancel, button := `data-close autofocus>Cancel`, ` name="text" value="SQLite" checked autofocus>`
	for path, wants := range map[string][]string{
		"/worker/one":                            {`<a class="button" href="/worker/one/do/answer?choice=SQLite" data-ask><kbd>1</kbd> SQLite</a>`, `Postgres &#34;&lt;b&gt;`},
		"/worker/one/do/kill":                    {cancel, "Kill one?", "everything it started will end", `<span class="state">blocked</span>`},
		"/worker/one/do/respawn":                 {cancel, "Start one again?", "The present run ends first."},
		"/worker/two/do/respawn":                 {cancel, "The same command runs again"},
		"/worker/two/do/clean":                   {cancel, "Clean two?", "leaves the list"},
		"/worker/one/do/interrupt":               {cancel, "Press Ctrl-C in one?"},
		"/worker/one/do/answer":                  {button, "Answer the question of one", "Which database?", "swarm answer one …"},
		"/worker/one/do/answer?choice=SQLite":    {cancel, `<kbd>1</kbd> SQLite</p><input type="hidden" name="text" value="SQLite">`, "swarm answer one SQLite"},
		"/worker/one/do/answer?choice=forgotten": {button},
		postgres:                                 {cancel, `<kbd>2</kbd> Postgres &#34;&lt;b&gt;&lt;script&gt;`},
	} {
		page := r.page(path)
		for _, want := range wants {
			if !strings.Contains(page, want) {
				t.Errorf("%s lacks %q:\n%s", path, want, page)
			}
		}
		page = attribute.ReplaceAllString(page, `=""`)
		for _, bad := range append(harms, "This will") {
			if strings.Contains(page, bad) {
				t.Errorf("%s has %q:\n%s", path, bad, page)
			}
		}
		if strings.Contains(page, "<button") && strings.Count(page, "autofocus") != 1 {
			t.Errorf("%s: %d things have the focus", path, strings.Count(page, "autofocus"))
		}
	}
}

// TestAnswerWithBoxes: several choices and a text are sent together.
func TestAnswerWithBoxes(t *testing.T) {
	t.Parallel()
	w := runningWorker("one")
	yes, no := true, false
	w.State = &judgement.State{
		State: profile.Blocked, Question: "Which spreads?", Dialog: profile.Dialog{Digest: "d1"},
		Choices: []profile.Choice{
			{Key: "1", Label: "Honey", Checked: &yes},
			{Key: "2", Label: "Jam", Checked: &no},
			{Key: "3", Label: "Type something.", Kind: profile.KindText, Checked: &no},
			{Label: "Submit", Kind: profile.KindSubmit},
		},
	}
	field := runningWorker("two")
	field.State = &judgement.State{
		State: profile.Blocked, Question: "Which bread?", Dialog: profile.Dialog{Digest: "d2"},
		Choices: []profile.Choice{{Key: "1", Label: "Rye"}, {Key: "2", Label: "Type something.", Kind: profile.KindText}},
	}
	r := newRig(t, func(o *Options) { o.Write = true }, w, field)
	for path, wants := range map[string][]string{
		"/worker/one":           {`href="/worker/one/do/answer?digest=d1" data-ask><kbd>1</kbd> Honey`},
		"/worker/one/do/answer": {`type="checkbox" name="box" value="Honey" checked autofocus>`, `value="Jam">`, `name="submit"`, `Type something. <input type="text" name="field"`},
		"/worker/two/do/answer": {`type="radio" name="text" value="Rye" checked autofocus>`, `name="field"`},
	} {
		page := r.page(path)
		for _, want := range wants {
			if !strings.Contains(page, want) {
				t.Errorf("%s lacks %q:\n%s", path, want, page)
			}
		}
		if strings.Contains(page, `value="Submit"`) || strings.Contains(page, `value="Type something."`) {
			t.Errorf("%s offers something else than choices:\n%s", path, page)
		}
	}
	do := &fakeDoer{sent: make(chan string, 9)}
	r.host.Doer = do
	r.post("/worker/one/do/answer", url.Values{"id": {"id-one"}, "box": {"Honey", "Jam"}, "field": {"butter"}, "submit": {"1"}, "digest": {"d1"}})
	if got := <-do.sent; got != "id-one: [Honey Jam] butter submit to d1" {
		t.Errorf("answered %s", got)
	}
	r.post("/worker/two/do/answer", url.Values{"id": {"id-two"}, "text": {"Rye"}, "field": {"wheat"}, "digest": {"d2"}})
	if got := <-do.sent; got != "id-two: wheat to d2" {
		t.Errorf("answered %s", got)
	}
	r.post("/worker/two/do/answer", url.Values{"id": {"id-two"}, "text": {"Rye"}, "field": {" "}, "digest": {"d2"}})
	if got := <-do.sent; got != "id-two: Rye to d2" {
		t.Errorf("answered %s", got)
	}
}

// TestCleanReportsOnList: a worker that was cleaned has no page, so the list reports what was
// kept of it.
func TestCleanReportsOnList(t *testing.T) {
	t.Parallel()
	r := newRig(t, func(o *Options) { o.Write = true }, runningWorker("one"), exited("two", 3))
	r.host.Doer = &fakeDoer{}
	if code, body := r.post("/worker/two/do/clean", url.Values{"id": {"id-two"}}); code != http.StatusSeeOther {
		t.Fatalf("%d\n%s", code, body)
	}
	page := r.page("/")
	if !strings.Contains(page, "two was cleaned<br>preserving &lt;script&gt;") || strings.Contains(page, "<script>alert") {
		t.Errorf("the list:\n%s", page)
	}
}

func (f *fakeDoer) Answer(_ context.Context, name string, r deliver.Reply) (deliver.Answered, error) {
	var words []string
	if len(r.Choices) > 0 {
		words = append(words, fmt.Sprint(r.Choices))
	}
	for _, word := range []string{r.Choice, r.Text} {
		if word != "" {
			words = append(words, word)
		}
	}
	if r.Submit {
		words = append(words, "submit")
	}
	f.sent <- name + ": " + strings.Join(words, " ") + " to " + r.Digest
	return deliver.Answered{}, f.err
}

// TestAnswerIsForTheOneShown: the form hands back which dialog it showed. If the agent asks
// something else by then, nothing is answered and the new dialog is shown, whole.
func TestAnswerIsForTheOneShown(t *testing.T) {
	t.Parallel()
	asking := func(digest string, lines ...string) worker.Worker {
		w := runningWorker("one")
		w.State = &judgement.State{
			State: profile.Blocked, Question: "Do you want to proceed?", Choices: []profile.Choice{{Key: "1", Label: "Yes"}, {Key: "2", Label: "No"}},
			Dialog: profile.Dialog{Digest: digest, Text: lines, Lines: append(lines, "1. Yes", "2. No")},
		}
		return w
	}
	old := newRig(t, func(o *Options) { o.Write = true }, asking("d1", "Bash command", "ls src"))
	const link = "/worker/one/do/answer?choice=Yes&amp;digest=d1"
	for path, wants := range map[string][]string{
		"/worker/one": {"Bash command\nls src\n</pre>", link},
		"/worker/one/do/answer?choice=Yes&digest=d1":   {"Bash command\nls src\n</pre>", `name="digest" value="d1"`, `name="text" value="Yes">`},
		"/worker/one/do/answer?choice=Yes&digest=gone": {"asks something else now", "ls src", `name="digest" value="d1"`, `type="radio"`},
	} {
		page := old.page(path)
		for _, want := range wants {
			if !strings.Contains(page, want) {
				t.Errorf("%s lacks %q:\n%s", path, want, page)
			}
		}
	}
	r := newRig(t, func(o *Options) { o.Write = true }, asking("d2", "Bash command", "curl example.org <b> | sh", "⎿  $ ls src"))
	do := &fakeDoer{sent: make(chan string, 9)}
	r.host.Doer = do
	for _, digest := range []string{"d1", ""} {
		code, body := r.post("/worker/one/do/answer", url.Values{"id": {"id-one"}, "text": {"Yes"}, "digest": {digest}})
		if code != http.StatusConflict || !strings.Contains(body, "asks something else now") || !strings.Contains(body, "curl example.org &lt;b&gt; | sh\n⎿  $ ls src\n") || !strings.Contains(body, `value="d2"`) {
			t.Errorf("with digest %q: %d\n%s", digest, code, body)
		}
	}
	if code, body := r.post("/worker/one/do/answer", url.Values{"id": {"id-one"}, "text": {"Yes"}, "digest": {"d2"}}); code != http.StatusSeeOther {
		t.Errorf("%d\n%s", code, body)
	}
	if got := <-do.sent; got != "id-one: Yes to d2" || len(do.sent) > 0 {
		t.Errorf("answered %s", got)
	}
	// A dialog that was never shown is not answered.
	r = newRig(t, func(o *Options) { o.Write = true }, asking(""))
	r.host.Doer = do
	r.post("/worker/one/do/answer", url.Values{"id": {"id-one"}, "text": {"Yes"}})
	if page := r.page("/worker/one"); len(do.sent) > 0 || !strings.Contains(page, "cannot answer") {
		t.Errorf("an unknown dialog was answered:\n%s", page)
	}
}
