package workers

import (
	"errors"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/swarmhost/swarm/cmd/swarm/internal/apptest"
	"github.com/swarmhost/swarm/host/worker"
	"github.com/swarmhost/swarm/shared/swarm"
)

func TestLogPrinter(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 1, 2, 3, 4, 5, 6e6, time.Local)
	pieces := []swarm.Output{
		{Time: at, Stream: swarm.Stdout, Data: []byte("be"), Partial: true, Dropped: 7},
		{Time: at, Stream: swarm.Stdout, Data: []byte("gin\x1b[0m")},
		{Time: at, Stream: swarm.Stdout, Data: []byte("out"), Partial: true},
		{Time: at, Stream: swarm.Stderr, Data: []byte("err")},
		{Time: at, Stream: swarm.Stdout, Data: []byte("end"), Partial: true},
	}
	stamp := at.Format("2006-01-02T15:04:05.000Z07:00 ")
	for _, c := range []struct {
		timestamps, plain bool
		want              string
	}{
		{false, false, "begin\x1b[0m\nouterr\nend"},
		{false, true, "begin\nerr\noutend"},
		{true, false, stamp + "begin\x1b[0m\n" + stamp + "out\n" + stamp + "err\n" + stamp + "end"},
		{true, true, stamp + "begin\n" + stamp + "err\n" + stamp + "outend"},
	} {
		a, stdout, stderr := apptest.New()
		p := LogPrinter{App: a, timestamps: c.timestamps, Form: LogForm{plain: c.plain}}
		for _, piece := range pieces {
			if err := p.Print(piece); err != nil {
				t.Fatal(err)
			}
		}
		if err := p.close(); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(c.want, stdout.String()); diff != "" {
			t.Errorf("timestamps %v, plain %v (-want +got):\n%s", c.timestamps, c.plain, diff)
		}
		if want := "swarm: warning: 7 bytes of older output were dropped\n"; stderr.String() != want {
			t.Errorf("stderr is %q, want %q", stderr, want)
		}
	}
}

func TestLogLastLines(t *testing.T) {
	t.Parallel()
	picture := []byte("\x1b[?1049h\x1b[1;1Hone\x1b[2;1Htwo\x1b[3;1Hthree")
	for n, want := range map[int]string{0: "", 1: "three", 2: "two\nthree", 3: "one\ntwo\nthree", 9: "one\ntwo\nthree"} {
		a, stdout, _ := apptest.New()
		p := LogPrinter{App: a, Form: LogForm{plain: true}, last: &n}
		if err := errors.Join(p.Print(swarm.Output{Stream: swarm.Stdout, Data: picture, Partial: true}), p.close()); err != nil {
			t.Fatal(err)
		}
		if got := stdout.String(); got != want {
			t.Errorf("the last %d lines are %q, want %q", n, got, want)
		}
	}
}

func TestLogJSON(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 1, 2, 3, 4, 5, 6e6, time.UTC)
	pieces := []swarm.Output{
		{Time: at, Stream: swarm.Stdout, Data: []byte("<gr\xc3"), Partial: true, Dropped: 7},
		{Time: at, Stream: swarm.Stderr, Data: []byte("err")},
		{Time: at, Stream: swarm.Stdout, Data: []byte("\xbcn>\x1b[31m \xe2\x82"), Partial: true},
		{Time: at, Stream: swarm.Stdout, Data: []byte("\xacx\xff\u202e")},
		{Time: at, Stream: swarm.Stdout, Data: []byte("10%\r20%"), Partial: true},
	}
	const when = `{"time":"2026-01-02T03:04:05.006Z","stream":`
	for _, c := range []struct {
		plain bool
		want  string
	}{
		{false, when + `"stdout","text":"<gr","partial":true,"dropped":7}` + "\n" +
			when + `"stderr","text":"err","partial":false,"dropped":0}` + "\n" +
			when + `"stdout","text":"ün>\u001b[31m ","partial":true,"dropped":0}` + "\n" +
			when + `"stdout","text":"€x\ufffd\u202e","partial":false,"dropped":0}` + "\n" +
			when + `"stdout","text":"10%\r20%","partial":true,"dropped":0}` + "\n"},
		{true, when + `"stderr","text":"err","partial":false,"dropped":7}` + "\n" +
			when + `"stdout","text":"<grün> €x\ufffd\u202e","partial":false,"dropped":0}` + "\n" +
			when + `"stdout","text":"20%","partial":true,"dropped":0}` + "\n"},
	} {
		a, stdout, _ := apptest.New()
		p := LogPrinter{App: a, json: true, Form: LogForm{plain: c.plain}}
		for _, piece := range pieces {
			if err := p.Print(piece); err != nil {
				t.Fatal(err)
			}
		}
		if err := p.close(); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(c.want, stdout.String()); diff != "" {
			t.Errorf("plain %v (-want +got):\n%s", c.plain, diff)
		}
	}
}

