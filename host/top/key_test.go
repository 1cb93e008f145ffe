package top

import (
	"slices"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/exp/teatest/v2"
	"github.com/google/go-cmp/cmp"

	"github.com/swarmhost/swarm/host/dash"
	"github.com/swarmhost/swarm/host/history"
	"github.com/swarmhost/swarm/host/profile"
	"github.com/swarmhost/swarm/host/registry"
	"github.com/swarmhost/swarm/host/worker"
	"github.com/swarmhost/swarm/shared/swarm"
)

func sizeOf(size [2]int) tea.WindowSizeMsg { return tea.WindowSizeMsg{Width: size[0], Height: size[1]} }

// selects fails if another worker is selected.
func (r *rig) selects(name string) {
	r.Helper()
	if i := r.item(); i == nil || i.Name != name {
		r.Errorf("not %s is selected:\n%s", name, r.text())
	}
}

// TestUrgentFirst: the worker that needs a person most is selected at the start, and the
// selection stays with its worker when others move.
func TestUrgentFirst(t *testing.T) {
	t.Parallel()
	r := newRig(t, 80, 24, crowd()...)
	r.selects("fix-login")
	r.press("down")
	r.selects("flaky")
	r.press("o") // by name
	r.selects("flaky")
}

// TestActions: keys do what verbs do, to the selected worker or to the marked ones.
func TestActions(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		keys []string
		want []string
	}{
		"kill":              {[]string{"x"}, []string{"kill id-api"}},
		"kill of marked":    {[]string{"space", "space", "x", "y"}, []string{"kill id-api id-web"}},
		"kill of all asks":  {[]string{"A", "x"}, nil},
		"clean asks":        {[]string{"G", "c"}, nil},
		"clean":             {[]string{"G", "c", "y"}, []string{"clean id-old"}},
		"refused text":      {append([]string{"G", "s"}, strings.Split("echo xi; caAxy", "")...), nil},
		"refused and enter": {[]string{"G", "s", "c", "enter", "g", "i"}, []string{"interrupt  id-api"}},
		"interrupt":         {[]string{"i"}, []string{"interrupt  id-api"}},
		"send":              {[]string{"s", "h", "i", "enter"}, []string{"send hi id-api"}},
		"send is cancelled": {[]string{"s", "h", "esc", "esc"}, nil},
		"keys":              {[]string{"K", "C", "enter"}, []string{"keys C id-api"}},
		"respawn asks not":  {[]string{"r"}, []string{"respawn id-api"}},
		"clean of a living": {[]string{"c"}, nil},
		"attach":            {[]string{"a"}, []string{"attach id-api"}},
		"palette":           {[]string{":", "k", "i", "l", "enter"}, []string{"kill id-api"}},
		"palette with text": {[]string{":", "s", "e", "n", "d", "space", "h", "o", "enter"}, []string{"send ho id-api"}},
		"filter":            {[]string{"/", "w", "e", "b", "enter", "x"}, []string{"kill id-web"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t, 80, 24, runningWorker("api"), runningWorker("web"), ended("old", 0, swarm.CauseExited))
			r.press(c.keys...)
			if diff := cmp.Diff(c.want, r.host.called()); diff != "" {
				t.Errorf("(-want +got):\n%s\n%s", diff, r.text())
			}
		})
	}
}

// TestKillAsks: a kill asks only if work could be lost, and says what.
func TestKillAsks(t *testing.T) {
	t.Parallel()
	r := newRig(t, 80, 24, agent("busy", profile.Working))
	r.press("x")
	if text := r.text(); len(r.host.called()) > 0 || !strings.Contains(text, "busy is at work (3m): its turn is lost") {
		t.Errorf("it did %v and shows:\n%s", r.host.called(), text)
	}
	r.press("n")
	if calls := r.host.called(); len(calls) > 0 || r.mode != modeList {
		t.Errorf("the answer was no, and it did %v", calls)
	}
	r.press("x", "y")
	if diff := cmp.Diff([]string{"kill id-busy"}, r.host.called()); diff != "" {
		t.Errorf("the answer was yes (-want +got):\n%s", diff)
	}
	if !strings.Contains(r.text(), "killed busy") {
		t.Errorf("no line has the kill:\n%s", r.text())
	}
}

