package caller

import (
	"strings"
	"testing"
)

func TestShared(t *testing.T) {
	t.Parallel()
	for line, want := range map[string]string{
		"codex":                              "",
		"codex --no-daemon":                  "",
		"codex exec --json do it":            "",
		"codex app-server":                   "",
		"codex app-server --listen stdio://": "",
		"/p/bin/codex app-server --listen unix:// --managed-daemon":      "codex app-server",
		"codex -c a=b app-server --listen=ws://127.0.0.1:1":              "codex app-server",
		"codex app-server daemon pid-update-loop":                        "",
		"node /usr/bin/codex app-server --listen unix:///run/codex.sock": "codex app-server",
		"node /p/codex.js app-server --listen unix://":                   "codex app-server",
		"codex exec-server":          "codex exec-server",
		"opencode":                   "",
		"opencode run serve":         "",
		"opencode serve --port 4096": "opencode serve",
		"opencode web":               "opencode web",
		"claude":                     "",
		"sh -c codex":                "",
		"":                           "",
	} {
		err := shared(7, strings.Fields(line))
		switch {
		case want == "" && err != nil:
			t.Errorf("%q: %v", line, err)
		case want != "" && (err == nil || !strings.Contains(err.Error(), "'"+want+"' (pid 7), which serves several sessions; start ")):
			t.Errorf("%q: %v, want %s", line, err, want)
		}
	}
}
