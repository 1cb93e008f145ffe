package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"github.com/swarmhost/swarm/cmd/swarm/internal/app"
)

// ranElsewhere are examples that need what the scripts of examples have not.
var ranElsewhere = map[string]string{
	"swarm attach agent --read-only":                                          "attach_read_only: it needs a terminal",
	"swarm attach agent":                                                      "attach: it needs a terminal",
	"swarm adopt --backend nomad --all":                                       "nomad/adopt: it needs a cluster",
	"swarm adopt --backend nomad build && swarm logs build --follow":          "nomad/adopt: it needs a cluster",
	"swarm ralph run agent":                                                   "backends/ralph_loop: it is what the worker of a loop runs",
	"swarm answer":                                                            "questions: it needs a terminal",
	"swarm answer agent honey jam --submit":                                   "answer_several: it needs a dialog with boxes",
	"swarm answer agent --text 'rye, but only if it is fresh'":                "answer_several: it needs a field",
	"swarm send agent \"run the tests again\" --wait || swarm status agent":   "send_wait: it needs an agent that answers",
	"swarm exec -t fix -- bash":                                               "exec_terminal: it needs a terminal",
	"swarm forward web 8080":                                                  "forward, container/forward, ssh_forward with other ports: it may be taken",
	"swarm top":                                                               "top: it needs a terminal",
	"swarm web --listen localhost:8080":                                       "the web lane: the port may be taken",
	"swarm web --listen build.example.com:8443 --cert cert.pem --key key.pem": "the web lane: it needs a name and a certificate",
	"swarm profiles update https://example.org/profiles.tar.gz --sha256 9f86d081884c7d65…": "cmd/swarm/internal/profiles: it needs a server",
	"swarm clean build --forget": "clean_forget: it needs a worker of that name",
	// A whole check takes a minute.
	"swarm plugin check ./swarm-plugin-queue":                                                                       "plugin_check_keeps_all",
	"swarm plugin check tmux --option socket=check":                                                                 "plugin_check_settings",
	"swarm plugin check ./swarm-plugin-queue --json | jq -r '.cases[] | select(.result == \"failed\") | .rule'":     "plugin_check_keeps_all, and examples_of_setup for the expression",
	"swarm plugin logs queue --follow":                                                                              "plugin_logs",
	"swarm plugin debug queue -- dlv exec --headless --listen 127.0.0.1:4040 ./swarm-plugin-queue":                  "plugin_debug, and host/launch for dlv",
	"swarm plugin debug queue --interactive -- dlv exec --allow-non-terminal-interactive=true ./swarm-plugin-queue": "plugin_debug: it needs a terminal",
	"swarm plugin debug queue -- python3 -m debugpy --listen 127.0.0.1:5678 main.py":                                "plugin_debug: it needs debugpy",
	"swarm plugin debug queue -- node --inspect=127.0.0.1:9229 main.js":                                             "plugin_debug: it needs a plugin for Node.js",
}

// TestEveryExampleIsRun: what the help shows is in a script that runs it, word by word.
func TestEveryExampleIsRun(t *testing.T) {
	t.Parallel()
	scripts, err := filepath.Glob("testdata/script/examples_*.txtar")
	if err != nil || len(scripts) == 0 {
		t.Fatal("no scripts with examples:", err)
	}
	ran := map[string]bool{}
	for _, script := range scripts {
		text, err := os.ReadFile(script)
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(strings.ReplaceAll(string(text), "\\\n", "")) {
			ran[oneLine(line)] = true
		}
	}
	covered := func(example string) bool {
		if ran[example] || ranElsewhere[example] != "" {
			return true
		}
		for line := range ran {
			// An example that needs a place of its own has something before or behind it.
			if !strings.HasPrefix(line, "#") && strings.Contains(line, example+" > printed &") ||
				strings.HasSuffix(line, "-- sh -c '"+example+"'") {
				return true
			}
		}
		return false
	}
	var look func(cmd *cobra.Command)
	look = func(cmd *cobra.Command) {
		for example := range strings.Lines(strings.ReplaceAll(cmd.Example, "\\\n", "")) {
			example, _, _ = strings.Cut(example, "    # ")
			if example = oneLine(example); example != "" && !covered(example) {
				t.Errorf("no script runs the example of '%s': %s", cmd.CommandPath(), example)
			}
		}
		for _, verb := range cmd.Commands() {
			look(verb)
		}
	}
	look(newRoot(app.New(os.Stdout, os.Stderr, nil)))
}

// oneLine is a line without the blanks that only make it look good.
func oneLine(line string) string { return strings.Join(strings.Fields(line), " ") }