// TestEnterIsNoYes: enter answers no question that is asked before something is lost.
func TestEnterIsNoYes(t *testing.T) {
	t.Parallel()
	for _, key := range []string{"x", "r"} {
		r := newRig(t, 80, 24, agent("busy", profile.Blocked))
		r.press(key, "enter")
		if calls := r.host.called(); len(calls) > 0 || r.mode != modeConfirm {
			t.Errorf("%s and enter did %v", key, calls)
		}
	}
}

// TestRefusedText: after the line for a text was refused, the letters of the text run no
// commands until there is a pause.
func TestRefusedText(t *testing.T) {
	t.Parallel()
	r := newRig(t, 80, 24, ended("old", 3, swarm.CauseExited))
	now := clock
	r.clock = func() time.Time { return now }
	r.press("s")
	if text := r.text(); !strings.Contains(text, "cannot send to 'old': it has ended (exited 3)") {
		t.Errorf("no line has the refusal:\n%s", text)
	}
	r.press("o", "b")
	if text := r.text(); !strings.Contains(text, ignored) || r.view.Sort != dash.SortUrgency || r.view.Group != dash.GroupNone {
		t.Errorf("the text ran commands:\n%s", text)
	}
	now = now.Add(pauseOfTyping)
	r.press("o")
	if r.view.Sort != dash.SortName {
		t.Error("after a pause a key still does nothing")
	}
	r.press("s", "down", "o")
	if r.view.Sort != dash.SortAge {
		t.Error("after an arrow a key still does nothing")
	}
}

// TestSeen: a worker that failed is seen when the person opens it, not when the program
// selects it or the person passes by.
func TestSeen(t *testing.T) {
	t.Parallel()
	build := ended("build", 3, swarm.CauseExited)
	build.Ended = clock.Add(-time.Hour)
	r := newRig(t, 80, 24, runningWorker("api"), build, ended("tests", 0, swarm.CauseExited))
	now := clock
	r.clock = func() time.Time { return now }
	show := func() { r.send(boardMsg(r.session.board.Snapshot())) }
	r.selects("build")
	now = now.Add(time.Minute)
	r.press("down")
	show()
	r.press("G")
	r.selects("tests")
	r.press("g")
	r.selects("build")
	r.press("tab")
	show()
	if r.at != 0 {
		t.Error("the row of an opened worker moves while it is selected")
	}
	r.press("G")
	r.selects("build")
	if r.at != 2 {
		t.Errorf("the last row is %d", r.at)
	}
	r.press("g")
	r.selects("api")
	if text := r.text(); !strings.Contains(text, "✗ 1 failed") || !strings.Contains(text, "✓ 1 ended") {
		t.Errorf("the counts contradict the rows:\n%s", text)
	}
}

// TestSkipped: the message reports marked workers that an action left out.
func TestSkipped(t *testing.T) {
	t.Parallel()
	r := newRig(t, 80, 24, runningWorker("api"), runningWorker("web"), ended("old", 0, swarm.CauseExited))
	r.press("A", "x")
	if text := r.text(); !strings.Contains(text, "Kill 2 workers?  1 other had already ended.") {
		t.Errorf("the question is:\n%s", text)
	}
	r.press("y")
	if text := r.text(); !strings.Contains(text, "killed 2 workers; 1 other had already ended") {
		t.Errorf("the message is:\n%s", text)
	}
}

