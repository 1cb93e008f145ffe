package mcp

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
)

const maxLine = 16 << 20

// readLine returns the next line that is not empty, without its end. If a line is longer
// than most, only its beginning is returned, and long is true. The last line may have no
// end.
func readLine(r *bufio.Reader, most int) (line []byte, long bool, err error) {
	for {
		part, err := r.ReadSlice('\n')
		if space := most - len(line); len(part) > space {
			// A line ending that exceeds the limit does not count.
			long = long || len(bytes.TrimRight(part, "\r\n")) > space
			part = part[:space]
		}
		line = append(line, part...)
		if errors.Is(err, bufio.ErrBufferFull) {
			continue
		}
		line = bytes.TrimSpace(line)
		if len(line) > 0 || err != nil {
			return line, long, err
		}
	}
}

type refusal struct {
	Version string          `json:"jsonrpc"`
	ID      json.RawMessage `json:"id"`
	Error   jsonrpc.Error   `json:"error"`
}

// refuse returns the error about a line, as JSON on a line.
func refuse(line []byte, long bool, why error) []byte {
	r := refusal{Version: "2.0", ID: idOf(line), Error: jsonrpc.Error{Code: jsonrpc.CodeInvalidRequest}}
	switch {
	case long:
		r.Error.Message = fmt.Sprintf("the message is longer than %d bytes", maxLine)
	case !json.Valid(line):
		r.Error.Code, r.Error.Message = jsonrpc.CodeParseError, "the line is not JSON"
	case line[0] == '[':
		r.Error.Message = "batches are not taken: send one message a line"
	default:
		r.Error.Message = why.Error()
	}
	answer, err := json.Marshal(r)
	if err != nil {
		panic(err) // all of it can be marshalled
	}
	return append(answer, '\n')
}

// idOf returns the id of a message that can't be decoded or is incomplete, null if none is
// found.
func idOf(line []byte) json.RawMessage {
	none := json.RawMessage("null")
	d := json.NewDecoder(bytes.NewReader(line))
	if open, err := d.Token(); err != nil || open != json.Delim('{') {
		return none
	}
	for d.More() {
		key, err := d.Token()
		if err != nil {
			return none
		}
		var value json.RawMessage
		if err := d.Decode(&value); err != nil {
			return none
		}
		if key == "id" && (value[0] == '"' || value[0] == '-' || value[0] >= '0' && value[0] <= '9') {
			return value
		}
	}
	return none
}

// lines sends what r has, line by line, and closes the channel at its end or once
// stop is closed.
func lines(r io.Reader, stop <-chan struct{}) <-chan received {
	c := make(chan received)
	go func() {
		defer close(c)
		buffered := bufio.NewReaderSize(r, 64<<10)
		for {
			line, long, err := readLine(buffered, maxLine)
			if len(line) > 0 {
				select {
				case c <- received{line, long}:
				case <-stop:
					return
				}
			}
			if err != nil {
				return // the client is gone and sends nothing more, whatever the error
			}
		}
	}()
	return c
}

type received struct {
	text []byte
	// long says that the line is incomplete.
	long bool
}
