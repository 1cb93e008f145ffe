package rundir

import (
	"errors"
	"strconv"
	"strings"

	"github.com/swarmhost/swarm/shared/swarm"
)

// MaxLine is the longest line of a request, the newline included.
const MaxLine = 4096

// The verbs of a request.
const (
	VerbKill   = "kill"
	VerbSignal = "signal"
	VerbWait   = "wait"
	// VerbWatch tells of every change until the end.
	VerbWatch    = "watch"
	VerbComplete = "complete"
	// VerbInput is followed by Size bytes.
	VerbInput = "input"
)

// The kinds of an input.
const (
	InputText      = "text"
	InputInterrupt = "interrupt"
	InputEOF       = "eof"
	InputKeys      = "keys"
)

// GoOn is the line that a client sends after a kill with Closing if it can't close
// the terminal: the signal is then sent at once.
const GoOn = "go on"

// UnknownRequest is the text of the error for a verb that a shim does not know: it
// is older than who asks.
const UnknownRequest = "unknown request"

// maxGraceMS is a year: more of it would overflow somewhere, and nobody means it.
const maxGraceMS = 365 * 24 * 3600 * 1000

// Request is one request on the control socket.
type Request struct {
	// Verb is one of the verbs.
	Verb string
	// ID is the id of the worker that is meant; empty: whoever's the shim is.
	ID string
	// Signal is the full name of a signal; for kill, complete and signal.
	Signal string
	// GraceMS and Force are for kill and complete.
	GraceMS int64
	Force   bool
	// MainOnly is mode=main, else the signal goes to the tree.
	MainOnly bool
	// Closing is for kill: who asks closes the worker's terminal next, and keeps
	// its last screen.
	Closing bool
	// Summary is for complete: any bytes, at most
	// [swarm.MaxSummary] of them.
	Summary string
	// Kind is for input, Size for InputText and InputKeys, Enter and AfterMS for
	// InputText. AfterMS is the shortest pause before Enter; 0: the shim's own.
	Kind    string
	Enter   bool
	Size    int
	AfterMS int
	// PasteOnly is for InputText: in paste brackets or not at all.
	PasteOnly bool
}

// String returns the request as its line, without the newline.
func (r Request) String() string {
	id := ""
	if r.ID != "" {
		id = " id=" + r.ID
	}
	switch r.Verb {
	case VerbKill:
		line := "kill" + id + r.policy()
		if r.Closing {
			// Left out where it is not needed, for an older shim to read.
			line += " closing=" + flag(true)
		}
		return line
	case VerbComplete:
		return "complete" + id + r.policy() + " summary=" + escape(r.Summary)
	case VerbInput:
		line := "input" + id + " kind=" + r.Kind + " enter=" + flag(r.Enter) + " size=" + strconv.Itoa(r.Size)
		if r.AfterMS != 0 {
			// Left out where it is not needed, for an older shim to read.
			line += " after=" + strconv.Itoa(r.AfterMS)
		}
		if r.PasteOnly {
			line += " paste=" + flag(true)
		}
		return line
	case VerbSignal:
		return "signal" + id + " signal=" + r.Signal + " mode=" + mode(r.MainOnly)
	default:
		return r.Verb + id
	}
}

func (r Request) policy() string {
	grace := min(max(r.GraceMS, 0), maxGraceMS)
	return " signal=" + r.Signal + " grace=" + strconv.FormatInt(grace, 10) +
		" force=" + flag(r.Force) + " mode=" + mode(r.MainOnly)
}

// ParseRequest reads a line that was written by [Request.String]. Each field of
// its verb must be there, once, and no other; the id may be missing. Whether there
// is a signal of that name is not its business.
func ParseRequest(line string) (Request, error) {
	words := strings.Split(line, " ")
	r := Request{Verb: words[0]}
	// What may be there, and whether it must.
	want := map[string]bool{"id": false}
	switch r.Verb {
	case VerbKill:
		want["signal"], want["grace"], want["force"], want["mode"] = true, true, true, true
		want["closing"] = false
	case VerbSignal:
		want["signal"], want["mode"] = true, true
	case VerbComplete:
		want["signal"], want["grace"], want["force"], want["mode"] = true, true, true, true
		want["summary"] = true
	case VerbInput:
		want["kind"], want["enter"], want["size"] = true, true, true
		want["after"], want["paste"] = false, false
	case VerbWait, VerbWatch:
	default:
		return Request{}, errors.New(UnknownRequest)
	}
	for _, word := range words[1:] {
		key, value, _ := strings.Cut(word, "=")
		if _, ok := want[key]; !ok {
			return Request{}, errors.New("unknown or repeated field")
		}
		delete(want, key)
		if !r.set(key, value) {
			return Request{}, errors.New("bad value of " + key)
		}
	}
	for _, must := range want {
		if must {
			return Request{}, errors.New("missing field")
		}
	}
	return r, nil
}

func (r *Request) set(key, value string) bool {
	ok := true
	switch key {
	case "id":
		r.ID, ok = value, value != ""
	case "signal":
		r.Signal, ok = value, value != ""
	case "grace":
		var err error
		r.GraceMS, err = strconv.ParseInt(value, 10, 64)
		ok = err == nil && r.GraceMS >= 0 && r.GraceMS <= maxGraceMS
	case "force":
		r.Force, ok = parseFlag(value)
	case "mode":
		r.MainOnly, ok = value == mode(true), value == mode(true) || value == mode(false)
	case "closing":
		r.Closing, ok = parseFlag(value)
	case "summary":
		r.Summary, ok = unescape(value)
	case "kind":
		r.Kind, ok = value, value == InputText || value == InputInterrupt || value == InputEOF || value == InputKeys
	case "enter":
		r.Enter, ok = parseFlag(value)
	case "size":
		var err error
		r.Size, err = strconv.Atoi(value)
		ok = err == nil && r.Size >= 0 && r.Size <= swarm.MaxInput
	case "paste":
		r.PasteOnly, ok = parseFlag(value)
	case "after":
		var err error
		r.AfterMS, err = strconv.Atoi(value)
		ok = err == nil && r.AfterMS >= 0 && int64(r.AfterMS) <= swarm.MaxEnterAfter.Milliseconds()
	}
	return ok
}

func mode(mainOnly bool) string {
	if mainOnly {
		return "main"
	}
	return "tree"
}

const hexDigits = "0123456789ABCDEF"

// escape makes one word of any text, as in a URL.
func escape(s string) string {
	var b strings.Builder
	for _, c := range []byte(s) {
		if isPlain(c) {
			b.WriteByte(c)
			continue
		}
		b.WriteByte('%')
		b.WriteByte(hexDigits[c>>4])
		b.WriteByte(hexDigits[c&15])
	}
	return b.String()
}

func unescape(s string) (string, bool) {
	var b strings.Builder
	for len(s) > 0 {
		if s[0] != '%' {
			b.WriteByte(s[0])
			s = s[1:]
			continue
		}
		if len(s) < 3 {
			return "", false
		}
		c, err := strconv.ParseUint(s[1:3], 16, 8)
		if err != nil {
			return "", false
		}
		b.WriteByte(byte(c))
		s = s[3:]
	}
	return b.String(), true
}
