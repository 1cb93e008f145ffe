package integration

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/swarmhost/swarm/host/hookstate"
	"github.com/swarmhost/swarm/host/notifier"
)

// TestReadHook reads inputs of the real programs, shortened.
func TestReadHook(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		client, event, input string
		want                 notifier.HookEvent
		takes                bool
	}{
		{"claude", "SessionStart", `{"session_id":"s","source":"startup"}`, notifier.HookEvent{Begins: true}, false},
		{"claude", "UserPromptSubmit", `{"session_id":"s","prompt":"x"}`, notifier.HookEvent{State: hookstate.Working}, true},
		{"claude", "PreToolUse", `{"session_id":"s"}`, notifier.HookEvent{State: hookstate.Working}, false},
		{"claude", "PostToolUse", `{"session_id":"s","tool_response":{"stdout":"x"}}`, notifier.HookEvent{State: hookstate.Working}, true},
		{"claude", "PostToolUse", `{"session_id":"s","agent_id":"a","agent_type":"Explore"}`, notifier.HookEvent{State: hookstate.Working}, false},
		{
			"claude", "PermissionRequest", `{"session_id":"s","tool_name":"Bash","tool_input":{"command":"touch x","description":"Run"}}`,
			notifier.HookEvent{State: hookstate.Blocked, Question: "May I use Bash? touch x", Tool: "Bash", Command: "touch x"},
			false,
		},
		{
			"claude", "PermissionRequest", `{"session_id":"s","tool_name":"Bash","tool_input":{"command":"touch x","dangerouslyDisableSandbox":true}}`,
			notifier.HookEvent{State: hookstate.Blocked, Question: "May I use Bash without its sandbox? touch x", Tool: "Bash", Command: "touch x"},
			false,
		},
		{
			"claude", "PermissionRequest", `{"session_id":"s","tool_name":"mcp__swarm__read-messages","tool_input":{ "limit": 5 }}`,
			notifier.HookEvent{State: hookstate.Blocked, Question: "May I use mcp__swarm__read-messages?", Tool: "mcp__swarm__read-messages", Command: `{"limit":5}`},
			false,
		},
		{
			"claude", "Notification", `{"session_id":"s","message":"Claude needs your permission","notification_type":"permission_prompt"}`,
			notifier.HookEvent{State: hookstate.Blocked, Question: "Claude needs your permission", Repeats: true},
			false,
		},
		{"claude", "Notification", `{"session_id":"s","message":"x","notification_type":"idle_prompt"}`, notifier.HookEvent{State: hookstate.Idle, Repeats: true}, false},
		{"claude", "Notification", `{"session_id":"s","message":"x","notification_type":"auth_success"}`, notifier.HookEvent{Repeats: true, Recovers: true}, false},
		{"claude", "Stop", `{"session_id":"s","stop_hook_active":false}`, notifier.HookEvent{State: hookstate.Idle}, true},
		{"claude", "Stop", `{"session_id":"s","stop_hook_active":true}`, notifier.HookEvent{State: hookstate.Idle}, false},
		{
			"claude", "Stop", `{"session_id":"s","background_tasks":[{"id":"b","type":"shell","status":"running","description":"Sleep a bit","command":"sleep 25"},{"type":"agent","status":"completed","description":"x"}]}`,
			notifier.HookEvent{State: hookstate.Background, Reason: `shell "Sleep a bit"`},
			true,
		},
		{"claude", "Stop", `{"session_id":"s","background_tasks":[{"type":"shell","status":"completed","description":"x"}]}`, notifier.HookEvent{State: hookstate.Idle}, true},
		{"claude", "Stop", `{"session_id":"s","background_tasks":"none"}`, notifier.HookEvent{State: hookstate.Idle}, true},
		{
			"claude", "StopFailure", `{"session_id":"s","error":"authentication_failed","last_assistant_message":"Invalid API key"}`,
			notifier.HookEvent{State: hookstate.Broken, Reason: "Invalid API key"},
			false,
		},
		{"claude", "StopFailure", `{"session_id":"s","error":"rate_limit"}`, notifier.HookEvent{State: hookstate.Limited, Reason: "rate_limit"}, false},
		{"claude", "StopFailure", `{"session_id":"s","error":"rate_limit","agent_id":"a"}`, notifier.HookEvent{}, false},
		{"claude", "PreCompact", `{"session_id":"s","trigger":"manual"}`, notifier.HookEvent{State: hookstate.Compacting}, false},
		{"codex", "PostCompact", `{"session_id":"s"}`, notifier.HookEvent{State: hookstate.Working}, false},
		{"gemini", "PreCompress", `{"session_id":"s"}`, notifier.HookEvent{State: hookstate.Compacting}, false},
		{"qwen", "Stop", `{"session_id":"s","stop_hook_active":true}`, notifier.HookEvent{State: hookstate.Idle}, true},
		{"claude", "SessionEnd", `{"session_id":"s","reason":"exit"}`, notifier.HookEvent{Ends: true}, false},
		{"codex", "Interrupt", `{"session_id":"s"}`, notifier.HookEvent{State: hookstate.Idle}, false},
		{"gemini", "BeforeAgent", `{"session_id":"s"}`, notifier.HookEvent{State: hookstate.Working}, true},
		{
			"gemini", "Notification", `{"session_id":"s","notification_type":"ToolPermission","message":"Tool Confirm Shell Command requires execution","details":{"type":"exec","title":"Confirm Shell Command","command":"touch x"}}`,
			notifier.HookEvent{State: hookstate.Blocked, Question: "Confirm Shell Command: touch x", Command: "touch x", Repeats: true},
			false,
		},
		{"gemini", "AfterAgent", `{"session_id":"s","stop_hook_active":false}`, notifier.HookEvent{State: hookstate.Idle}, true},
		// The end is missing, a value has another type, a key is there twice.
		{"claude", "PostToolUse", `{"session_id":"s","tool_response":"` + strings.Repeat("x", 100), notifier.HookEvent{State: hookstate.Working}, true},
		{"claude", "Stop", `{"session_id":"s","stop_hook_active":"yes"}`, notifier.HookEvent{State: hookstate.Idle}, true},
	} {
		tt.want.Client, tt.want.Session, tt.want.Takes = tt.client, "s", tt.takes
		h, err := Named(tt.client).ReadHook(tt.event, []byte(tt.input))
		if diff := cmp.Diff(tt.want, h.Event); err != nil || diff != "" {
			t.Errorf("%s %s %s: %v (-want +got):\n%s", tt.client, tt.event, tt.input, err, diff)
		}
	}
	for _, input := range []string{"", "x", "[]", "null", "{", `{"session_id":1}`, `{"session_id":""}`, `{"tool_response":"` + strings.Repeat("x", 100)} {
		if _, err := Named("claude").ReadHook("Stop", []byte(input)); err == nil {
			t.Errorf("%s: no error", input)
		}
	}
	if _, err := Named("claude").ReadHook("BeforeAgent", []byte(`{"session_id":"s"}`)); err == nil {
		t.Error("an event of another client: no error")
	}
}

func TestAnswer(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ client, event, want string }{
		{"claude", "UserPromptSubmit", `{"hookSpecificOutput":{"additionalContext":"notice","hookEventName":"UserPromptSubmit"}}`},
		{"claude", "Stop", `{"decision":"block","reason":"notice"}`},
		{"gemini", "AfterTool", `{"hookSpecificOutput":{"additionalContext":"notice","hookEventName":"AfterTool"}}`},
		{"gemini", "AfterAgent", `{"decision":"deny","reason":"notice"}`},
	} {
		h, err := Named(tt.client).ReadHook(tt.event, []byte(`{"session_id":"s"}`))
		if err != nil {
			t.Fatal(err)
		}
		if got, err := h.Answer("notice"); err != nil || string(got) != tt.want {
			t.Errorf("%s %s: %s, %v", tt.client, tt.event, got, err)
		}
	}
}
