package rundir

import (
	"errors"
	"strconv"
	"strings"
)

// MaxLine is the longest line of a request, the newline included.
const MaxLine = 4096

// The verbs of a request.
const (
	VerbKill   = "kill"
	VerbSignal = "signal"
	VerbWait   = "wait"
)

// maxGraceMS is a year: more of it would overflow somewhere, and nobody means it.
const maxGraceMS = 365 * 24 * 3600 * 1000

// Request is one request on the control socket.
type Request struct {
	// Verb is one of the verbs.
	Verb string
	// ID is the id of the worker that is meant; empty: whoever's the shim is.
	ID string
	// Signal is the full name of a signal; for kill and signal.
	Signal string
	// GraceMS and Force are for kill.
	GraceMS int64
	Force   bool
	// MainOnly is mode=main, else the signal goes to the tree.
	MainOnly bool
}

// String returns the request as its line, without the newline.
func (r Request) String() string {
	id := ""
	if r.ID != "" {
		id = " id=" + r.ID
	}
	switch r.Verb {
	case VerbKill:
		grace := min(max(r.GraceMS, 0), maxGraceMS)
		return "kill" + id + " signal=" + r.Signal + " grace=" + strconv.FormatInt(grace, 10) +
			" force=" + flag(r.Force) + " mode=" + mode(r.MainOnly)
	case VerbSignal:
		return "signal" + id + " signal=" + r.Signal + " mode=" + mode(r.MainOnly)
	default:
		return r.Verb + id
	}
}

// ParseRequest reads a line that was written by [Request.String]. Each field of
// its verb must be there, once, and no other; the id may be missing. Whether there is a signal of that
// name is not its business.
func ParseRequest(line string) (Request, error) {
	words := strings.Split(line, " ")
	r := Request{Verb: words[0]}
	// What may be there, and whether it must.
	want := map[string]bool{"id": false}
	switch r.Verb {
	case VerbKill:
		want["signal"], want["grace"], want["force"], want["mode"] = true, true, true, true
	case VerbSignal:
		want["signal"], want["mode"] = true, true
	case VerbWait:
	default:
		return Request{}, errors.New("unknown request")
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
	}
	return ok
}

func mode(mainOnly bool) string {
	if mainOnly {
		return "main"
	}
	return "tree"
}
