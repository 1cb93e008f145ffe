package swarm

import "time"

// Stream is one of a worker's outputs.
type Stream string

// The streams of a worker. A worker on a terminal has only Stdout.
const (
	Stdout Stream = "stdout"
	Stderr Stream = "stderr"
)

// TranscriptFile is the file in a worker's run directory that its output is also
// written to, if [Spec.Transcript] says so: mode 0600, there from the start on, and
// complete once the worker's end is told. It can be read at any time.
//
// The newest Spec.OutputLimit bytes are kept, each where it was written: what was
// dropped is a hole at the beginning of the file, which lseek(2) finds with
// SEEK_DATA. Where the file system makes no holes, or is full, a line that begins
// with [TranscriptMark] says how much is not in the file.
const TranscriptFile = "transcript"

// TranscriptMark begins a line of a transcript that the worker did not write.
const TranscriptMark = "[swarm: "

// OutputOptions say what of a worker's output to read. The zero value reads all
// that is kept and then ends.
type OutputOptions struct {
	// Tail is how many of the last lines to begin with, counted over the chosen
	// streams; nil: all.
	Tail *int
	// Since leaves out what was written before; zero: nothing.
	Since time.Time
	// Stream is the only stream to read; empty: all, in the order written.
	Stream Stream
	// Follow goes on with new output until the worker has ended and its last
	// output was read, or the context ends.
	Follow bool
}

// Output is one piece of a worker's output: a line, or a part of one.
type Output struct {
	// Time is when it was written, as seen by the worker's shim.
	Time time.Time
	// Stream is where it was written.
	Stream Stream
	// Data is what was written: any bytes, without the newline.
	Data []byte
	// Partial says that the line goes on in the next piece of the same stream,
	// or has no newline yet.
	Partial bool
	// Dropped is how many bytes of output that would have come before this
	// piece are no longer kept, 0 for all pieces but the first.
	Dropped int64
}
