package container

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/moby/moby/client"

	"github.com/swarmhost/swarm/shared/swarm"
)

// maxFrame is the largest piece of a log, in bytes. Docker cuts lines at 16 KiB.
const maxFrame = 16 << 20

func logsOptions(r ref, o readOptions) client.ContainerLogsOptions {
	return client.ContainerLogsOptions{
		ShowStdout: true, ShowStderr: true, Timestamps: !r.TTY, Follow: o.follow, Tail: cmp.Or(o.tail, "all"), Since: sinceOf(o.since),
	}
}

// readFrames reads a log of two streams: each piece has a header of eight bytes, which
// holds its stream and its size, and begins with its time.
func readFrames(from io.Reader, each func(swarm.Output) error) error {
	in := bufio.NewReader(from)
	var header [8]byte
	for {
		if _, err := io.ReadFull(in, header[:]); err != nil {
			if errors.Is(err, io.EOF) {
				return nil
			}
			return err
		}
		if header[0] > 3 || header[1]|header[2]|header[3] != 0 {
			// Podman writes why it can't go on where a header should be.
			text, _ := io.ReadAll(io.LimitReader(in, 1<<10))
			return fmt.Errorf("%w: the engine broke the log off: %s", swarm.ErrUnavailable, firstLine(string(header[:])+string(text)))
		}
		size := binary.BigEndian.Uint32(header[4:])
		if size > maxFrame {
			return fmt.Errorf("%w: a piece of the log has %d bytes", swarm.ErrUnavailable, size)
		}
		data := make([]byte, size)
		if _, err := io.ReadFull(in, data); err != nil {
			return err
		}
		piece := swarm.Output{Stream: swarm.Stdout}
		if header[0] == 2 {
			piece.Stream = swarm.Stderr
		}
		line, whole := bytes.CutSuffix(data, []byte("\n"))
		piece.Time, piece.Data = cutTime(line)
		piece.Partial = !whole
		if err := each(piece); err != nil {
			return err
		}
	}
}

// readTerminal reads the log of a terminal, which is nothing but what was written to it.
func readTerminal(from io.Reader, each func(swarm.Output) error) error {
	buf := make([]byte, 64<<10)
	for {
		n, err := from.Read(buf)
		for data := buf[:n]; len(data) > 0; {
			line, rest, whole := bytes.Cut(data, []byte("\n"))
			piece := swarm.Output{Time: time.Now(), Stream: swarm.Stdout, Data: bytes.Clone(line), Partial: !whole}
			if err := each(piece); err != nil {
				return err
			}
			data = rest
		}
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return err
		}
	}
}
