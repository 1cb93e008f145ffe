package record

import (
	"bytes"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/swarmhost/swarm/shared/swarm"
)

func newTestTranscript(t *testing.T, limit int64) *Transcript {
	t.Helper()
	f, err := os.OpenFile(filepath.Join(t.TempDir(), swarm.TranscriptFile), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	tr := newTranscript(f, limit, new(sync.Mutex))
	t.Cleanup(tr.Close)
	return tr
}

func (t *Transcript) content(tt *testing.T) string {
	tt.Helper()
	b, err := os.ReadFile(t.file.Name())
	if err != nil {
		tt.Fatal(err)
	}
	return string(b)
}

// Dropped bytes read as zeros, kept ones stay at their offset, and there are never more
// than the limit.
func TestTranscriptDropsTheOldest(t *testing.T) {
	t.Parallel()
	if runtime.GOOS != "linux" {
		return // see TestTranscriptWithoutHoles
	}
	for _, tt := range []struct{ limit, piece int }{{4096, 100}, {4096, 10000}, {10000, 333}, {200_000, 32 << 10}, {65536, 1}} {
		tr := newTestTranscript(t, int64(tt.limit))
		var all bytes.Buffer
		for i := 0; all.Len() < 5*tt.limit; i++ {
			piece := bytes.Repeat([]byte{byte('a' + i%26)}, tt.piece)
			all.Write(piece)
			tr.Append(piece)
			if tt.piece == 1 && i%1000 > 0 {
				continue
			}
			got := tr.content(t)
			kept := strings.TrimLeft(got, "\x00")
			if len(got) != all.Len() || len(kept) > tt.limit || !strings.HasSuffix(all.String(), kept) {
				t.Fatalf("limit %d: of %d bytes %d are kept in a file of %d", tt.limit, all.Len(), len(kept), len(got))
			}
		}
		var st unix.Stat_t
		if err := unix.Fstat(int(tr.file.Fd()), &st); err != nil || st.Blocks*512 > int64(tt.limit)+2*block {
			t.Errorf("limit %d: the file takes %d bytes, error %v", tt.limit, st.Blocks*512, err)
		}
	}
}

// Where there are no holes the transcript ends at its limit, and says so.
func TestTranscriptWithoutHoles(t *testing.T) {
	t.Parallel()
	tr := newTestTranscript(t, 4096)
	tr.punch = func(*os.File, int64, int64) error { return unix.EOPNOTSUPP }
	for range 100 {
		tr.Append(bytes.Repeat([]byte("x"), 100))
	}
	want := strings.Repeat("x", 4100) + "\n[swarm: this file is full: what follows is in the log only]\n"
	if got := tr.content(t); got != want {
		t.Errorf("%d bytes: %q", len(got), got[max(0, len(got)-100):])
	}
}

// Bytes that could not be written are counted, and reported with the next successful write.
func TestTranscriptThatCannotBeWritten(t *testing.T) {
	t.Parallel()
	tr := newTestTranscript(t, 0)
	tr.Append([]byte("one\ntw"))
	good := tr.file
	bad, err := os.Open(good.Name())
	if err != nil {
		t.Fatal(err)
	}
	defer bad.Close()
	tr.file = bad
	tr.Append([]byte("12345"))
	tr.Append([]byte("67890"))
	tr.file = good
	tr.Append([]byte("o\n"))
	if got, want := tr.content(t), "one\ntw\n[swarm: 10 bytes of output could not be written]\no\n"; got != want {
		t.Errorf("%q instead of %q", got, want)
	}
	tr.file = bad
	tr.Append([]byte("lost"))
	tr.file = good
	tr.Close()
	if got, want := tr.content(t), "[swarm: 4 bytes of output could not be written]\n"; !strings.HasSuffix(got, "o\n"+want) {
		t.Errorf("%q", got)
	}
}
