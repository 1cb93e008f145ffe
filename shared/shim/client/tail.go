package client

import (
	"bytes"
	"context"
	"errors"
	"io"
	"math"
	"os"
	"slices"

	"golang.org/x/sys/unix"

	"github.com/swarmhost/swarm/shared/swarm"
)

// place is a position in a log: the index of an open file, oldest first, and an offset in
// it.
type place struct {
	file   int
	offset int64
}

// tailBlock is how much to read at once, from the end backwards.
const tailBlock = 64 << 10

// tailPlace returns where the last n lines of a stream begin; of all streams if
// it is empty. A line that is not finished counts. It reads no more than it
// needs.
func tailPlace(ctx context.Context, files []*os.File, n int, stream swarm.Stream) (place, error) {
	at := place{}
	lines := 0
	seen := make(map[swarm.Stream]bool)
	for i, f := range slices.Backward(files) {
		found, err := backwards(ctx, f, func(begin, end int64, line []byte) bool {
			r, ok := parseRecord(line)
			if !ok || stream != "" && r.stream != stream {
				return true
			}
			// The last piece of a line makes it one, finished or not.
			if !r.partial || !seen[r.stream] {
				lines++
			}
			seen[r.stream] = true
			at = place{file: i, offset: end}
			return lines <= n
		})
		if err != nil {
			return place{}, err
		}
		if found {
			return at, nil
		}
	}
	return place{}, nil
}

// backwards calls each for every finished line of a file, the last one first,
// until it returns false, which backwards then reports. A line that is longer than a
// record can be is left out.
func backwards(ctx context.Context, f *os.File, each func(begin, end int64, line []byte) bool) (stopped bool, err error) {
	info, err := f.Stat()
	if err != nil {
		return false, err
	}
	// data is the part of the file from pos on that was not passed to each. It ends with a
	// newline: the unfinished line at the very end is left out.
	var data []byte
	whole := false
	var extents []extent
	for pos := info.Size(); pos > 0; {
		if err := ctx.Err(); err != nil {
			return false, err
		}
		n := min(tailBlock, pos)
		pos -= n
		block := make([]byte, n, int(n)+len(data))
		if _, err := f.ReadAt(block, pos); err != nil && err != io.EOF {
			return false, err
		}
		if isZero(block) {
			// A file of any size costs nothing to make, if it is a hole.
			if extents == nil {
				extents = extentsOf(f)
			}
			pos = dataBefore(extents, pos)
			data, whole = nil, false
			continue
		}
		data = append(block, data...)
		if !whole {
			data = data[:bytes.LastIndexByte(data, '\n')+1]
			whole = len(data) > 0
		}
		for len(data) > 0 {
			i := bytes.LastIndexByte(data[:len(data)-1], '\n')
			if i < 0 && pos > 0 {
				if len(data) > maxRecord {
					data, whole = nil, false
				}
				break
			}
			line := data[i+1 : len(data)-1]
			if !each(pos+int64(i)+1, pos+int64(len(data)), line) {
				return true, nil
			}
			data = data[:i+1]
		}
	}
	return false, nil
}

// extent is a part of a file that is not a hole.
type extent struct{ begin, end int64 }

// maxExtents bounds the memory for them; beyond that, holes are read as zeros.
const maxExtents = 1 << 16

// extentsOf returns the parts of a file that are not holes, in order. On a file system
// without holes there is one.
func extentsOf(f *os.File) []extent {
	// Reading continues where the file began.
	defer func() { _, _ = f.Seek(0, io.SeekStart) }()
	all := []extent{{end: math.MaxInt64}}
	var found []extent
	for at := int64(0); ; {
		begin, err := f.Seek(at, unix.SEEK_DATA)
		if errors.Is(err, unix.ENXIO) {
			return append(found, extent{})
		}
		if err != nil || len(found) == maxExtents {
			return all
		}
		if at, err = f.Seek(begin, unix.SEEK_HOLE); err != nil {
			return all
		}
		found = append(found, extent{begin, at})
	}
}

// dataBefore returns the end of the data before an offset.
func dataBefore(extents []extent, offset int64) int64 {
	for _, e := range slices.Backward(extents) {
		if e.begin < offset && e.end > 0 {
			return min(offset, e.end)
		}
	}
	return 0
}
