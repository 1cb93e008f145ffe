//go:build linux

package server_test

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"hash"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/swarmhost/swarm/shared/shim/rundir"
)

func TestOutput(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("0123456789abcdef", 5000)
	for _, tt := range []struct{ name, script, stdout, stderr string }{
		{"lines", `echo one; echo two; echo three >&2`, "one\ntwo\n", "three\n"},
		{"no newline", `printf 'one\ntwo'`, "one\ntwo", ""},
		{"empty lines", `printf '\n\n\na\n'`, "\n\n\na\n", ""},
		{"binary", `printf '\000\001\377\r\n\200\n\033[0m'`, "\x00\x01\xff\r\n\x80\n\x1b[0m", ""},
		{"long line", `printf %s ` + long + `; echo`, long + "\n", ""},
		{"nothing", `:`, "", ""},
		{"after its streams were closed", `echo a; exec >&- 2>&-; exit 0`, "a\n", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			s := start(t, launch(tt.script), options{})
			st := s.end()
			if diff := cmp.Diff(tt.stdout, s.text("stdout")); diff != "" {
				t.Error(diff)
			}
			if diff := cmp.Diff(tt.stderr, s.text("stderr")); diff != "" {
				t.Error(diff)
			}
			for _, r := range s.records() {
				if len(r.text) > 16<<10 {
					t.Errorf("a record of %d bytes", len(r.text))
				}
				if r.at.UnixNano() < st.StartedNS || time.Since(r.at) < 0 {
					t.Errorf("written at %v", r.at)
				}
			}
			if st.DroppedBytes != 0 || st.DroppedLines != 0 {
				t.Errorf("status %+v", st)
			}
		})
	}
}

// A prompt has no newline and must be seen all the same.
func TestNothingIsHeldBack(t *testing.T) {
	t.Parallel()
	s := start(t, launch(`mkfifo gate; printf "name? "; read x < gate; echo " $x"`), options{})
	s.until("the prompt is in the log", func() bool { return s.text("stdout") == "name? " })
	s.kill("SIGTERM", limit, true)
	s.end()
}

// The worker's last words count, also when it is killed in the middle of them.
func TestLastLines(t *testing.T) {
	t.Parallel()
	s := start(t, launch(`trap 'i=0; while [ $((i=i+1)) -le 5000 ]; do echo "bye $i"; done; exit' TERM; echo ready; while :; do sleep 0.01; done`), options{})
	s.says("ready")
	s.kill("SIGTERM", limit, true)
	// The answer comes after the log.
	if got := s.text("stdout"); !strings.HasSuffix(got, "bye 4999\nbye 5000\n") {
		t.Errorf("%d bytes, the last are %.50q", len(got), got[max(0, len(got)-50):])
	}
	s.end()
}

// A stranger that holds the other end of the output does not delay the end.
func TestOutputHeldByStranger(t *testing.T) {
	t.Parallel()
	s := start(t, launch(`SWARM_SHIM=tmux sh -c 'printf "tmux: server" >/proc/self/comm; trap "" PIPE; echo holding; while sleep 0.01; do echo noise; done' & until [ -e go ]; do sleep 0.01; done; echo last; exit 4`), options{})
	s.says("holding")
	must(t, os.WriteFile(filepath.Join(s.work, "go"), nil, 0o600))
	if st := s.end(); st.Code != 4 {
		t.Errorf("status %+v", st)
	}
	if got := s.text("stdout"); !strings.Contains(got, "last\n") {
		t.Errorf("output %q", got)
	}
}

// The cap holds whatever a worker writes, the newest is what is kept, and what is
// not is counted.
func TestCap(t *testing.T) {
	t.Parallel()
	const limit, lines = 100_000, 20_000
	l := launch(`i=0; while [ $((i=i+1)) -le ` + strconv.Itoa(lines) + ` ]; do echo "line $i"; done`)
	l.OutputLimit = limit
	s := start(t, l, options{})
	st := s.end()
	s.wantUnder(limit)
	text := s.text("stdout")
	kept := int64(strings.Count(text, "\n"))
	if !strings.HasSuffix(text, "line "+strconv.Itoa(lines)+"\n") {
		t.Errorf("the newest are not kept: %.50q", text[max(0, len(text)-50):])
	}
	total := int64(0)
	for i := range lines {
		total += int64(len("line \n") + len(strconv.Itoa(i+1)))
	}
	if kept+st.DroppedLines != lines || int64(len(text))+st.DroppedBytes != total {
		t.Errorf("kept %d lines of %d bytes, dropped %d of %d", kept, len(text), st.DroppedLines, st.DroppedBytes)
	}
	if kept < 500 {
		t.Errorf("kept only %d lines", kept)
	}
}

