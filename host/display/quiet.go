package display

import (
	"bytes"
	"io"
	"path/filepath"
	"slices"
	"time"

	"github.com/swarmhost/swarm/shared/safefile"
	"github.com/swarmhost/swarm/shared/shim/rundir"
)

const (
	// quietTail is how much of the end of a log is read, at most.
	quietTail = 32 << 10
	// quietGap is between two bursts of output. A burst that is not longer than quietBurst,
	// has no more than quietBytes and ends no line is a change of a hint, or a key that a
	// person pressed: agents that wait draw such.
	quietGap   = 3 * time.Second // more than between the steps of a clock
	quietBurst = 500 * time.Millisecond
	quietBytes = 1 << 10
)

// quietSince returns since when a worker has written nothing but changes of hints, by its log
// in a run directory, or last, the time of its last output, if that is not known.
func quietSince(run string, last time.Time) time.Time {
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
	return quietIn(tail, last)
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
