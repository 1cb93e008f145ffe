package main

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/swarmhost/swarm/host"
	"github.com/swarmhost/swarm/shared/swarm"
)

var plainCases = map[string]string{
	"plain ümläut\ttab":                                         "plain ümläut\ttab",
	"\x1b[31mred\x1b[0m \x1b[1;38;5;9mx\x1b[m":                  "red x",
	"\x1b[?2004h\x1b[K$ \x1b[6n":                                "$ ",
	"\x1b]0;title\x07a\x1b]8;;http://x\x1b\\b":                  "ab",
	"\x1bP1$r0m\x1b\\a\x1b_G1\x1b\\b\x1b^x\x1b\\c\x1bXy\x1b\\d": "abcd",
	"\x1b(B\x1b)0a\x1b7\x1b8\x1b=\x1b>\x1bMb":                   "ab",
	"a\x00\x07\x08\x0b\x0c\x0e\x7fb":                            "ab",
	"\u009b31mred\u009d0;t\u009c no\u00a0break":                 "red no\u00a0break",
	"dos\r":                    "dos",
	"\r10%\r20%\r\r100%\r":     "10%\n20%\n100%",
	"\x1b[31\x1b[32mgreen":     "green",
	"cut \x1b[31\x18off":       "cut off",
	"\x1b]0;new\x1b[1mbold":    "bold",
	"end in the middle \x1b[3": "end in the middle ",
	"half a letter \xc2":       "half a letter \xc2",
	"not utf-8 \xff\xfe \xc3x": "not utf-8 \xff\xfe \xc3x",
	"\x1b\x1b[0mdouble":        "double",
}

func TestPlain(t *testing.T) {
	t.Parallel()
	for in, want := range plainCases {
		var whole plainText
		if got := string(whole.strip([]byte(in), true)); got != want {
			t.Errorf("%q is %q, want %q", in, got, want)
		}
		// However it is cut into pieces.
		for cut := range len(in) {
			var p plainText
			got := string(p.strip([]byte(in[:cut]), false)) + string(p.strip([]byte(in[cut:]), true))
			if got != want {
				t.Errorf("%q + %q is %q, want %q", in[:cut], in[cut:], got, want)
			}
		}
	}
}

// A sequence that never ends hides nothing beyond its line.
func TestPlainSequenceEndsWithTheLine(t *testing.T) {
	t.Parallel()
	var p plainText
	p.strip([]byte("\x1b]0;never ended"), true)
	if got := string(p.strip([]byte("next line"), true)); got != "next line" {
		t.Errorf("the next line is %q", got)
	}
}

func FuzzPlain(f *testing.F) {
	for in := range plainCases {
		f.Add(in)
	}
	f.Fuzz(func(t *testing.T, in string) {
		var p plainText
		out := string(p.strip([]byte(in), true))
		if strings.ContainsAny(out, "\x1b\r\x07\x08") {
			t.Errorf("%q became %q", in, out)
		}
		var again plainText
		if twice := string(again.strip([]byte(out), true)); twice != out {
			t.Errorf("%q became %q, then %q", in, out, twice)
		}
	})
}

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
		{false, true, "begin\nouterr\nend"},
		{true, true, stamp + "begin\n" + stamp + "out\n" + stamp + "err\n" + stamp + "end"},
	} {
		a, stdout, stderr := testApp()
		p := logPrinter{app: a, timestamps: c.timestamps, plain: c.plain}
		for _, piece := range pieces {
			if err := p.print(piece); err != nil {
				t.Fatal(err)
			}
		}
		if diff := cmp.Diff(c.want, stdout.String()); diff != "" {
			t.Errorf("timestamps %v, plain %v (-want +got):\n%s", c.timestamps, c.plain, diff)
		}
		if want := "swarm: warning: 7 bytes of older output are no longer kept\n"; stderr.String() != want {
			t.Errorf("stderr is %q, want %q", stderr, want)
		}
	}
}

func TestProgressLine(t *testing.T) {
	t.Parallel()
	waiting := []host.KillEvent{
		{Worker: "slow", Deadline: now.Add(10 * time.Second)},
		{Worker: "quick", Deadline: now.Add(1500 * time.Millisecond)},
		{Worker: "late", Deadline: now.Add(-time.Second)},
	}
	for width, want := range map[int]string{
		79: "waiting for late, quick (2s left), slow (10s left)",
		45: "waiting for late, quick (2s left) and 1 more",
		30: "waiting for late and 2 more",
		10: "waiting for 3",
	} {
		if got := progressLine(waiting, now, width); got != want {
			t.Errorf("in %d columns %q, want %q", width, got, want)
		}
	}
	if got := progressLine(nil, now, 80); got != "" {
		t.Errorf("nobody is waited for: %q", got)
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
