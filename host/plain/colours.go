package plain

import (
	"bytes"
	"slices"
	"strconv"
)

// reset turns all colours off.
const reset = "\x1b[0m"

// maxColours is how many sequences are kept of those that are in force. What a
// program has set before that many others is lost where a piece or a line ends.
const maxColours = 16

// colours are what a program has set.
type colours struct {
	// set are its SGR sequences since the last reset, the newest last.
	set []string
	// shown says that they are in force where the text goes.
	shown bool
}

// begin appends what makes the text that follows look as it should.
func (c *colours) begin(out []byte) []byte {
	if c.shown {
		return out
	}
	for _, s := range c.set {
		out = append(out, s...)
	}
	c.shown = len(c.set) > 0
	return out
}

// end appends the reset, if there is something to reset.
func (c *colours) end(out []byte) []byte {
	if c.shown {
		out = append(out, reset...)
	}
	c.shown = false
	return out
}

// change does the SGR sequence with these parameters, as far as it changes how
// letters look and a reset takes it back.
func (c *colours) change(out, params []byte) []byte {
	fields, ok := sgrFields(params)
	if !ok || len(fields) == 0 {
		return out
	}
	if c.shown {
		out = append(out, sgr(fields)...)
	}
	for i, field := range slices.Backward(fields) {
		if isReset(field) {
			c.set, fields = nil, fields[i+1:]
			break
		}
	}
	if len(fields) > 0 {
		// Set again it counts once: nothing that was set before depends on another.
		s := sgr(fields)
		c.set = slices.DeleteFunc(c.set, func(old string) bool { return old == s })
		c.set = append(c.set[max(0, len(c.set)-maxColours+1):], s)
	}
	c.shown = c.shown && len(c.set) > 0
	return out
}

func sgr(fields [][]byte) string {
	return "\x1b[" + string(bytes.Join(fields, []byte{';'})) + "m"
}

// sgrFields returns the attributes that params set, each with its own parameters.
// Sequences with a private mark or intermediate bytes are others than SGR, which
// set keys or ask the terminal. Fonts (10 to 19) are left out: on a console they
// change how bytes are read, and no reset takes that back.
func sgrFields(params []byte) (fields [][]byte, ok bool) {
	for _, b := range params {
		if (b < '0' || b > '9') && b != ';' && b != ':' {
			return nil, false
		}
	}
	all := bytes.Split(params, []byte{';'})
	for len(all) > 0 {
		n := min(fieldsOf(all), len(all))
		if code, err := strconv.Atoi(string(all[0])); err != nil || code < 10 || code > 19 {
			fields = append(fields, bytes.Join(all[:n], []byte{';'}))
		}
		all = all[n:]
	}
	return fields, true
}

// fieldsOf is how many fields the first attribute of all takes: a colour by its
// number takes three, by red, green and blue five.
func fieldsOf(all [][]byte) int {
	if len(all) < 2 {
		return 1
	}
	switch string(all[0]) {
	case "38", "48", "58":
	default:
		return 1
	}
	switch string(all[1]) {
	case "5":
		return 3
	case "2":
		return 5
	}
	return 1
}

func isReset(field []byte) bool {
	return len(bytes.TrimLeft(field, "0")) == 0
}