// wantUnder checks the log's size as it is on the disk.
func (s *shim) wantUnder(limit int64) {
	s.t.Helper()
	names, err := filepath.Glob(filepath.Join(s.dir, rundir.LogFile+"*"))
	must(s.t, err)
	total := int64(0)
	for _, name := range names {
		if fi, err := os.Stat(name); err == nil {
			total += fi.Size()
		}
	}
	if total > limit || len(names) > rundir.Segments {
		s.t.Errorf("%d bytes in %d files, the cap is %d", total, len(names), limit)
	}
}

// A worker that writes without end is neither blocked nor let over its cap.
func TestEndlessOutput(t *testing.T) {
	t.Parallel()
	for _, script := range []string{"exec yes", "exec cat /dev/zero"} {
		l := launch(script)
		l.OutputLimit = 1 << 20
		s := start(t, l, options{})
		s.until("much was dropped", func() bool {
			s.wantUnder(l.OutputLimit + l.OutputLimit/rundir.Segments)
			return s.status().DroppedBytes > 20<<20
		})
		if a := s.kill("SIGTERM", limit, true); a.Kind != "ended" || a.Forced {
			t.Errorf("answer %+v", a)
		}
		s.end()
		s.wantUnder(l.OutputLimit)
	}
}

// The numbers of design.md: 200 MB through a shim of at most 3 MiB, and all of
// them arrive.
func TestMuchOutputInLittleMemory(t *testing.T) {
	t.Parallel()
	const size = 200_000_000
	l := launch(`yes ` + strings.Repeat("x", 119) + ` 2>/dev/null | head -c ` + strconv.Itoa(size) + `; echo done; exec sleep 999`)
	l.OutputLimit = 2 * size
	s := start(t, l, options{})
	s.until("all was written", func() bool { return s.tailHas("done\n") })
	rss := s.resident()
	t.Logf("resident: %d KiB", rss>>10)
	if rss > 2<<20 {
		t.Errorf("the shim takes %d bytes", rss)
	}
	s.kill("SIGTERM", limit, true)
	if st := s.end(); st.DroppedBytes != 0 {
		t.Errorf("status %+v", st)
	}
	got, want := sha256.New(), sha256.New()
	s.hashStdout(got)
	line := []byte(strings.Repeat("x", 119) + "\n")
	for n := 0; n < size; n += len(line) {
		want.Write(line[:min(len(line), size-n)])
	}
	want.Write([]byte("done\n"))
	if !bytes.Equal(got.Sum(nil), want.Sum(nil)) {
		t.Error("not what was written")
	}
}

// hashStdout is text for what does not fit well into memory.
func (s *shim) hashStdout(h hash.Hash) {
	s.t.Helper()
	for i := rundir.Segments - 1; i >= 0; i-- {
		b, err := os.ReadFile(filepath.Join(s.dir, rundir.LogFile+strings.Repeat("."+strconv.Itoa(i), min(i, 1))))
		if errors.Is(err, os.ErrNotExist) {
			continue
		}
		must(s.t, err)
		for line := range bytes.Lines(b) {
			_, line, _ = bytes.Cut(line, []byte(" stdout "))
			if line[0] == 'F' {
				h.Write(line[2:])
			} else {
				h.Write(line[2 : len(line)-1])
			}
		}
	}
}

// tailHas looks only at the end of the newest file: these tests write much.
func (s *shim) tailHas(text string) bool {
	f, err := os.Open(filepath.Join(s.dir, rundir.LogFile))
	if err != nil {
		// In the middle of a rotation.
		return false
	}
	defer f.Close()
	buf := make([]byte, 64<<10)
	fi, err := f.Stat()
	must(s.t, err)
	n, _ := f.ReadAt(buf, max(0, fi.Size()-int64(len(buf))))
	return bytes.Contains(buf[:n], []byte(text))
}

// resident is the memory that the shim has taken for itself, in bytes. How much of its program the
// system maps depends on what else it does.
func (s *shim) resident() int64 {
	s.t.Helper()
	b, err := os.ReadFile("/proc/" + strconv.Itoa(s.cmd.Process.Pid) + "/status")
	must(s.t, err)
	_, rest, _ := strings.Cut(string(b), "RssAnon:")
	n, err := strconv.ParseInt(strings.Fields(rest)[0], 10, 64)
	must(s.t, err)
	return n << 10
}
