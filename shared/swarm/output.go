package swarm

import "time"

// Stream is an output of a worker.
type Stream string

// The streams of a worker. A worker on a terminal has only Stdout.
const (
	Stdout Stream = "stdout"
	Stderr Stream = "stderr"
)

// TranscriptFile is the file in a worker's run directory that its output is also written
// to if [Spec.Transcript] is set. It has mode 0600, exists from the start, is complete
// once the worker's end is reported, and can be read at any time.
//
// It keeps the newest Spec.OutputLimit bytes, each where it was written: dropped output is
// a hole at the beginning of the file, which lseek(2) finds with SEEK_DATA. If the file
// system does not support holes or is full, a line that begins with [TranscriptMark] says
// how much is missing.
const TranscriptFile = "transcript"

// TranscriptMark begins a line of a transcript that the worker did not write.
const TranscriptMark = "[swarm: "

// OutputOptions select the output to read. The zero value reads all output that is kept.
type OutputOptions struct {
	// Tail is the number of last lines to begin with, counted over the selected
	// streams; nil: all.
	Tail *int
	// Since leaves out output that was written before; zero: nothing.
	Since time.Time
	// Stream is the only stream to read; empty: all, in the order written.
	Stream Stream
	// Follow continues with new output until the worker has ended and its last output
	// has been read, or the context ends.
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
	// Partial says that the line continues in the next piece of the same stream, or
	// has no newline yet.
	Partial bool
	// Dropped is how many bytes of output before this piece are no longer kept; 0 for
	// all pieces but the first.
	Dropped int64
}
