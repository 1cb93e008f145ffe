package setup

import (
	"fmt"
	"io"
	"strings"

	"github.com/hashicorp/go-hclog"

	"github.com/swarmhost/swarm/shared/safetext"
)

// LogTo has the program of that name log to errs what the environment asks for: SWARM_LOG is the
// level of everything, SWARM_LOG_PLUGIN that of single plugins.
func (s *Setup) LogTo(name string, errs io.Writer) {
	if level := hclog.LevelFromString(s.Getenv("SWARM_LOG")); level != hclog.NoLevel {
		s.Logger = newLogger(name, level, errs)
	}
	for entry := range strings.SplitSeq(s.Getenv("SWARM_LOG_PLUGIN"), ",") {
		if entry = strings.TrimSpace(entry); entry == "" {
			continue
		}
		plugin, text, _ := strings.Cut(entry, "=")
		level := hclog.LevelFromString(text)
		if level == hclog.NoLevel || plugin == "" {
			s.logErr = fmt.Errorf("SWARM_LOG_PLUGIN has '%s': expected NAME=LEVEL, such as tmux=debug, with a level of trace, debug, info, warn, error or off", entry)
			return
		}
		if s.PluginLoggers == nil {
			s.PluginLoggers = map[string]hclog.Logger{}
		}
		s.PluginLoggers[plugin] = newLogger(name, level, errs)
	}
}

func newLogger(name string, level hclog.Level, to io.Writer) hclog.Logger {
	return hclog.New(&hclog.LoggerOptions{Name: name, Level: level, Output: safetext.Writer(to)})
}
