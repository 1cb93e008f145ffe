package workers

import (
	"errors"
	"regexp"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/swarmhost/swarm/cmd/swarm/internal/apptest"
	"github.com/swarmhost/swarm/host"
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
	stopped := func(e swarm.Exit) host.Worker { return host.Worker{Status: host.StatusStopped, Exit: &e} }
	ok, three := stopped(swarm.Exit{}), stopped(swarm.Exit{Code: 3})
	for _, c := range []struct {
		want int
		ws   []host.Worker
	}{
		{0, nil},
		{0, []host.Worker{ok}},
		{3, []host.Worker{three}},
		{139, []host.Worker{stopped(swarm.Exit{Code: -1, Signal: "SIGSEGV"})}},
		{125, []host.Worker{stopped(swarm.Exit{Code: -1, Cause: swarm.CauseNotStarted})}},
		{125, []host.Worker{{Status: host.StatusStopped}}},
		{125, []host.Worker{{Status: host.StatusLost}}},
		{125, []host.Worker{{Status: host.StatusUnknown}}},
		{0, []host.Worker{ok, ok}},
		{1, []host.Worker{ok, three}},
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
		p := LogPrinter{App: a, Form: c.form, grep: regexp.MustCompile("^error: "), skip: c.skip}
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
