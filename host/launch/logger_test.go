package launch

import (
	"bytes"
	"strings"
	"testing"

	"github.com/hashicorp/go-hclog"
)

func TestLogOfPluginsIsForDebugging(t *testing.T) {
	t.Parallel()
	for _, level := range []hclog.Level{hclog.Debug, hclog.Info} {
		var log bytes.Buffer
		o := options(t)
		o.Logger = hclog.New(&hclog.LoggerOptions{Output: &log, Level: level})
		s := New(o)
		t.Cleanup(s.Close)
		get(t, s, entry("serve"))
		s.Close()
		want := 0
		if level == hclog.Debug {
			want = 1
		}
		lines := strings.Count(log.String(), "\n")
		if lines != want {
			t.Errorf("at level %v there are %d lines, want %d:\n%s", level, lines, want, &log)
		}
		if want == 1 && (!strings.Contains(log.String(), "[DEBUG] logged by the plugin") || !strings.Contains(log.String(), "plugin=test")) {
			t.Errorf("log: %s", &log)
		}
	}
}
