package launch

import (
	"io"

	"github.com/hashicorp/go-hclog"
)

// output receives the text that the plugin's code prints while it serves.
func output(to hclog.Logger, name string) io.Writer {
	if !to.IsDebug() {
		return io.Discard
	}
	return to.With("plugin", name).StandardWriter(&hclog.StandardLoggerOptions{ForceLevel: hclog.Debug})
}

// logOf returns the logger for a plugin's log, which keeps the levels of its entries; nil if
// nothing is logged.
func logOf(to hclog.Logger, name string) hclog.Logger {
	if !to.IsError() {
		return nil
	}
	return to.With("plugin", name)
}

// silent is a null logger whose level says so, for go-plugin: its own messages are dropped, and
// it does not read lines of the plugin in vain.
type silent struct{ hclog.Logger }

func (silent) GetLevel() hclog.Level       { return hclog.Off }
func (s silent) Named(string) hclog.Logger { return s }
