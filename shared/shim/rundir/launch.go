package rundir

import (
	"bytes"
	"errors"
	"strconv"
	"strings"
)

// launchVersion opens a launch file. A shim reads only its own.
const launchVersion = "swarm-launch=1"

var errLaunch = errors.New("damaged launch file")

// EncodeLaunch returns the content of a launch file: entries "key=value", each
// ended by NUL, the last one "end=", without which the file is damaged. It
// refuses a NUL, which no argument and no variable can hold.
func EncodeLaunch(l Launch) ([]byte, error) {
	var b []byte
	hasNUL := false
	put := func(key, value string) {
		hasNUL = hasNUL || strings.IndexByte(value, 0) >= 0
		b = append(b, key...)
		b = append(b, '=')
		b = append(b, value...)
		b = append(b, 0)
	}
	b = append(b, launchVersion+"\x00"...)
	put("id", l.ID)
	put("dir", l.Dir)
	for _, arg := range l.Command {
		put("arg", arg)
	}
	for _, kv := range l.Env {
		put("env", kv)
	}
	put("terminal", flag(l.Terminal))
	put("grace", strconv.FormatInt(l.GraceMS, 10))
	put("force", flag(l.Force))
	put("main", flag(l.MainOnly))
	put("limit", strconv.FormatInt(l.OutputLimit, 10))
	put("end", "")
	if hasNUL {
		return nil, errors.New("a zero byte in the command, its directory or its environment")
	}
	return b, nil
}

// DecodeLaunch reads what [EncodeLaunch] wrote. An unknown key is an error: what
// it asks for would be left out in silence.
func DecodeLaunch(b []byte) (Launch, error) {
	var l Launch
	rest, ok := bytes.CutPrefix(b, []byte(launchVersion+"\x00"))
	if !ok {
		return Launch{}, errLaunch
	}
	for len(rest) > 0 {
		entry, after, ended := bytes.Cut(rest, []byte{0})
		key, value, ok := strings.Cut(string(entry), "=")
		if !ended || !ok {
			return Launch{}, errLaunch
		}
		if key == "end" {
			if len(after) > 0 || len(l.Command) == 0 {
				return Launch{}, errLaunch
			}
			return l, nil
		}
		if !l.set(key, value) {
			return Launch{}, errLaunch
		}
		rest = after
	}
	return Launch{}, errLaunch
}

func (l *Launch) set(key, value string) bool {
	var err error
	ok := true
	switch key {
	case "id":
		l.ID = value
	case "dir":
		l.Dir = value
	case "arg":
		l.Command = append(l.Command, value)
	case "env":
		l.Env = append(l.Env, value)
	case "terminal":
		l.Terminal, ok = parseFlag(value)
	case "grace":
		l.GraceMS, err = strconv.ParseInt(value, 10, 64)
	case "force":
		l.Force, ok = parseFlag(value)
	case "main":
		l.MainOnly, ok = parseFlag(value)
	case "limit":
		l.OutputLimit, err = strconv.ParseInt(value, 10, 64)
	default:
		return false
	}
	return ok && err == nil
}

func flag(b bool) string {
	if b {
		return "1"
	}
	return "0"
}

func parseFlag(s string) (value, ok bool) { return s == "1", s == "0" || s == "1" }
