package nomad

import (
	"bytes"
	"context"
	"io"
	"slices"

	"github.com/swarmhost/swarm/shared/swarm"
)

// begin decides where to begin to read.
func (out *output) begin(ctx context.Context, files map[swarm.Stream][]logFile) error {
	if out.o.Tail == nil {
		for _, s := range out.streams {
			// Full files are of about one size.
			if of := files[s]; len(of) > 0 {
				out.dropped += int64(of[0].number) * of[0].size
			}
		}
		return nil
	}
	// The stream that was written last has the last lines.
	left := *out.o.Tail
	streams := slices.Clone(out.streams)
	if len(streams) > 1 && last(files[streams[0]]).written.After(last(files[streams[1]]).written) {
		streams[0], streams[1] = streams[1], streams[0]
	}
	for _, s := range slices.Backward(streams) {
		n, err := out.skip(ctx, s, files[s], left)
		if err != nil {
			return err
		}
		left -= n
	}
	return nil
}

// skip goes to the last lines of a stream, so many at most, and returns how many
// there are.
func (out *output) skip(ctx context.Context, s swarm.Stream, files []logFile, lines int) (int, error) {
	end := last(files)
	out.at[s] = position{number: end.number, offset: end.size}
	if lines == 0 {
		return 0, nil
	}
	empty, need, found := true, lines, 0
	for _, f := range slices.Backward(files) {
		data, err := out.whole(ctx, s, f)
		if err != nil {
			return 0, err
		}
		if empty && bytes.HasSuffix(data, []byte("\n")) {
			need++ // the newline of the last line comes before those that begin one
		}
		empty = empty && len(data) == 0
		for nl := bytes.LastIndexByte(data, '\n'); nl >= 0; nl = bytes.LastIndexByte(data[:nl], '\n') {
			if found++; found == need {
				out.at[s] = position{number: f.number, offset: int64(nl + 1)}
				return lines, nil
			}
		}
	}
	if empty {
		return 0, nil
	}
	out.at[s] = position{number: files[0].number}
	return found + 1 - (need - lines), nil
}

func (out *output) whole(ctx context.Context, s swarm.Stream, f logFile) ([]byte, error) {
	r, err := out.open(ctx, s, f.number, 0, f.size)
	if err != nil {
		return nil, err
	}
	defer func() { _ = r.Close() }()
	data, err := io.ReadAll(io.LimitReader(r, f.size))
	if err != nil {
		return nil, out.b.tell(ctx, "read the logs", err)
	}
	return data, nil
}
