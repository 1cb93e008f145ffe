package rundir

import "strconv"

// EncodeStatus returns the content of status.json: one object, and a newline. It equals the
// output of encoding/json for s, except that invalid UTF-8 in a text becomes the
// replacement character.
func EncodeStatus(s Status) []byte { return AppendStatus(make([]byte, 0, 1<<10), s) }

// AppendStatus appends what [EncodeStatus] returns to b.
func AppendStatus(b []byte, s Status) []byte {
	o := object{b: b}
	o.open()
	o.number("version", int64(s.Version))
	o.text("id", s.ID)
	o.text("state", s.State)
	o.identity("shim", s.Shim)
	o.identity("main", s.Main)
	o.number("session", int64(s.Session))
	o.text("dir", s.Dir)
	o.object("pipes", true, func() {
		o.count("out", s.Pipes.Out)
		o.count("err", s.Pipes.Err)
	})
	o.count("terminal", s.Terminal)
	o.number("started_ns", s.StartedNS)
	o.number("ended_ns", s.EndedNS)
	o.number("code", int64(s.Code))
	o.text("signal", s.Signal)
	o.text("cause", string(s.Cause))
	o.text("reason", s.Reason)
	o.flag("forced", s.Forced)
	o.number("dropped_bytes", s.DroppedBytes)
	o.number("dropped_lines", s.DroppedLines)
	o.number("restarts", int64(s.Restarts))
	list(&o, "last_restarts", s.LastRestarts, func(r Restarted) {
		o.open()
		o.number("number", int64(r.Number))
		o.number("time_ns", r.TimeNS)
		o.number("code", int64(r.Code))
		o.text("signal", r.Signal)
		o.close()
	})
	o.object("completion", s.Completion != nil, func() {
		o.text("summary", s.Completion.Summary)
		o.number("time_ns", s.Completion.TimeNS)
	})
	o.object("used", s.Used != nil, func() {
		o.number("cpu_ns", s.Used.CPUNS)
		o.number("peak", s.Used.Peak)
		o.number("read", s.Used.Read)
		o.number("written", s.Used.Written)
	})
	list(&o, "groups", s.Groups, o.quote)
	o.flag("paused", s.Paused)
	o.text("unenforced", s.Unenforced)
	o.close()
	return append(o.b, '\n')
}

// object appends the members of JSON objects.
type object struct {
	b     []byte
	comma bool
}

func (o *object) open() {
	o.b = append(o.b, '{')
	o.comma = false
}

func (o *object) close() {
	o.b = append(o.b, '}')
	o.comma = true
}

func (o *object) key(name string) {
	if o.comma {
		o.b = append(o.b, ',')
	}
	o.comma = true
	o.b = append(o.b, '"')
	o.b = append(o.b, name...)
	o.b = append(o.b, '"', ':')
}

func (o *object) number(name string, n int64) {
	o.key(name)
	o.b = strconv.AppendInt(o.b, n, 10)
}

func (o *object) count(name string, n uint64) {
	o.key(name)
	o.b = strconv.AppendUint(o.b, n, 10)
}

func (o *object) flag(name string, is bool) {
	o.key(name)
	o.b = strconv.AppendBool(o.b, is)
}

// object appends an object whose members fill appends, or null if there is none.
func (o *object) object(name string, there bool, fill func()) {
	if !there {
		o.null(name)
		return
	}
	o.key(name)
	o.open()
	fill()
	o.close()
}

func (o *object) null(name string) {
	o.key(name)
	o.b = append(o.b, "null"...)
}

// list appends an array whose elements each appends; a nil array is null.
func list[T any](o *object, name string, values []T, each func(T)) {
	if values == nil {
		o.null(name)
		return
	}
	o.key(name)
	o.b = append(o.b, '[')
	for i, v := range values {
		if i > 0 {
			o.b = append(o.b, ',')
		}
		each(v)
	}
	o.b = append(o.b, ']')
}

func (o *object) identity(name string, id Identity) {
	o.object(name, true, func() {
		o.number("pid", int64(id.PID))
		o.count("start", id.Start)
		o.text("boot", id.Boot)
	})
}

func (o *object) text(name, s string) {
	o.key(name)
	o.quote(s)
}

func (o *object) quote(s string) {
	const hex = "0123456789abcdef"
	o.b = append(o.b, '"')
	for _, r := range s {
		switch {
		case r == '"' || r == '\\':
			o.b = append(o.b, '\\', byte(r))
		case r < ' ':
			o.b = append(o.b, '\\', 'u', '0', '0', hex[r>>4], hex[r&15])
		default:
			o.b = append(o.b, string(r)...)
		}
	}
	o.b = append(o.b, '"')
}
