package client

import (
	"bytes"
	"time"

	"github.com/swarmhost/swarm/shared/swarm"
)

// maxRecord is much more than a shim writes as one line.
const maxRecord = 1 << 20

// record is one line of a log in the CRI format,
// "<RFC 3339 time> <stdout|stderr> <P|F> <text>"
// (https://github.com/kubernetes/design-proposals-archive/blob/main/node/kubelet-cri-logging.md).
type record struct {
	time    []byte
	stream  swarm.Stream
	partial bool
	text    []byte
}

// parseRecord reads a line without its newline. ok is false for an invalid record, which
// only a damaged file holds.
func parseRecord(line []byte) (r record, ok bool) {
	var stream, tag []byte
	if r.time, line, ok = bytes.Cut(line, []byte(" ")); !ok {
		return r, false
	}
	if stream, line, ok = bytes.Cut(line, []byte(" ")); !ok {
		return r, false
	}
	// An empty text may come without the space before it.
	tag, r.text, _ = bytes.Cut(line, []byte(" "))
	switch string(stream) {
	case string(swarm.Stdout):
		r.stream = swarm.Stdout
	case string(swarm.Stderr):
		r.stream = swarm.Stderr
	default:
		return r, false
	}
	// Tags after the first are for others.
	tag, _, _ = bytes.Cut(tag, []byte(":"))
	r.partial = string(tag) == "P"
	return r, r.partial || string(tag) == "F"
}

// when returns the time of the record, zero if it can't be read.
func (r record) when() time.Time {
	t, _ := time.Parse(time.RFC3339Nano, string(r.time))
	return t
}
