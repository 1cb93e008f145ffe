package rundir

import (
	"errors"
	"slices"
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
	// VerbWatch reports every change until the end.
	VerbWatch    = "watch"
	VerbComplete = "complete"
	// VerbInput is followed by Size bytes.
	VerbInput = "input"
	// VerbLimits makes other limits those of the worker.
	VerbLimits = "limits"
	// VerbPause stops the processes of the worker, or lets them continue.
	VerbPause = "pause"
	// VerbExec runs a second command, which follows in Size bytes with three descriptors.
	VerbExec = "exec"
)

// The kinds of an input.
const (
	InputText      = "text"
	InputInterrupt = "interrupt"
	InputEOF       = "eof"
	InputKeys      = "keys"
)

// Continue is the line that a client sends after a kill with Closing if it can't close
// the terminal: the signal is then sent at once.
const Continue = "continue"

// Protocol counts the protocols of the control socket. A shim names it when it does not
// understand a request, so that its client knows which of them is the older one. It grows with
// each verb or field that is added or dropped.
const Protocol = 1

// misunderstood makes an error of a shim that does not understand a request.
func misunderstood(text string) error {
	return errors.New(text + protocolMark + strconv.Itoa(Protocol))
}

const protocolMark = "; this shim speaks protocol "

// Misunderstood reports whether the text of an error says that the shim did not understand the
// request, and the protocol that the shim speaks.
func Misunderstood(text string) (protocol int, ok bool) {
	_, number, found := strings.Cut(text, protocolMark)
	protocol, err := strconv.Atoi(number)
	return protocol, found && err == nil
}

const maxGraceMS = 365 * 24 * 3600 * 1000

// Request is one request on the control socket.
type Request struct {
	// Verb is one of the verbs.
	Verb string
	// ID is the id of the intended worker; empty matches any.
	ID string
	// Signal is the full name of a signal; for kill, complete and signal.
	Signal string
	// GraceMS and Force are for kill and complete.
	GraceMS int64
	Force   bool
	// MainOnly is mode=main, else the signal goes to the tree.
	MainOnly bool
	// Closing is for kill: the client closes the worker's terminal next, and saves its last
	// screen.
	Closing bool
	// Summary is for complete: any bytes, at most
	// [swarm.MaxSummary] of them.
	Summary string
	// Kind is for input, Size for exec, InputText and InputKeys, Enter and AfterMS for
	// InputText. AfterMS is the shortest pause before Enter; 0: the shim's own.
	Kind    string
	Enter   bool
	Size    int
	AfterMS int
	// PasteOnly is for InputText: in paste brackets or not at all.
	PasteOnly bool
	// Limits is for limits, Paused for pause.
	Limits swarm.Limits
	Paused bool
}

// requestFields are the fields of all requests. Optional fields are left out
// where they are not needed.
var requestFields = []field[Request]{
	optional("", wordField("id", func(r *Request) *string { return &r.ID })),
	wordField("signal", func(r *Request) *string { return &r.Signal }),
	parsedField("grace", func(r *Request) *int64 { return &r.GraceMS }, graceText, parseGrace),
	flagField("force", func(r *Request) *bool { return &r.Force }),
	choiceField("mode", func(r *Request) *bool { return &r.MainOnly }, "tree", "main"),
	optional("0", flagField("closing", func(r *Request) *bool { return &r.Closing })),
	parsedField("summary", func(r *Request) *string { return &r.Summary }, escape, unescape),
	wordField("kind", func(r *Request) *string { return &r.Kind }, InputText, InputInterrupt, InputEOF, InputKeys),
	flagField("enter", func(r *Request) *bool { return &r.Enter }),
	numberField("size", func(r *Request) *int { return &r.Size }, 0, swarm.MaxInput),
	optional("0", numberField("after", func(r *Request) *int { return &r.AfterMS }, 0, swarm.MaxEnterAfter.Milliseconds())),
	parsedField("limits", func(r *Request) *swarm.Limits { return &r.Limits }, requestedText, parseRequested),
	flagField("paused", func(r *Request) *bool { return &r.Paused }),
	optional("0", flagField("paste", func(r *Request) *bool { return &r.PasteOnly })),
}

// requestKeys are the fields of each verb: those that must be there, and those that
// may be. Every verb may have an id.
var requestKeys = map[string]struct{ must, may []string }{
	VerbKill:     {[]string{"signal", "grace", "force", "mode"}, []string{"id", "closing"}},
	VerbSignal:   {[]string{"signal", "mode"}, []string{"id"}},
	VerbComplete: {[]string{"signal", "grace", "force", "mode", "summary"}, []string{"id"}},
	VerbInput:    {[]string{"kind", "enter", "size"}, []string{"id", "after", "paste"}},
	VerbWatch:    {nil, []string{"id"}},
	VerbLimits:   {[]string{"limits"}, []string{"id"}},
	VerbPause:    {[]string{"paused"}, []string{"id"}},
	VerbExec:     {[]string{"size"}, []string{"id"}},
}

// String returns the request as its line, without the newline.
func (r Request) String() string {
	keys := requestKeys[r.Verb]
	var line strings.Builder
	line.WriteString(r.Verb)
	for _, f := range requestFields {
		if slices.Contains(keys.must, f.key) || slices.Contains(keys.may, f.key) {
			for _, value := range f.values(&r) {
				line.WriteString(" " + f.key + "=" + value)
			}
		}
	}
	return line.String()
}

// ParseRequest reads a line that was written by [Request.String]. Each field of
// its verb must be there, once, and no other; the id may be missing. It does not check
// that there is a signal of that name.
func ParseRequest(line string) (Request, error) {
	words := strings.Split(line, " ")
	r := Request{Verb: words[0]}
	keys, ok := requestKeys[r.Verb]
	if !ok {
		return Request{}, misunderstood("unknown request")
	}
	left := slices.Concat(keys.must, keys.may)
	for _, word := range words[1:] {
		key, value, _ := strings.Cut(word, "=")
		i := slices.Index(left, key)
		if i < 0 {
			return Request{}, misunderstood("unknown or repeated field")
		}
		left = slices.Delete(left, i, i+1)
		if _, ok := setField(requestFields, &r, key, value); !ok {
			return Request{}, misunderstood("bad value of " + key)
		}
	}
	if slices.ContainsFunc(left, func(key string) bool { return slices.Contains(keys.must, key) }) {
		return Request{}, misunderstood("missing field")
	}
	return r, nil
}

func graceText(ms int64) string { return strconv.FormatInt(min(max(ms, 0), maxGraceMS), 10) }

func parseGrace(value string) (int64, bool) {
	ms, err := strconv.ParseInt(value, 10, 64)
	return ms, err == nil && ms >= 0 && ms <= maxGraceMS
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
