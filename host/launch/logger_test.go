package launch

import (
	"strings"
	"sync"
	"testing"

	"github.com/hashicorp/go-hclog"

	"github.com/swarmhost/swarm/shared/swarm"
)

// The log of a plugin keeps its levels; what it prints is for debugging.
func TestLogOfPluginsKeepsItsLevels(t *testing.T) {
	t.Parallel()
	for level, want := range map[hclog.Level]int{hclog.Debug: 2, hclog.Info: 1, hclog.Error: 1, hclog.Off: 0} {
		var log log
		o := options(t)
		o.Logger = hclog.New(&hclog.LoggerOptions{Output: &log, Level: level})
		s := New(o)
		t.Cleanup(s.Close)
		c := get(t, s, entry("serve"))
		if _, err := c.Backend().Status(t.Context(), swarm.Handle{Version: 1}); err != nil {
			t.Fatal(err)
		}
		if want > 0 {
			eventually(t, "what it logs is in the log", bound, func() bool {
				return strings.Contains(log.String(), "[ERROR] logged by the plugin: plugin=test")
			})
		}
		if level == hclog.Debug {
			eventually(t, "what it prints is in the log", bound, func() bool {
				return strings.Contains(log.String(), "[DEBUG] printed while serving: plugin=test")
			})
		}
		s.Close()
		if lines := strings.Count(log.String(), "\n"); lines != want {
			t.Errorf("at level %v there are %d lines, want %d:\n%s", level, lines, want, log.String())
		}
	}
}

// log is what was logged.
type log struct {
	mu   sync.Mutex
	text strings.Builder
}

func (l *log) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(b)
}

func (l *log) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}