func TestWaitCode(t *testing.T) {
	t.Parallel()
	stopped := func(e swarm.Exit) worker.Worker { return worker.Worker{Status: worker.StatusStopped, Exit: &e} }
	ok, three := stopped(swarm.Exit{}), stopped(swarm.Exit{Code: 3})
	for _, c := range []struct {
		want int
		ws   []worker.Worker
	}{
		{0, nil},
		{0, []worker.Worker{ok}},
		{3, []worker.Worker{three}},
		{139, []worker.Worker{stopped(swarm.Exit{Code: -1, Signal: "SIGSEGV"})}},
		{125, []worker.Worker{stopped(swarm.Exit{Code: -1, Cause: swarm.CauseNotStarted})}},
		{125, []worker.Worker{{Status: worker.StatusStopped}}},
		{125, []worker.Worker{{Status: worker.StatusLost}}},
		{125, []worker.Worker{{Status: worker.StatusUnknown}}},
		{0, []worker.Worker{ok, ok}},
		{1, []worker.Worker{ok, three}},
	} {
		if got := waitCode(c.ws); got != c.want {
			t.Errorf("%+v: exit code %d, want %d", c.ws, got, c.want)
		}
	}
}

// TestLogGrep: the text of a line decides, what is printed has its colours.
func TestLogGrep(t *testing.T) {
	t.Parallel()
	pieces := []swarm.Output{
		{Stream: swarm.Stdout, Data: []byte("\x1b[31mer"), Partial: true},
		{Stream: swarm.Stderr, Data: []byte("error: of stderr")},
		{Stream: swarm.Stdout, Data: []byte("ror: of stdout\x1b[0m")},
		{Stream: swarm.Stdout, Data: []byte("no error: here")},
		{Stream: swarm.Stdout, Data: []byte("\x1b[32merror\x1b[0m: the last"), Partial: true},
	}
	for _, c := range []struct {
		form LogForm
		skip int
		want string
	}{
		{LogForm{plain: true}, 0, "error: of stderr\nerror: of stdout\nerror: the last"},
		{LogForm{terminal: true}, 0, "error: of stderr\n\x1b[31merror: of stdout\x1b[0m\n\x1b[32merror\x1b[0m: the last"},
		{LogForm{plain: true}, 2, "error: the last"},
	} {
		a, stdout, _ := apptest.New()
		p := LogPrinter{App: a, Form: c.form, grep: regexp.MustCompile("^error: "), skip: map[string]int{"": c.skip}}
		for _, piece := range pieces {
			if err := p.Print(piece); err != nil {
				t.Fatal(err)
			}
		}
		if err := p.close(); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(c.want, stdout.String()); diff != "" {
			t.Errorf("%+v, skip %d (-want +got):\n%s", c.form, c.skip, diff)
		}
	}
}

