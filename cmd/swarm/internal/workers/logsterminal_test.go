package workers

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/swarmhost/swarm/cmd/swarm/internal/apptest"
	"github.com/swarmhost/swarm/cmd/swarm/internal/output"
	"github.com/swarmhost/swarm/shared/swarm"
)

// stateful are sequences that change a terminal, ask it or hide text. None has a
// part that is to be shown.
var stateful = []string{
	"\x1b[?1049h", "\x1b[?1000h\x1b[?1006h", "\x1b[?25l", "\x1b[?1h\x1b=", "\x1b[?2004h", "\x1b[?7l", "\x1b[4h",
	"\x1b]0;title\x07", "\x1b]52;c;ZXZpbA==\x1b\\", "\x1b]8;;http://x\x1b\\", "\x1bPq#0\x1b\\", "\x1b_Gi=1\x1b\\", "\x1b^x\x1b\\",
	"\x1b[2J", "\x1b[K", "\x1b[3D", "\x1b[s", "\x1b[1;2r", "\x1b[!p", "\x1b[6n", "\x1b[c", "\x1b[>q", "\x1b[2 q",
	"\x1b[>4;1m", "\x1b[?4m", "\x1b[11m", "\x1b[1 m",
	"\x1b7", "\x1bc", "\x1b(0", "\x1b#8", "\x1b%@", "\x0e", "\x07", "\x08", "\x00", "\x7f",
	"\u009b2J", "\u009d0;title\u009c", "\u0090q\u009c",
}

// onTerminal prints pieces as on a terminal.
func onTerminal(t *testing.T, env []string, o LogForm, pieces ...swarm.Output) string {
	t.Helper()
	a, stdout, _ := apptest.New()
	a.Env, a.OutWidth = env, func() int { return 80 }
	form := FormOfLogs(a)
	form.plain = form.plain || o.plain
	p := LogPrinter{App: a, Form: form}
	for _, piece := range pieces {
		piece.Time = time.Now()
		if err := p.Print(piece); err != nil {
			t.Fatal(err)
		}
	}
	if err := p.close(); err != nil {
		t.Fatal(err)
	}
	return stdout.String()
}

func outLine(s string) swarm.Output { return swarm.Output{Stream: swarm.Stdout, Data: []byte(s)} }

func outPart(s string) swarm.Output {
	return swarm.Output{Stream: swarm.Stdout, Data: []byte(s), Partial: true}
}

func TestLogsChangeNoTerminal(t *testing.T) {
	t.Parallel()
	for _, s := range stateful {
		in := s + "ab\x1b[1;31mred\x1b[0m"
		want := "ab\x1b[1;31mred\x1b[0m\n"
		if got := onTerminal(t, nil, LogForm{}, outLine(in)); got != want {
			t.Errorf("%q is %q, want %q", in, got, want)
		}
		if got := onTerminal(t, nil, LogForm{plain: true}, outLine(in)); got != "abred\n" {
			t.Errorf("plain, %q is %q", in, got)
		}
		for cut := range len(in) {
			if got := onTerminal(t, nil, LogForm{}, outPart(in[:cut]), outLine(in[cut:])); got != want {
				t.Errorf("%q + %q is %q, want %q", in[:cut], in[cut:], got, want)
			}
		}
	}
}

