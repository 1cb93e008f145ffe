package shim

import (
	"bytes"
	"io"
	"os"
	"slices"

	"github.com/swarmhost/swarm/shared/swarm"
)

// place is a position in a log: a file of those that are open, oldest first, and
// an offset in it.
type place struct {
	file   int
	offset int64
}

// tailBlock is how much to read at once, from the end backwards.
const tailBlock = 64 << 10

// tailPlace returns where the last n lines of a stream begin; of all streams if
// it is empty. A line that is not finished counts. It reads no more than it
// needs.
func tailPlace(files []*os.File, n int, stream swarm.Stream) (place, error) {
	at := place{}
	lines := 0
	seen := make(map[swarm.Stream]bool)
	for i, f := range slices.Backward(files) {
		found, err := backwards(f, func(begin, end int64, line []byte) bool {
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
// until it returns false, which backwards then reports.
func backwards(f *os.File, each func(begin, end int64, line []byte) bool) (stopped bool, err error) {
	info, err := f.Stat()
	if err != nil {
		return false, err
	}
	// data is what of the file from pos on was not given to each; it ends with a
	// newline, but for the unfinished line at the very end, which is left out.
	var data []byte
	whole := false
	for pos := info.Size(); pos > 0; {
		n := min(tailBlock, pos)
		pos -= n
		block := make([]byte, n, int(n)+len(data))
		if _, err := f.ReadAt(block, pos); err != nil && err != io.EOF {
			return false, err
		}
		data = append(block, data...)
		if !whole {
			data = data[:bytes.LastIndexByte(data, '\n')+1]
			whole = len(data) > 0
		}
		for len(data) > 0 {
			i := bytes.LastIndexByte(data[:len(data)-1], '\n')
			if i < 0 && pos > 0 {
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
