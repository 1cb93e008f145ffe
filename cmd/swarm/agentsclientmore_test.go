//go:build agents

package main_test

import (
	"fmt"
	"path/filepath"
	"strconv"

	"github.com/swarmhost/swarm/cmd/internal/modelserver"
)

// moreClients are agents that swarm has a profile of and writes no hooks for.
var moreClients = []client{
	{
		name:     "cline",
		command:  []string{"cline", "--auto-approve", "false"},
		quit:     "/exit",
		trusting: true,
		env: func(string) []string {
			// Else its first start shows an advertisement.
			return []string{"CLINE_DISABLE_CLINE_PASS_NOTICE=1", "CLINE_TELEMETRY_DISABLED=1", "CLINE_NO_AUTO_UPDATE=1"}
		},
		configure: func(l *lab, _ bool) {
			l.write(filepath.Join(l.home, ".cline/data/settings/providers.json"), asJSON(map[string]any{
				"version": 1, "lastUsedProvider": "openai-compatible", "modes": map[string]any{},
				"providers": map[string]any{"openai-compatible": map[string]any{
					"settings":  map[string]string{"provider": "openai-compatible", "apiKey": "test", "model": "test", "baseUrl": l.model.URL + "/v1"},
					"updatedAt": "2026-01-01T00:00:00.000Z", "tokenSource": "manual",
				}},
			}))
		},
		allow: "Approve",
		shell: func(command string) modelserver.Turn {
			return modelserver.Turn{Tool: "run_commands", Input: map[string]any{"commands": []string{command}}}
		},
	},
	{
		name:    "copilot",
		command: []string{"copilot"},
		quit:    "/exit",
		env: func(url string) []string {
			return []string{
				"COPILOT_PROVIDER_BASE_URL=" + url + "/v1", "COPILOT_PROVIDER_API_KEY=test", "COPILOT_MODEL=test",
				"COPILOT_OFFLINE=true", "COPILOT_AUTO_UPDATE=false",
			}
		},
		configure: func(l *lab, trusted bool) {
			folders := []string{}
			if trusted {
				folders = append(folders, l.project)
			}
			l.write(filepath.Join(l.home, ".copilot/config.json"), asJSON(map[string]any{
				"firstLaunchAt": "2026-01-01T00:00:00.000Z", "appTipShown": true, "trustedFolders": folders,
			}))
		},
		allow: "Yes",
		shell: func(command string) modelserver.Turn {
			return modelserver.Turn{Tool: "bash", Input: map[string]any{"command": command, "description": "Run it", "initial_wait": 30}}
		},
	},
	{
		name:     "crush",
		command:  []string{"crush"},
		trusting: true,
		env: func(string) []string {
			return []string{"CRUSH_DISABLE_METRICS=1", "CRUSH_DISABLE_PROVIDER_AUTO_UPDATE=1"}
		},
		configure: func(l *lab, _ bool) {
			model := map[string]string{"provider": "local", "model": "test"}
			l.write(filepath.Join(l.home, ".config/crush/crush.json"), asJSON(map[string]any{
				"options": map[string]bool{"disable_metrics": true, "disable_provider_auto_update": true, "disable_notifications": true},
				"models":  map[string]any{"large": model, "small": model},
				"providers": map[string]any{"local": map[string]any{
					"name": "Local", "type": "openai-compat", "base_url": l.model.URL + "/v1", "api_key": "test",
					"models": []any{map[string]any{"id": "test", "name": "Test", "context_window": 128000, "default_max_tokens": 4000}},
				}},
			}))
			l.write(filepath.Join(l.project, ".crush/init"), "") // else it offers to look at the project
		},
		allow: "Allow",
		shell: func(command string) modelserver.Turn {
			return modelserver.Turn{Tool: "bash", Input: map[string]any{"command": command, "description": "Run it"}}
		},
	},
	{
		name:     "goose",
		command:  []string{"goose", "session"},
		quit:     "/exit",
		trusting: true,
		env: func(string) []string {
			return []string{"OPENAI_API_KEY=test", "GOOSE_DISABLE_KEYRING=1"}
		},
		configure: func(l *lab, _ bool) {
			l.write(filepath.Join(l.home, ".config/goose/config.yaml"), fmt.Sprintf(`GOOSE_PROVIDER: openai
GOOSE_MODEL: test
OPENAI_HOST: %s
GOOSE_MODE: approve
GOOSE_TELEMETRY_ENABLED: false
extensions:
  developer: {enabled: true, type: builtin, name: developer, timeout: 300, bundled: true}
`, strconv.Quote(l.model.URL)))
		},
		allow: "Allow (Allow the tool call once)",
		lacks: map[string]string{
			"busy":       "it takes no text while it works",
			"3000 bytes": longGoose, "60 lines": longGoose, "many lines": longGoose, "10 KB": longGoose,
		},
		shell: func(command string) modelserver.Turn {
			return modelserver.Turn{Tool: "shell", Input: map[string]any{"command": command}}
		},
	},
	{
		name:     "kilo",
		command:  []string{"kilo"},
		quit:     "/exit",
		trusting: true,
		env:      func(string) []string { return nil },
		// It puts quotes around each argument of several words.
		prompts: map[string]string{"argument": strconv.Quote(loopPrompt)},
		configure: func(l *lab, _ bool) {
			config := localOpencode(l)
			config["snapshot"] = false // a slow machine is asked whether to wait for them
			l.write(filepath.Join(l.home, ".config/kilo/kilo.json"), asJSON(config))
		},
		allow: "Allow once",
		shell: func(command string) modelserver.Turn {
			return modelserver.Turn{Tool: "bash", Input: map[string]any{"command": command, "description": "Run it"}}
		},
	},
	{
		// It runs commands without a question.
		name:     "pi",
		command:  []string{"pi"},
		quit:     "/quit",
		trusting: true,
		env:      func(string) []string { return []string{"PI_OFFLINE=1"} },
		configure: func(l *lab, _ bool) {
			l.write(filepath.Join(l.home, ".pi/agent/models.json"), asJSON(map[string]any{
				"providers": map[string]any{"local": map[string]any{
					"baseUrl": l.model.URL + "/v1", "api": "openai-completions", "apiKey": "test", "models": []any{map[string]string{"id": "test"}},
				}},
			}))
			l.write(filepath.Join(l.home, ".pi/agent/settings.json"), asJSON(map[string]string{"defaultProvider": "local", "defaultModel": "test"}))
		},
		shell: func(command string) modelserver.Turn {
			return modelserver.Turn{Tool: "bash", Input: map[string]any{"command": command}}
		},
	},
}

// longGoose is why some texts can't be sent to Goose.
const longGoose = "a text that does not fit on the screen is typed, and not submitted"
