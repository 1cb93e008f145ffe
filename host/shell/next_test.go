package shell_test

import (
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"sync"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/swarmhost/swarm/host/shell"
	"github.com/swarmhost/swarm/shared/swarm"
)

func TestNext(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	h := w.host()
	for _, tt := range []struct{ name, command, want string }{
		{"both streams, in order", `for i in 1 2 3; do echo out $i; echo err $i >&2; done`, "out 1\nerr 1\nout 2\nerr 2\nout 3\nerr 3\n"},
		{"no newline", `printf 'one\ntwo'`, "one\ntwo"},
		{"no valid UTF-8", `printf 'a\377\376b\000c\303\251\n\342\202'`, "a\ufffdb\x00cé\n\ufffd"},
		{"nothing", `exit 0`, ""},
		{"a line of 3 MB", `head -c 3000000 /dev/zero | tr '\0' x`, strings.Repeat("x", 3000000)},
		{"wide characters in a long line", `yes é | head -n 900000 | tr -d '\n'`, strings.Repeat("é", 900000)},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			w := &world{T: t, dir: w.dir}
			sh := w.start(h, session, tt.command)
			now, got := w.ended(h, session, sh.ID)
			if got != tt.want {
				t.Errorf("%d bytes instead of %d: %.200q", len(got), len(tt.want), got)
			}
			if now.Status != shell.Completed || now.ExitCode == nil || *now.ExitCode != 0 {
				t.Errorf("%+v", now)
			}
			if out := w.next(h, session, sh.ID, ""); out.Text != "" || out.More {
				t.Errorf("read twice: %+v", out)
			}
		})
	}
}

