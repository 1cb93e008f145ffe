package rundir

import (
	"bytes"
	"errors"
	"strconv"
	"strings"
)

// launchVersion opens a launch file. A shim reads only its own.
const launchVersion = "swarm-launch=1"

// Launch is the content of the launch file.
type Launch struct {
	ID      string
	Command []string
	Dir     string
	Env     []string
	// Terminal says that the shim's own standard streams are a terminal, and
	// that the worker gets a terminal of its own, copied to it. TERM, TMUX and
	// TMUX_PANE are then taken from the shim's environment.
	Terminal bool
	// Stdin says that the worker's standard input is a pipe that the shim keeps
	// open, for input; of no meaning with Terminal.
	Stdin bool
	// Transcript says to write the output to [swarm.TranscriptFile] too. Standard output
	// and error are then one pipe.
	Transcript bool
	// GraceMS, Force and MainOnly are the policy for what outlives the main
	// process and for an end that nobody asked the shim for. Signal is the first
	// one at the end of the owner; empty is SIGTERM.
	GraceMS  int64
	Force    bool
	MainOnly bool
	Signal   string
	// OutputLimit is the cap on the log and on the transcript, each, in bytes; 0 is
	// DefaultOutputLimit.
	OutputLimit int64
	// Restart is when to start the worker again; the zero value is never.
	Restart Restart
	// Owner is the process at whose end the worker is ended; the zero value is
	// nobody.
	Owner Identity
	// Capture is a program and its arguments that prints what the shim's terminal
	// shows; empty: there is none. See [ScreenFile].
	Capture []string
}

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
	// What is not asked for is left out, for an older shim to read.
	if l.Signal != "" {
		put("signal", l.Signal)
	}
	if l.Stdin {
		put("stdin", flag(true))
	}
	if l.Transcript {
		put("transcript", flag(true))
	}
	if l.Restart.When != "" {
		put("restart", l.Restart.String())
	}
	if l.Owner != (Identity{}) {
		put("owner", strconv.Itoa(l.Owner.PID)+" "+strconv.FormatUint(l.Owner.Start, 10)+" "+l.Owner.Boot)
	}
	for _, arg := range l.Capture {
		put("capture", arg)
	}
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
	case "signal":
		l.Signal = value
	case "stdin":
		l.Stdin, ok = parseFlag(value)
	case "transcript":
		l.Transcript, ok = parseFlag(value)
	case "restart":
		l.Restart, ok = parseRestart(value)
	case "owner":
		l.Owner, ok = parseOwner(value)
	case "capture":
		l.Capture = append(l.Capture, value)
	default:
		return false
	}
	return ok && err == nil
}

func parseOwner(value string) (Identity, bool) {
	var id Identity
	pid, rest, _ := strings.Cut(value, " ")
	start, boot, ok := strings.Cut(rest, " ")
	var err1, err2 error
	id.PID, err1 = strconv.Atoi(pid)
	id.Start, err2 = strconv.ParseUint(start, 10, 64)
	id.Boot = boot
	return id, ok && err1 == nil && err2 == nil
}

func flag(b bool) string {
	if b {
		return "1"
	}
	return "0"
}

func parseFlag(s string) (value, ok bool) { return s == "1", s == "0" || s == "1" }