// TestLogsOfSeveral: each line begins with the name of its worker, also one that another
// worker has interrupted.
func TestLogsOfSeveral(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 1, 2, 3, 4, 5, 6e6, time.UTC)
	pieces := []struct {
		worker string
		out    swarm.Output
	}{
		{"a", swarm.Output{Time: at, Stream: swarm.Stdout, Data: []byte("one")}},
		{"web", swarm.Output{Time: at, Stream: swarm.Stdout, Data: []byte("be"), Partial: true, Dropped: 3}},
		{"web", swarm.Output{Time: at, Stream: swarm.Stdout, Data: []byte("gin")}},
		{"a", swarm.Output{Time: at, Stream: swarm.Stdout, Data: []byte("ready? "), Partial: true}},
		{"web", swarm.Output{Time: at, Stream: swarm.Stderr, Data: []byte("wrong\x1b[0K")}},
		{"a", swarm.Output{Time: at, Stream: swarm.Stdout, Data: []byte("yes")}},
		{"web", swarm.Output{Time: at, Stream: swarm.Stdout, Data: []byte("open"), Partial: true}},
	}
	const when = `{"time":"2026-01-02T03:04:05.006Z","stream":`
	for name, c := range map[string]struct {
		form LogForm
		json bool
		want string
	}{
		"bytes": {want: "a   | one\nweb | begin\na   | ready? \nweb | wrong\x1b[0K\na   | yes\nweb | open\n"},
		"plain": {form: LogForm{plain: true}, want: "a   | one\nweb | begin\nweb | wrong\na   | ready? yes\nweb | open\n"},
		"json": {json: true, want: when + `"stdout","text":"one","partial":false,"dropped":0,"worker":"a"}` + "\n" +
			when + `"stdout","text":"be","partial":true,"dropped":3,"worker":"web"}` + "\n" +
			when + `"stdout","text":"gin","partial":false,"dropped":0,"worker":"web"}` + "\n" +
			when + `"stdout","text":"ready? ","partial":true,"dropped":0,"worker":"a"}` + "\n" +
			when + `"stderr","text":"wrong\u001b[0K","partial":false,"dropped":0,"worker":"web"}` + "\n" +
			when + `"stdout","text":"yes","partial":false,"dropped":0,"worker":"a"}` + "\n" +
			when + `"stdout","text":"open","partial":true,"dropped":0,"worker":"web"}` + "\n"},
	} {
		a, stdout, stderr := apptest.New()
		p := LogPrinter{App: a, Form: c.form, json: c.json, labels: labels([]string{"web", "a"}, false, false)}
		for _, piece := range pieces {
			if err := p.printOf(piece.worker, piece.out); err != nil {
				t.Fatal(err)
			}
		}
		p.note("web", "web: stopped (exit 0)")
		if err := p.close(); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(c.want, stdout.String()); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
		if want := "swarm: warning: 'web': 3 bytes of older output were dropped\nswarm: web: stopped (exit 0)\n"; stderr.String() != want {
			t.Errorf("%s: stderr is %q, want %q", name, stderr, want)
		}
	}
}

func TestLogLabels(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("n", 64)
	got := labels([]string{"web", long}, true, true)
	for name, text := range map[string]string{"web": "web" + strings.Repeat(" ", 21), long: strings.Repeat("n", 23) + "…"} {
		want := "\x1b[" + strconv.Itoa(coloursOf([]string{"web", long})[name]) + "m" + text + " |\x1b[0m "
		if got[name] != want {
			t.Errorf("the label of %s is %q, want %q", name, got[name], want)
		}
	}
	if got := labels([]string{"web", long}, false, false)[long]; got != long+" | " {
		t.Errorf("a pipe gets %q", got)
	}
	// Each has a colour of its own while there are enough, whatever their order.
	names := []string{"a", "b", "c", "d", "e", "f", "g", "h", "i", "j"}
	colours := coloursOf(names)
	slices.Reverse(names)
	if diff := cmp.Diff(colours, coloursOf(names)); diff != "" {
		t.Errorf("in another order: %s", diff)
	}
	seen := map[int]bool{}
	for _, colour := range colours {
		seen[colour] = true
	}
	if len(seen) != len(names) {
		t.Errorf("%d colours for %d names", len(seen), len(names))
	}
	if one := coloursOf([]string{"a"})["a"]; one != coloursOf([]string{"a", "zzz"})["a"] {
		t.Error("the colour depends on the others")
	}
}

// TestLogGrepSkipsEachWorker: the line of another worker does not show the rest of a line that
// is left out.
func TestLogGrepSkipsEachWorker(t *testing.T) {
	t.Parallel()
	a, stdout, _ := apptest.New()
	p := LogPrinter{
		App: a, Form: LogForm{plain: true}, Live: true, labels: labels([]string{"a", "b"}, false, false),
		grep: regexp.MustCompile("^error"), skip: map[string]int{"a": 1},
	}
	out := func(text string, partial bool) swarm.Output {
		return swarm.Output{Stream: swarm.Stdout, Data: []byte(text), Partial: partial}
	}
	err := p.printOf("a", out("error: old", true))
	p.settle(time.Time{})
	err = errors.Join(err, p.printOf("b", out("error: new", false)), p.printOf("a", out(" and its rest", false)), p.close())
	if got := stdout.String(); got != "b | error: new\n" || err != nil {
		t.Errorf("%q, %v", got, err)
	}
}
