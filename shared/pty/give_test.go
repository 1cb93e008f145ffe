package pty_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/swarmhost/swarm/shared/pty"
)

// reader is a script that puts the terminal in a mode and copies what it reads.
func reader(t *testing.T, stty string) (p *program, file string) {
	t.Helper()
	file = filepath.Join(t.TempDir(), "got")
	p = run(t, "stty "+stty+"; echo ready; exec cat > "+file)
	p.shows("ready")
	return p, file
}

// everyByte is text of several lines with each byte in it.
func everyByte() string {
	var b strings.Builder
	for c := range 256 {
		b.WriteByte(byte(c))
		b.WriteString(" and\n")
	}
	return b.String()
}

func TestGiveArrivesAsItWas(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct{ stty, text string }{
		"raw, 10 KB":          {"raw -echo", strings.Repeat("0123456789", 1024)},
		"raw, 200 KB":         {"raw -echo", strings.Repeat("0123456789abcde\n", 200<<10/16)},
		"raw, every byte":     {"raw -echo", everyByte()},
		"raw with echo":       {"raw echo", strings.Repeat("x", 10<<10)},
		"line, several lines": {"sane", "one\n-two\n\n--three\n"},
		"line, every byte":    {"sane -echo", everyByte()},
		"line, echoed":        {"sane", everyByte()},
		"line, 100 KB":        {"sane -echo", strings.Repeat(strings.Repeat("y", 99)+"\n", 1024)},
		"line, longest":       {"sane -echo", strings.Repeat("z", pty.MaxLine) + "\n" + strings.Repeat("\x03", pty.MaxLine) + "\n"},
		"a dash":              {"sane", "-x --help\n"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p, file := reader(t, tt.stty)
			p.give(tt.text, false)
			if diff := cmp.Diff(tt.text, p.output(file, len(tt.text))); diff != "" {
				t.Errorf("%.500s", diff)
			}
		})
	}
}

func TestEnter(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct{ stty, want string }{
		"line":             {"sane", "text\n"},
		"line without CR":  {"sane -icrnl", "text\n"},
		"raw":              {"raw", "text\r"},
		"raw, CR to NL":    {"raw icrnl", "text\n"},
		"characters alone": {"-icanon min 1", "text\n"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p, file := reader(t, tt.stty)
			p.give("text", true)
			if got := p.output(file, len(tt.want)); got != tt.want {
				t.Errorf("got %q", got)
			}
		})
	}
}

// Enter comes in a read of its own: what comes with text is text.
func TestEnterByItself(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "got")
	p := run(t, "stty raw -echo; printf ready; for i in 1 2 3; do dd bs=4096 count=1 2>/dev/null; printf '|'; done > "+file)
	p.shows("ready")
	p.give("one\ntwo", true)
	if got := p.output(file, 10); got != "one\ntwo|\r|" {
		t.Errorf("read as %q", got)
	}
}

func TestRefused(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct{ stty, text, reason string }{
		"long line":               {"sane", "a\n" + strings.Repeat("x", 5000), "a line of 5000 bytes: the worker's terminal is in line mode and takes 4095"},
		"long by one":             {"sane", strings.Repeat("x", pty.MaxLine+1), "a line of 4096 bytes"},
		"interrupt in cbreak":     {"-icanon min 1", "a\x03", "acts on Ctrl-C"},
		"no literal next":         {"sane lnext undef", "a\x15", "acts on Ctrl-U"},
		"stop in raw":             {"raw ixon", "\x13", "acts on Ctrl-S"},
		"carriage return":         {"raw icrnl", "a\r\nb", "a carriage return"},
		"seven bits":              {"raw istrip", "é", "seven bits"},
		"newline that is changed": {"raw inlcr", "a\nb", "a newline"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p, file := reader(t, tt.stty)
			p.refuses(tt.text, tt.reason)
			// Nothing of it was given.
			p.give("next", true)
			if got := p.output(file, 5); !strings.HasPrefix(got, "next") {
				t.Errorf("got %q", got)
			}
		})
	}
}

// The given part of a line counts, or the next text would be cut.
func TestUnfinishedLineCounts(t *testing.T) {
	t.Parallel()
	p, file := reader(t, "sane -echo")
	half := strings.Repeat("x", 4000)
	p.give(half, false)
	p.refuses(strings.Repeat("y", 96), "a line of 4096 bytes")
	p.give("zz", true)
	p.give(half, true)
	want := half + "zz\n" + half + "\n"
	if got := p.output(file, len(want)); got != want {
		t.Errorf("%d bytes of %d", len(got), len(want))
	}
}

// A shell asks for bracketed paste: lines are inserted and not run one by one, and a
// tab does not ask for a completion.
func TestBracketedPaste(t *testing.T) {
	t.Parallel()
	p := start(t, "bash", "--norc", "--noprofile", "-i")
	p.shows("\x1b[?2004h")
	p.give("echo 'a\tb\n-c' |\nod -An -c | tr -d '\\n '", true)
	// The next prompt asks for it again.
	all := p.shows(`a\tb\n-c\n` + "\x1b[?2004h")
	if strings.Contains(all, ">") {
		t.Errorf("the lines were given one by one: %q", all)
	}
	p.refuses("a\n\x1b[201~rm", "ends a paste")
	p.refuses("a\x03", "Ctrl-C")
	p.give("exit", true)
	<-p.done
}

