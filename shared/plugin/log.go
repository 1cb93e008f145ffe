package plugin

import (
	"io"
	"log/slog"
	"strings"
)

// LevelTrace is the level below [slog.LevelDebug], for what only the author of a plugin reads.
const LevelTrace = slog.Level(-8)

// hclogTime is how hclog writes the time; hosts of go-plugin pass over lines with another format.
const hclogTime = "2006-01-02T15:04:05.000000Z07:00"

// newLogger returns a logger whose lines the host reads with their levels. They have the keys of
// hclog, as those of go-plugin have.
func newLogger(to io.Writer) *slog.Logger {
	return slog.New(slog.NewJSONHandler(to, &slog.HandlerOptions{Level: LevelTrace, ReplaceAttr: asHclog}))
}

func asHclog(groups []string, a slog.Attr) slog.Attr {
	value := a.Value.Resolve()
	if value.Kind() == slog.KindDuration {
		return slog.String(a.Key, value.Duration().String())
	}
	if len(groups) > 0 {
		return a
	}
	switch a.Key {
	case slog.TimeKey:
		return slog.String("@timestamp", value.Time().Format(hclogTime))
	case slog.LevelKey:
		return slog.String("@level", levelName(value))
	case slog.MessageKey:
		a.Key = "@message"
	}
	return a
}

func levelName(v slog.Value) string {
	level, ok := v.Any().(slog.Level)
	if !ok {
		return v.String() // an attribute of the author's that is called "level"
	}
	if level < slog.LevelDebug {
		return "trace"
	}
	name, _, _ := strings.Cut(strings.ToLower(level.String()), "+")
	return name
}
