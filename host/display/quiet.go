package display

import (
	"bytes"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/swarmhost/swarm/shared/safefile"
	"github.com/swarmhost/swarm/shared/screen"
	"github.com/swarmhost/swarm/shared/shim/rundir"
)

const (
	// quietTail is how much of the end of a log is read, at most.
	quietTail = 128 << 10
	// quietGap is between two bursts of output. A burst that is not longer than quietBurst,
	// has no more than quietBytes and ends no line is a change of a hint, or a key that a
	// person pressed: agents that wait draw such.
	quietGap   = 3 * time.Second // more than between the steps of a clock
	quietBurst = 500 * time.Millisecond
	quietBytes = 1 << 10
)

// quietSince returns since when a worker has written nothing but changes of hints, by its log
// in a run directory, or last, the time of its last output, if that is not known. With shown, the
// lines that its screen shows, a program that draws the same screen once more has not changed it.
func quietSince(run string, shown []string, last time.Time) time.Time {
	f, err := safefile.Open(filepath.Join(run, rundir.LogFile), 0)
	if err != nil {
		return last
	}
	defer func() { _ = f.Close() }()
	info, err := f.Stat()
	if err != nil {
		return last
	}
	from := max(0, info.Size()-quietTail)
	tail, err := io.ReadAll(io.NewSectionReader(f, from, quietTail))
	if err != nil {
		return last
	}
	if from > 0 {
		_, tail, _ = bytes.Cut(tail, []byte("\n"))
	}
	since := quietIn(tail, last)
	if len(shown) > 0 {
		if same := sameSince(tail, shown); !same.IsZero() && same.Before(since) {
			since = same
		}
	}
	return since
}

// sameSince returns since when a screen shows what it showed at the end of a log in the CRI
// format: the end of the burst of output that drew it first. shown gives its size. It is zero
// if that is not known.
func sameSince(log []byte, shown []string) (since time.Time) {
	var s screen.Screen
	columns := screenColumns
	for _, line := range shown {
		columns = max(columns, utf8.RuneCountInString(line))
	}
	s.Resize(columns, max(screen.DefaultRows, len(shown)))
	type frame struct {
		at    time.Time
		lines []string
	}
	var frames []frame
	var last time.Time
	for line := range bytes.Lines(log) {
		fields := bytes.SplitN(bytes.TrimSuffix(line, []byte("\n")), []byte(" "), 4)
		if len(fields) < 4 {
			continue
		}
		when, err := time.Parse(time.RFC3339Nano, string(fields[0]))
		if err != nil {
			return time.Time{}
		}
		if !last.IsZero() && when.Sub(last) >= quietGap {
			frames = append(frames, frame{last, s.Shown()})
		}
		last = when
		s.Write(fields[3], when)
		if string(fields[2]) == "F" {
			s.Write([]byte("\r\n"), when)
		}
	}
	final := s.Shown()
	for _, f := range slices.Backward(frames) {
		if !alike(f.lines, final) {
			break
		}
		since = f.at
	}
	return since
}

const (
	// screenColumns is the least width of a terminal.
	screenColumns = 80
	// tipRows is how many rows a tip has that changes.
	tipRows = 2
)

// alike reports whether two screens are the same but for the text of a tip: a turn adds rows.
func alike(a, b []string) bool {
	if len(a) != len(b) || len(a) == 0 {
		return false
	}
	other := 0
	for i := range a {
		x, y := strings.TrimSpace(a[i]), strings.TrimSpace(b[i])
		if (x == "") != (y == "") {
			return false
		}
		if x != y {
			other++
		}
	}
	return other <= tipRows
}

// quietIn is [quietSince] for the end of a log in the CRI format.
func quietIn(log []byte, last time.Time) time.Time {
	lines := bytes.Split(bytes.TrimSuffix(log, []byte("\n")), []byte("\n"))
	since := last
	var end, begin time.Time // of the burst that is read, from its end
	size := 0
	for _, line := range slices.Backward(lines) {
		fields := bytes.SplitN(line, []byte(" "), 4)
		if len(fields) < 3 {
			return since
		}
		when, err := time.Parse(time.RFC3339Nano, string(fields[0]))
		if err != nil {
			return since
		}
		if begin.IsZero() || begin.Sub(when) >= quietGap {
			if !begin.IsZero() {
				since = when // the burst after this one was small
			}
			end, size = when, 0
		}
		begin, size = when, size+len(line)
		if small := string(fields[2]) == "P" && size <= quietBytes && end.Sub(begin) <= quietBurst; !small {
			return since
		}
	}
	return since
}
