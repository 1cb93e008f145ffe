package launch

import (
	"io"

	"github.com/hashicorp/go-hclog"
)

// stderrLogger is the name under which go-plugin asks for the logger of a
// plugin's standard error.
const stderrLogger = "plugin-stderr"

// chatter is the logger for go-plugin: its own messages are dropped, those of the plugin
// are passed on.
type chatter struct {
	hclog.Logger
	plugin hclog.Logger
}

// output receives the text that the plugin's code prints while it serves.
func output(to hclog.Logger, name string) io.Writer {
	if !to.IsDebug() {
		return io.Discard
	}
	return to.With("plugin", name).StandardWriter(&hclog.StandardLoggerOptions{ForceLevel: hclog.Debug})
}

func newChatter(to hclog.Logger, name string) hclog.Logger {
	if !to.IsDebug() {
		return silent{hclog.NewNullLogger()}
	}
	return chatter{hclog.NewNullLogger(), atDebug{to.With("plugin", name)}}
}

func (c chatter) Named(name string) hclog.Logger {
	if name == stderrLogger {
		return c.plugin
	}
	return c.Logger
}

type atDebug struct{ hclog.Logger }

func (l atDebug) Info(msg string, args ...any)  { l.Debug(msg, args...) }
func (l atDebug) Warn(msg string, args ...any)  { l.Debug(msg, args...) }
func (l atDebug) Error(msg string, args ...any) { l.Debug(msg, args...) }

// silent is a null logger whose level says so, so that go-plugin does not read lines in
// vain.
type silent struct{ hclog.Logger }

func (silent) GetLevel() hclog.Level       { return hclog.Off }
func (s silent) Named(string) hclog.Logger { return s }