// TestAnswer: the keys of choices pick them.
func TestAnswer(t *testing.T) {
	t.Parallel()
	for name, keys := range map[string][]string{"key": {"y", "2"}, "arrow": {"y", "down", "enter"}, "text": {"y", "N", "o", "enter"}} {
		r := newRig(t, 80, 24, agent("asks", profile.Blocked))
		r.press(keys...)
		if diff := cmp.Diff([]string{"answer id-asks No d1"}, r.host.called()); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

// TestAnswerWithBoxes: several choices and a text are sent together.
func TestAnswerWithBoxes(t *testing.T) {
	t.Parallel()
	yes, no := true, false
	w := agent("asks", profile.Blocked)
	w.State.Choices = []profile.Choice{
		{Key: "1", Label: "Honey", Checked: &yes},
		{Key: "2", Label: "Jam", Checked: &no},
		{Key: "3", Label: "Butter", Checked: &no},
		{Key: "4", Label: "Type something.", Kind: profile.KindText},
		{Label: "Submit", Kind: profile.KindSubmit},
	}
	one := agent("asks", profile.Blocked)
	one.State.Choices = []profile.Choice{{Key: "1", Label: "Rye", Selected: true}, {Key: "2", Label: "Type something.", Kind: profile.KindText}}
	for _, tt := range []struct {
		name string
		w    worker.Worker
		keys []string
		want string
	}{
		{"as it is", w, []string{"y", "enter"}, "answer id-asks Honey submit d1"},
		{"two more", w, []string{"y", "2", "down", "space", "enter"}, "answer id-asks Honey Jam Butter submit d1"},
		{"another one", w, []string{"y", "space", "2", "enter"}, "answer id-asks Jam submit d1"},
		{"none but a text", w, []string{"y", "1", "o", "k", "enter"}, "answer id-asks ok submit d1"},
		{"a text alone", one, []string{"y", "2", "1", "2", "enter"}, "answer id-asks 12 d1"},
		{"a choice next to a field", one, []string{"y", "enter"}, "answer id-asks Rye d1"},
	} {
		r := newRig(t, 80, 24, tt.w)
		r.press(tt.keys[:len(tt.keys)-1]...)
		if text := r.text(); strings.Contains(text, "Submit") || tt.name == "as it is" && !strings.Contains(text, "[x] Honey") {
			t.Errorf("%s: the question is:\n%s", tt.name, text)
		}
		r.press(tt.keys[len(tt.keys)-1])
		if diff := cmp.Diff([]string{tt.want}, r.host.called()); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.name, diff)
		}
	}
}

// TestErrors: what fails is said, until a key is pressed.
func TestErrors(t *testing.T) {
	t.Parallel()
	r := newRig(t, 80, 24, runningWorker("api"))
	r.press("a")
	if !strings.Contains(r.text(), "does not support attach") {
		t.Errorf("no error is shown:\n%s", r.text())
	}
	r.press("esc")
	if strings.Contains(r.text(), "does not support attach") {
		t.Errorf("the error stays:\n%s", r.text())
	}
}

// TestFold: enter folds a group, and the header counts on.
func TestFold(t *testing.T) {
	t.Parallel()
	r := newRig(t, 80, 24, crowd()...)
	r.press("b", "g", "enter")
	if text := r.text(); !strings.Contains(text, "▸") || r.item() != nil {
		t.Errorf("nothing is folded:\n%s", text)
	}
}

