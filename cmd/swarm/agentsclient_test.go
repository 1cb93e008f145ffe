//go:build agents

package main_test

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"strconv"

	"github.com/swarmhost/swarm/cmd/internal/modelserver"
)

// client is a real coding agent: how it is started, pointed at the model, and which of its
// tools runs a command.
type client struct {
	name    string
	command []string
	// quit is the command that ends it; empty: it has none.
	quit string
	// env returns its environment.
	env func(url string) []string
	// configure writes its files, so that it asks nothing when it starts, but whether the
	// project is trusted unless trusted is true.
	configure func(l *lab, trusted bool)
	// trusting says that it never asks that.
	trusting bool
	// allow is the choice that allows a command once; empty: it runs commands without a
	// question.
	allow string
	// prompts are the texts that it may change, by a completion or as an argument, by their
	// names.
	prompts map[string]string
	// lacks are the cases that it can't pass, and the texts that can't be sent to it, by their
	// names, with the reasons.
	lacks map[string]string
	// shell returns the turn in which the model asks for a command that needs a permission.
	shell func(command string) modelserver.Turn
}

// clients are the agents that the tests know. SWARM_TEST_AGENTS names those that run;
// without it they are claude and codex.
var clients = append([]client{
	{
		name:    "claude",
		command: []string{"claude"},
		quit:    "/exit",
		env: func(url string) []string {
			return []string{
				"ANTHROPIC_BASE_URL=" + url, "ANTHROPIC_API_KEY=test-" + claudeKey, "CLAUDE_CODE_MAX_RETRIES=1",
				"CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1", "DISABLE_AUTOUPDATER=1", "IS_SANDBOX=1",
			}
		},
		configure: configureClaude,
		allow:     "Yes",
		shell: func(command string) modelserver.Turn {
			return modelserver.Turn{Tool: "Bash", Input: map[string]any{"command": command, "description": "Run it"}}
		},
	},
	{
		name:      "codex",
		command:   []string{"codex", "--no-daemon"},
		quit:      "/quit",
		env:       func(string) []string { return []string{"LOCAL_API_KEY=test"} },
		configure: configureCodex,
		// Its first Enter takes the completion if that is there in time, which makes main.go
		// of @main.go.
		prompts: map[string]string{"file": "look at main.go"},
		allow:   "Yes, proceed",
		shell: func(command string) modelserver.Turn {
			return modelserver.Turn{Tool: "exec_command", Input: map[string]any{
				"cmd": command, "sandbox_permissions": "require_escalated", "justification": "Run it?",
			}}
		},
	},
	{
		name: "gemini",
		// A model of its own: the default asks a second model which one to take.
		command: []string{"gemini", "-m", "gemini-2.5-flash"},
		quit:    "/quit",
		env: func(url string) []string {
			return []string{"GOOGLE_GEMINI_BASE_URL=" + url, "GEMINI_API_KEY=test", "NO_BROWSER=1"}
		},
		configure: configureGemini,
		allow:     "Allow once",
		shell: func(command string) modelserver.Turn {
			return modelserver.Turn{Tool: "run_shell_command", Input: map[string]any{"command": command, "description": "Run it"}}
		},
	},
	{
		name:     "opencode",
		command:  []string{"opencode"},
		quit:     "/exit",
		trusting: true,
		// It puts quotes around each argument of several words.
		prompts: map[string]string{"argument": strconv.Quote(loopPrompt)},
		env:     func(string) []string { return nil },
		configure: func(l *lab, _ bool) {
			l.write(filepath.Join(l.home, ".config/opencode/opencode.json"), asJSON(localOpencode(l)))
		},
		allow: "Allow once",
		shell: func(command string) modelserver.Turn {
			return modelserver.Turn{Tool: "bash", Input: map[string]any{"command": command, "description": "Run it"}}
		},
	},
	{
		name:    "qwen",
		command: []string{"qwen"},
		quit:    "/quit",
		env: func(url string) []string {
			// It does not read NO_PROXY.
			return []string{"OPENAI_BASE_URL=" + url + "/v1", "OPENAI_API_KEY=test", "OPENAI_MODEL=test", "HTTP_PROXY=", "HTTPS_PROXY=", "NO_BROWSER=1"}
		},
		configure: configureQwen,
		allow:     "Yes, allow once",
		shell: func(command string) modelserver.Turn {
			return modelserver.Turn{Tool: "run_shell_command", Input: map[string]any{"command": command, "description": "Run it", "is_background": false}}
		},
	},
}, moreClients...)

