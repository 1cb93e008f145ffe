package integration

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/swarmhost/swarm/shared/machinetest"
)

// The plugin for opencode reports a turn that failed as a failure, and not as one that ended.
func TestOpencodePluginReportsFailures(t *testing.T) {
	t.Parallel()
	machinetest.Node(t)
	dir := t.TempDir()
	for name, file := range map[string]struct {
		text string
		mode os.FileMode
	}{
		"plugin.mjs": {plugin, 0o600},
		"swarm":      {"#!/bin/sh\necho \"$3 $(cat)\" >> calls\n", 0o700},
		"run.mjs": {`import { Swarm } from "./plugin.mjs"
const hooks = await Swarm({ client: {} })
const event = (type, properties) => hooks.event({ event: { type, properties: { sessionID: "s", ...properties } } })
const fails = (name, data) => event("session.error", { error: { name, data } })
await hooks["chat.message"]({ sessionID: "s" }, { parts: [] })
await fails("ProviderAuthError", { message: "Incorrect API key" })
await event("session.idle")
await event("session.idle")
await fails("APIError", { message: "Too many requests", statusCode: 429 })
await hooks["chat.message"]({ sessionID: "s" }, { parts: [] })
await event("session.idle")
await fails("MessageAbortedError", { message: "aborted" })
await event("session.idle")
await hooks.event({ event: { type: "session.updated", properties: { info: { id: "part", parentID: "s" } } } })
await event("session.error", { sessionID: "part", error: { name: "UnknownError" } })
`, 0o600},
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(file.text), file.mode); err != nil {
			t.Fatal(err)
		}
	}
	cmd := exec.CommandContext(t.Context(), "node", "run.mjs")
	cmd.Dir, cmd.Env = dir, append(os.Environ(), "SWARM_WORKER=w", "PATH="+dir+":"+os.Getenv("PATH"))
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	calls, err := os.ReadFile(filepath.Join(dir, "calls"))
	if err != nil {
		t.Fatal(err)
	}
	want := []string{
		`UserPromptSubmit {"session_id":"s"}`,
		`StopFailure {"session_id":"s","error":"ProviderAuthError","last_assistant_message":"Incorrect API key"}`,
		`Stop {"session_id":"s"}`,
		`StopFailure {"session_id":"s","error":"rate_limit","last_assistant_message":"Too many requests"}`,
		`UserPromptSubmit {"session_id":"s"}`,
		`Stop {"session_id":"s"}`,
		`Stop {"session_id":"s"}`,
	}
	if diff := cmp.Diff(want, strings.Split(strings.TrimSpace(string(calls)), "\n")); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