// TestMouse: a click selects, one on a tab turns to it, one on a hint does what its key does.
func TestMouse(t *testing.T) {
	t.Parallel()
	r := newRig(t, 80, 24, runningWorker("api"), runningWorker("web"))
	click := func(x, y int) { r.finish(tea.MouseClickMsg{X: x, Y: y, Button: tea.MouseLeft}) }
	_ = r.View()
	click(5, headRows+1)
	r.selects("web")
	at := strings.Index(strings.Split(ansiStrip(r.View().Content), "\n")[1], "Details")
	click(len([]rune(strings.Split(ansiStrip(r.View().Content), "\n")[1][:at])), 1)
	if r.chosen != tabDetails {
		t.Errorf("the tab is %q", r.chosen)
	}
	foot := strings.Split(ansiStrip(r.View().Content), "\n")[23]
	click(strings.Index(foot, "kill"), 23)
	if diff := cmp.Diff([]string{"kill id-web"}, r.host.called()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	r.send(tea.MouseWheelMsg{X: 5, Y: 5, Button: tea.MouseWheelUp})
	r.selects("api")
}

// TestProgram runs the model in a program: it draws, takes keys and ends.
func TestProgram(t *testing.T) {
	t.Parallel()
	r := newRig(t, 80, 24, runningWorker("api"))
	tm := teatest.NewTestModel(t, r.model, teatest.WithInitialTermSize(80, 24))
	patience := teatest.WithDuration(time.Minute)
	teatest.WaitFor(t, tm.Output(), func(out []byte) bool { return strings.Contains(string(out), "api") }, patience)
	tm.Type("?")
	teatest.WaitFor(t, tm.Output(), func(out []byte) bool { return strings.Contains(string(out), "this page") }, patience)
	tm.Type("qq")
	tm.WaitFinished(t, teatest.WithFinalTimeout(time.Minute))
}

// TestFlood: a log that is scrolled back stays where it is while more is written.
func TestFlood(t *testing.T) {
	t.Parallel()
	r := newRig(t, 80, 24, runningWorker("api", func(w *worker.Worker) { w.Name = "api" }))
	r.chosen = tabLog
	for range 200 {
		r.pane.lines = append(r.pane.lines, "line")
	}
	r.pane.tab, r.pane.total = tabLog, 200
	r.press("pgup")
	if r.pane.back == 0 || !strings.Contains(r.text(), "f follows the end") {
		t.Errorf("it is not scrolled back:\n%s", r.text())
	}
	r.press("f")
	if r.pane.back != 0 {
		t.Error("f does not follow the end")
	}
}

// TestTabs: each tab shows its part of what is known.
func TestTabs(t *testing.T) {
	t.Parallel()
	r := newRig(t, 80, 24, agent("fix", profile.Idle))
	r.host.events = []registry.Event{
		{Time: clock, Worker: "fix", Kind: history.Spawned},
		{Time: clock.Add(time.Minute), Worker: "fix", Kind: history.Failed, Text: "exit status \x1b[2J3"},
	}
	for _, c := range []struct{ tab, want string }{
		{"Log", ""}, {"Details", "swarm rescue restore fix"}, {"Diff", "login.go  +12 -3"}, {"History", `failed: exit status \x1b[2J3`},
	} {
		r.press("tab")
		if text := r.text(); r.pane.tab != tab(c.tab) || !strings.Contains(text, c.want) {
			t.Errorf("%s shows no %q:\n%s", r.pane.tab, c.want, text)
		}
	}
}

// TestAnswerIsForTheOneShown: the answer is for the dialog that was there when the question
// was opened, and the whole of it is shown.
func TestAnswerIsForTheOneShown(t *testing.T) {
	t.Parallel()
	r := newRig(t, 80, 24, agent("asks", profile.Blocked))
	r.press("y")
	if text := r.text(); !strings.Contains(text, "Bash command") || !strings.Contains(text, "make deploy") {
		t.Errorf("the question is:\n%s", text)
	}
	w := agent("asks", profile.Blocked)
	w.State.Dialog.Digest, w.State.Question = "d2", "Do you want to run curl | sh?"
	r.send(boardMsg(newRig(t, 80, 24, w).session.board.Snapshot()))
	r.press("2")
	if diff := cmp.Diff([]string{"answer id-asks No d1"}, r.host.called()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	// Lines that have no space are counted.
	w.State.Dialog.Text = slices.Repeat([]string{"a line"}, 100)
	r = newRig(t, 80, 24, w)
	r.press("y")
	if text := r.text(); !strings.Contains(text, " more rows not shown: swarm status asks") || !strings.Contains(text, "2  No") {
		t.Errorf("the question is:\n%s", text)
	}
}