// TestNextLeavesUnfinishedLines: whole lines come first, and a prompt, which has no
// newline, is seen all the same.
func TestNextLeavesUnfinishedLines(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	h := w.host()
	sh := w.start(h, session, `printf 'one\nPassword: '; until [ -e go ]; do sleep 0.01; done; echo; echo done; exec sleep 999`)
	w.wait("both are written", func() bool {
		b, err := os.ReadFile(sh.OutputFile)
		return err == nil && strings.HasSuffix(string(b), ": ")
	})
	for _, want := range []string{"one\n", "Password: ", ""} {
		if out := w.next(w.host(), session, sh.ID, ""); out.Text != want {
			t.Errorf("%q instead of %q", out.Text, want)
		}
	}
	if err := os.WriteFile(w.dir+"/go", nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if got := w.until(h, session, sh.ID, "done\n"); got != "\ndone\n" {
		t.Errorf("%q", got)
	}
}

func TestNextFilters(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	h := w.host()
	sh := w.start(h, session, `printf 'ok 1\r\nERROR 2\r\nok 3\nERROR 4\nERR'; until [ -e go ]; do sleep 0.01; done; printf 'OR 5'`)
	w.wait("it is written", func() bool {
		info, err := os.Stat(sh.OutputFile)
		return err == nil && info.Size() == 31
	})
	if _, err := shell.Next(t.Context(), h, session, sh.ID, "("); !errors.As(err, new(*shell.FilterError)) {
		t.Errorf("an invalid filter: %v", err)
	}
	if out := w.next(h, session, sh.ID, "^ERROR [0-9]$"); out.Text != "ERROR 2\r\nERROR 4\n" {
		t.Errorf("%q", out.Text)
	}
	// Lines that did not match were read too, but not half a line.
	if out := w.next(h, session, sh.ID, "."); out.Text != "" {
		t.Errorf("%q", out.Text)
	}
	if err := os.WriteFile(w.dir+"/go", nil, 0o600); err != nil {
		t.Fatal(err)
	}
	var got string
	w.wait("it has ended", func() bool {
		out := w.next(h, session, sh.ID, "ERROR")
		got += out.Text
		return out.Shell.Status == shell.Completed
	})
	if got != "ERROR 5" {
		t.Errorf("%q", got)
	}
}

// TestNextOfSeveralReaders: no byte is read twice, and none is lost.
func TestNextOfSeveralReaders(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	const lines = 50_000
	sh := w.start(w.host(), session, fmt.Sprintf(`for ((i = 1; i <= %d; i++)); do echo $i; done`, lines))
	seen := make([]int, lines+1)
	var mu sync.Mutex
	together(4, func(int) {
		h := w.host()
		for {
			out, err := shell.Next(t.Context(), h, session, sh.ID, "")
			if err != nil {
				t.Error(err)
				return
			}
			mu.Lock()
			for line := range strings.Lines(out.Text) {
				n, err := strconv.Atoi(strings.TrimSuffix(line, "\n"))
				if err != nil || n < 1 || n > lines || !strings.HasSuffix(line, "\n") {
					t.Errorf("%q", line)
					continue
				}
				seen[n]++
			}
			mu.Unlock()
			if out.Shell.Status != shell.Running && !out.More {
				return
			}
		}
	})
	for n, times := range seen[1:] {
		if times != 1 {
			t.Fatalf("line %d was read %d times", n+1, times)
		}
	}
}

// TestNextOfABurst: of 100 MB the newest 64 MiB are kept, in a file with a hole, and
// the answer says how much is missing.
func TestNextOfABurst(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	h := w.host()
	const lines, length, limit = 1_000_000, 100, 64 << 20
	sh := w.start(h, session, fmt.Sprintf(`yes "$(printf %%0%dd 7)" | head -n %d | nl -w 9 -s ' ' -b a | cut -c 1-%d`, length-11, lines, length-1))
	w.wait("it has ended", func() bool {
		shells, err := shell.List(t.Context(), h, session, false)
		return err == nil && len(shells) == 0
	})
	var st unix.Stat_t
	if err := unix.Stat(sh.OutputFile, &st); err != nil || st.Size != lines*length || st.Blocks*512 > limit+1<<20 || st.Mode&0o777 != 0o600 {
		t.Errorf("size %d, blocks %d, mode %o, error %v", st.Size, st.Blocks, st.Mode, err)
	}
	_, got := w.ended(h, session, sh.ID)
	var dropped int
	if _, err := fmt.Sscanf(got, swarm.TranscriptMark+"%d bytes of older output were dropped]\n", &dropped); err != nil {
		t.Fatalf("%v in %.100q", err, got)
	}
	_, rest, _ := strings.Cut(got, "\n")
	if len(rest) > limit || len(rest) < limit*9/10 || dropped+len(rest) != lines*length {
		t.Errorf("%d bytes dropped, %d read", dropped, len(rest))
	}
	next := dropped / length
	if dropped%length != 0 {
		_, rest, _ = strings.Cut(rest, "\n")
		next++
	}
	for line := range strings.Lines(rest) {
		next++
		if want := fmt.Sprintf("%9d ", next); !strings.HasPrefix(line, want) || len(line) != length {
			t.Fatalf("line %d is %q", next, line)
		}
	}
	if next != lines {
		t.Errorf("the last line is %d", next)
	}
}

// TestNextDuringABurst: what is dropped while it is read is neither lost in silence
// nor read as zeros.
func TestNextDuringABurst(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	const size = 50_000_000
	h := w.limited(1 << 20)
	sh := w.start(h, session, `yes 0123456789abcde | head -c `+strconv.Itoa(size))
	var read, dropped int
	for {
		out := w.next(h, session, sh.ID, "")
		text := out.Text
		if strings.HasPrefix(text, swarm.TranscriptMark) {
			var n int
			if _, err := fmt.Sscanf(text, swarm.TranscriptMark+"%d", &n); err != nil {
				t.Fatal(err)
			}
			dropped += n
			_, text, _ = strings.Cut(text, "\n")
		}
		read += len(text)
		if i := strings.IndexByte(text, 0); i >= 0 {
			t.Fatalf("a zero at %d of %d bytes, after %d and %d dropped", i, len(text), read, dropped)
		}
		if out.Shell.Status != shell.Running && !out.More {
			break
		}
	}
	if read+dropped != size {
		t.Errorf("%d bytes read, %d dropped", read, dropped)
	}
}