func TestLogsOnTerminal(t *testing.T) {
	t.Parallel()
	errLine := swarm.Output{Stream: swarm.Stderr, Data: []byte("\x1b[32merr")}
	errPart := swarm.Output{Stream: swarm.Stderr, Data: []byte("\x1b]0;ti"), Partial: true}
	errRest := swarm.Output{Stream: swarm.Stderr, Data: []byte("tle\x07end")}
	for name, c := range map[string]struct {
		in   []swarm.Output
		want string
	}{
		"colours left on":      {[]swarm.Output{outLine("\x1b[31mred"), outLine("next")}, "\x1b[31mred\x1b[0m\n\x1b[31mnext\x1b[0m\n"},
		"two streams":          {[]swarm.Output{outPart("\x1b[31mr"), errLine, outLine("ed")}, "\x1b[32merr\x1b[0m\n\x1b[31mred\x1b[0m\n"},
		"sequences of two":     {[]swarm.Output{outPart("a\x1b[3"), errPart, outPart("1mb"), errRest}, "end\na\x1b[31mb\x1b[0m"},
		"colours in all ways":  {[]swarm.Output{outLine("\x1b[38;5;12m1\x1b[48;2;1;12;13m2\x1b[4:3;58:2::1:2:3m3")}, "\x1b[38;5;12m1\x1b[48;2;1;12;13m2\x1b[4:3;58:2::1:2:3m3\x1b[0m\n"},
		"a font, not a colour": {[]swarm.Output{outLine("\x1b[1;11;31mx")}, "\x1b[1;31mx\x1b[0m\n"},
		"reset inside":         {[]swarm.Output{outLine("\x1b[1mx\x1b[0;31my\x1b[mz")}, "\x1b[1mx\x1b[0;31my\x1b[0mz\n"},
		"other lines":          {[]swarm.Output{outLine("\x1b[31m10%\r20%\x1b[5Bx")}, "\x1b[31m20%\x1b[0m\n\n\n\n\n   \x1b[31mx\x1b[0m\n"},
		"no letter split":      {[]swarm.Output{outPart("gr\xc3"), outPart("\xbc\xe2\x82"), outLine("\xac")}, "grü€\n"},
		"hidden characters":    {[]swarm.Output{outLine("a\u202eb\u200b\u2028\x1b[31m\u2067")}, `a\u202eb\u200b\u2028` + "\x1b[31m" + `\u2067` + "\x1b[0m\n"},
		"hidden, in pieces":    {[]swarm.Output{outPart("a\xe2"), outPart("\x80"), outLine("\xae")}, `a\u202e` + "\n"},
		"hidden, joined":       {[]swarm.Output{outLine("a\xe2\x1b[K\x80\xae")}, `a\u202e` + "\n"},
		"hidden, C1 joined":    {[]swarm.Output{outLine("a\xc2\x1b[31m\x9b2Jb")}, `a\xc2` + "\x1b[31m2Jb\x1b[0m\n"},
		"not UTF-8":            {[]swarm.Output{outLine("a\x9b2J\xff")}, `a\x9b2J\xff` + "\n"},
	} {
		if diff := cmp.Diff(c.want, onTerminal(t, nil, LogForm{}, c.in...)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

func TestLogsOnTerminalWithoutColours(t *testing.T) {
	t.Parallel()
	for _, env := range []string{"NO_COLOR=1", "TERM=dumb"} {
		got := onTerminal(t, []string{env}, LogForm{}, outLine("\x1b[?1049h\x1b[31mred\u202e"))
		if want := `red\u202e` + "\n"; got != want {
			t.Errorf("%s: %q, want %q", env, got, want)
		}
	}
}

func FuzzLogsOnTerminal(f *testing.F) {
	for _, s := range stateful {
		f.Add("a"+s, "b"+s+"\x1b[31m", true)
	}
	f.Fuzz(func(t *testing.T, first, second string, partial bool) {
		piece := outLine(first)
		piece.Partial = partial
		got := onTerminal(t, nil, LogForm{}, piece, outLine(second))
		for _, part := range strings.Split(got, "\x1b")[1:] {
			params, _, found := strings.Cut(part, "m")
			if !found || !strings.HasPrefix(params, "[") || strings.Trim(params[1:], "0123456789:;") != "" {
				t.Errorf("%q, %q is %q, and %q is not a colour", first, second, got, part)
			}
		}
		text := strings.NewReplacer("\x1b", "", "\n", "", "\t", "").Replace(got)
		if output.Visible(text) != text {
			t.Errorf("%q, %q is %q, which hides something", first, second, got)
		}
	})
}