// localOpencode is the configuration of opencode, and of Kilo which is made of it.
func localOpencode(l *lab) map[string]any {
	return map[string]any{
		"autoupdate": false, "model": "local/test", "small_model": "local/test",
		"permission": map[string]string{"bash": "ask", "edit": "ask"},
		"provider": map[string]any{"local": map[string]any{
			"npm": "@ai-sdk/openai-compatible", "name": "Local",
			"options": map[string]string{"baseURL": l.model.URL + "/v1", "apiKey": "test"},
			"models":  map[string]any{"test": map[string]string{"name": "Test"}},
		}},
	}
}

// claudeKey is the end of the key, by which Claude Code remembers that it may be used.
const claudeKey = "00000000000000000000"

func configureClaude(l *lab, trusted bool) {
	l.write(filepath.Join(l.home, ".claude.json"), asJSON(map[string]any{
		"hasCompletedOnboarding": true, "theme": "dark", "hasSeenAutoDefaultNudge": true,
		"customApiKeyResponses": map[string]any{"approved": []string{claudeKey}, "rejected": []string{}},
		"projects":              map[string]any{l.project: map[string]any{"hasTrustDialogAccepted": trusted}},
	}))
	l.write(filepath.Join(l.home, ".claude/settings.json"), asJSON(map[string]any{
		"permissions": map[string]string{"defaultMode": "default"},
	}))
}

func configureCodex(l *lab, trusted bool) {
	projects := ""
	if trusted {
		projects = fmt.Sprintf("[projects.%q]\ntrust_level = \"trusted\"\n", l.project)
	}
	l.write(filepath.Join(l.home, ".codex/config.toml"), fmt.Sprintf(`model = "gpt-5"
model_provider = "local"
check_for_update_on_startup = false

[model_providers.local]
name = "local"
base_url = %q
wire_api = "responses"
env_key = "LOCAL_API_KEY"
request_max_retries = 1
stream_max_retries = 1

%s`, l.model.URL+"/v1", projects))
}

func configureGemini(l *lab, trusted bool) {
	folders := map[string]string{}
	if trusted {
		folders[l.project] = "TRUST_FOLDER"
	}
	l.write(filepath.Join(l.home, ".gemini/trustedFolders.json"), asJSON(folders))
	l.write(filepath.Join(l.home, ".gemini/settings.json"), asJSON(map[string]any{
		"security": map[string]any{"auth": map[string]string{"selectedType": "gemini-api-key"}, "folderTrust": map[string]bool{"enabled": true}},
		"general":  map[string]bool{"enableAutoUpdate": false, "enableAutoUpdateNotification": false},
		"privacy":  map[string]bool{"usageStatisticsEnabled": false},
	}))
}

func configureQwen(l *lab, trusted bool) {
	folders := map[string]string{}
	if trusted {
		folders[l.project] = "TRUST_FOLDER"
	}
	l.write(filepath.Join(l.home, ".qwen/trustedFolders.json"), asJSON(folders))
	l.write(filepath.Join(l.home, ".qwen/settings.json"), asJSON(map[string]any{
		"security": map[string]any{"auth": map[string]string{"selectedType": "openai"}, "folderTrust": map[string]bool{"enabled": true}},
		"general":  map[string]bool{"enableAutoUpdate": false, "disableAutoUpdate": true},
		"privacy":  map[string]bool{"usageStatisticsEnabled": false},
		// Else a model decides which commands need a permission.
		"tools": map[string]string{"approvalMode": "default"},
		// Else it asks the model between two turns what to keep.
		"memory": map[string]bool{"enableManagedAutoMemory": false, "enableManagedAutoDream": false},
	}))
}

func asJSON(v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return string(b)
}
