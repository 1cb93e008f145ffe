//go:build linux

package server_test

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/swarmhost/swarm/shared/swarm"
)

// A transcript of 200 MB does not make the shim larger, and takes no more of the
// disk than its limit.
func TestMuchTranscriptInLittleMemory(t *testing.T) {
	t.Parallel()
	const size, most = 200_000_000, 16 << 20
	l := launch(`yes ` + strings.Repeat("x", 119) + ` 2>/dev/null | head -c ` + strconv.Itoa(size) + `; echo done; exec sleep 999`)
	l.OutputLimit, l.Transcript = most, true
	s := start(t, l, options{})
	name := filepath.Join(s.dir, swarm.TranscriptFile)
	var st unix.Stat_t
	s.until("all was written", func() bool {
		must(t, unix.Stat(name, &st))
		return st.Size == size+int64(len("done\n"))
	})
	if rss := s.resident(); rss > 2<<20 {
		t.Errorf("the shim takes %d bytes", rss)
	}
	if taken := st.Blocks * 512; taken > most+1<<20 {
		t.Errorf("the transcript takes %d bytes", taken)
	}
	s.kill("SIGTERM", limit, true)
	s.end()
}

// All starts of a worker write to the same transcript, one after the other.
func TestTranscriptOfRestarts(t *testing.T) {
	t.Parallel()
	l := restartLaunch("on-failure", `echo out; echo err >&2; [ -e once ] && exit 0; touch once; exit 3`)
	l.Transcript = true
	s := start(t, l, options{})
	s.end()
	s.wantTranscript("out\nerr\nout\nerr\n")
}

// On a terminal the transcript is what the worker wrote to it.
func TestTranscriptOfATerminal(t *testing.T) {
	t.Parallel()
	l := launch(`echo one; printf '\033[1mtwo\033[0m'`)
	l.Transcript = true
	w := openWindow(t, l)
	w.end()
	w.wantTranscript("one\r\n\x1b[1mtwo\x1b[0m")
}

// A shim that is killed leaves what it has read.
func TestTranscriptOfAKilledShim(t *testing.T) {
	t.Parallel()
	l := launch(`echo before; exec sleep 999`)
	l.Transcript = true
	s := start(t, l, options{})
	s.until("it is written", func() bool {
		info, err := os.Stat(filepath.Join(s.dir, swarm.TranscriptFile))
		must(t, err)
		return info.Size() > 0
	})
	must(t, s.cmd.Process.Kill())
	<-s.done
	s.wantTranscript("before\n")
}

func (s *shim) wantTranscript(want string) {
	s.t.Helper()
	b, err := os.ReadFile(filepath.Join(s.dir, swarm.TranscriptFile))
	must(s.t, err)
	if string(b) != want {
		s.t.Errorf("the transcript is %q instead of %q", b, want)
	}
}