// A program that asked for bracketed paste gets every text in brackets: of what is typed, a
// single character may be a command.
func TestPastedHoweverShort(t *testing.T) {
	t.Parallel()
	p, file := keyReader(t, "raw -echo", `\033[?2004h`)
	p.give("!rm x", true)
	p.give("", true)
	p.give("?", false)
	want := "\x1b[200~!rm x\x1b[201~|\r|\r|\x1b[200~?\x1b[201~|"
	if got := p.output(file, len(want)); got != want {
		t.Errorf("read %q, want %q", got, want)
	}
	for _, text := range []string{"\x1b[201~", "one line\x1b[201~!rm"} {
		p.refuses(text, "ends a paste")
	}
}

// A program that does not take pasted text yet gets no text.
func TestPasteOnly(t *testing.T) {
	t.Parallel()
	t.Run("in time", func(t *testing.T) {
		t.Parallel()
		file := filepath.Join(t.TempDir(), "got")
		p := run(t, "echo drawn; read -r line < "+fifo(t, file)+"; stty raw -echo; printf '\\033[?2004h'; exec cat > "+file)
		p.shows("drawn")
		done := make(chan error, 1)
		go func() { done <- p.Give(t.Context(), []byte("!x"), pty.GiveOptions{Enter: true, PasteOnly: true}) }()
		if err := os.WriteFile(file+".fifo", []byte("go\n"), 0); err != nil {
			t.Fatal(err)
		}
		if err := <-done; err != nil {
			t.Fatal(err)
		}
		if got, want := p.output(file, 15), "\x1b[200~!x\x1b[201~\r"; got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	})
	for name, script := range map[string]string{
		"line mode":   `printf '\033[?2004h'`,
		"never asked": "stty raw -echo",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			file := filepath.Join(t.TempDir(), "got")
			p := run(t, script+"; echo ready; exec cat > "+file)
			p.shows("ready")
			err := p.Give(t.Context(), []byte("!x"), pty.GiveOptions{Enter: true, PasteOnly: true})
			if !errors.Is(err, pty.ErrNoPaste) {
				t.Errorf("error %v", err)
			}
			p.give("y", true)
			if got := p.output(file, 2); !strings.HasPrefix(got, "y") {
				t.Errorf("got %q", got)
			}
		})
	}
}

// A pause before Enter is as long as asked for, and long enough if none is asked for.
func TestEnterAfter(t *testing.T) {
	t.Parallel()
	for after, want := range map[time.Duration]time.Duration{
		0: pty.EnterAfter, 10 * time.Millisecond: 10 * time.Millisecond, 400 * time.Millisecond: 400 * time.Millisecond,
	} {
		t.Run(after.String(), func(t *testing.T) {
			t.Parallel()
			p, file := keyReader(t, "raw -echo", "")
			began := time.Now()
			if err := p.Give(t.Context(), []byte("x"), pty.GiveOptions{Enter: true, EnterAfter: after}); err != nil {
				t.Fatal(err)
			}
			if took := time.Since(began); took < want {
				t.Errorf("took %v, want at least %v", took, want)
			}
			if got := p.output(file, 4); got != "x|\r|" {
				t.Errorf("read %q", got)
			}
		})
	}
}

// A program that does not read does not delay the caller, and gets the whole text once it reads.
func TestLate(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		stty string
		size int
	}{
		"line":       {"sane -echo", 10},
		"raw, small": {"raw -echo", 10},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			file := filepath.Join(t.TempDir(), "got")
			p := run(t, "stty "+tt.stty+"; echo ready; read -r line < "+fifo(t, file)+"; exec cat > "+file)
			p.shows("ready")
			began := time.Now()
			late := 0
			text := strings.Repeat("x", tt.size)
			done := make(chan error, 1)
			reported := make(chan struct{})
			go func() {
				done <- p.Give(t.Context(), []byte(text), pty.GiveOptions{Enter: true, Late: func() { late++; close(reported) }})
			}()
			<-reported
			if took := time.Since(began); took < pty.Patience || took > 3*pty.Patience {
				t.Errorf("late after %v", took)
			}
			if err := os.WriteFile(file+".fifo", []byte("go\n"), 0); err != nil {
				t.Fatal(err)
			}
			if err := <-done; err != nil || late != 1 {
				t.Errorf("error %v, reported late %d times", err, late)
			}
			if got := p.output(file, tt.size+1); got[:tt.size] != text {
				t.Errorf("got %q", got)
			}
		})
	}
}

func TestGiveEnds(t *testing.T) {
	t.Parallel()
	errStop := errors.New("stop")
	p := run(t, "stty raw -echo; echo ready; exec sleep 999")
	p.shows("ready")
	ctx, stop := contextWithCause(t)
	err := p.Give(ctx, []byte(strings.Repeat("x", 5000)), pty.GiveOptions{Enter: true, Late: func() { stop(errStop) }})
	if !errors.Is(err, errStop) {
		t.Errorf("error %v", err)
	}
}

func TestInterruptAndEOF(t *testing.T) {
	t.Parallel()
	p := run(t, `trap 'echo interrupted' INT; echo ready; cat; echo "ended $?"; read x; echo "read $? $x"; read x || echo over`)
	p.shows("ready")
	// From here on it is cat that has the terminal.
	p.give("line", true)
	p.shows("line\r\nline\r\n")
	if err := p.Interrupt(); err != nil {
		t.Fatal(err)
	}
	p.shows("interrupted")
	p.shows("ended 130")
	p.give("abc", false)
	if err := p.EOF(); err != nil {
		t.Fatal(err)
	}
	p.shows("read 1 abc")
}
