package integration

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"slices"
	"strconv"
	"strings"

	"github.com/swarmhost/swarm/host/hookstate"
	"github.com/swarmhost/swarm/host/notifier"
)

type Hook struct {
	Event notifier.HookEvent

	client *Client
	event  event
}

// hookInput holds the fields of a hook's input that swarm uses. All clients use the same
// names.
type hookInput struct {
	Session    string          `json:"session_id"`
	Tool       string          `json:"tool_name"`
	ToolInput  json.RawMessage `json:"tool_input"`
	Message    string          `json:"message"`
	Type       string          `json:"notification_type"`
	Details    json.RawMessage `json:"details"`
	StopsAgain bool            `json:"stop_hook_active"`
	AgentID    string          `json:"agent_id"`
	Error      string          `json:"error"`
	Answer     string          `json:"last_assistant_message"`
	Background []struct {
		Type        string `json:"type"`
		Status      string `json:"status"`
		Description string `json:"description"`
	} `json:"background_tasks"`
}

// ReadHook reads the input of a hook of this client. The end of a long input may be
// missing.
func (c *Client) ReadHook(name string, input []byte) (Hook, error) {
	at := slices.IndexFunc(c.events, func(e event) bool { return e.name == name })
	if at < 0 {
		return Hook{}, errors.New("no such event")
	}
	in := decodeHook(input)
	if in.Session == "" {
		return Hook{}, errors.New("expected a JSON object with a session_id")
	}
	h := Hook{client: c, event: c.events[at], Event: notifier.HookEvent{Client: c.Name, Session: in.Session}}
	e := &h.Event
	switch h.event.kind {
	case begins:
		e.Begins = true
	case prompts, usedTool:
		e.State, e.Takes = hookstate.Working, true
	case usesTool:
		e.State = hookstate.Working
	case asks:
		e.State, e.Question = hookstate.Blocked, question(in.Tool, in.ToolInput)
		e.Tool, e.Command = in.Tool, command(in.ToolInput)
	case notifies:
		notice(in, e)
		e.Repeats = true
	case stops:
		// An agent that continues because of an answer here must be able to stop later. It
		// can, since the same notice is never brought twice.
		e.State, e.Takes = hookstate.Idle, !in.StopsAgain || c.alwaysAgain
		if e.Reason = in.background(); e.Reason != "" {
			e.State = hookstate.Background
		}
	case fails:
		e.State, e.Reason = hookstate.Broken, cmp.Or(in.Answer, in.Error)
		if in.Error == "rate_limit" {
			e.State = hookstate.Limited
		}
	case compacts:
		e.State = hookstate.Compacting
	case compacted:
		// Most compactions are a part of a turn. After any other one, the screen shows a prompt.
		e.State = hookstate.Working
	case interrupted:
		e.State = hookstate.Idle
	case ends:
		e.Ends = true
	}
	// Messages for the agent are not brought to the subagents that it starts, and the failure
	// of one of these is not the agent's.
	if in.AgentID != "" {
		e.Takes = false
		if h.event.kind == fails {
			e.State, e.Reason = "", ""
		}
	}
	return h, nil
}

// decodeHook decodes the members of an object one by one, as far as they come: a tool may
// have written more than is read.
func decodeHook(input []byte) (in hookInput) {
	d := json.NewDecoder(bytes.NewReader(input))
	if t, err := d.Token(); err != nil || t != json.Delim('{') {
		return in
	}
	for d.More() {
		key, err := d.Token()
		if err != nil {
			return in
		}
		var value json.RawMessage
		if err := d.Decode(&value); err != nil {
			return in
		}
		member, err := json.Marshal(map[string]json.RawMessage{key.(string): value})
		if err == nil {
			_ = json.Unmarshal(member, &in) // a value of another type is left out
		}
	}
	return in
}

// notice fills in what a notification reports.
func notice(in hookInput, e *notifier.HookEvent) {
	switch in.Type {
	case "permission_prompt", "elicitation_dialog":
		e.State, e.Question = hookstate.Blocked, in.Message
	case "ToolPermission":
		e.State, e.Question = hookstate.Blocked, in.Message
		var details struct{ Title, Command string }
		if err := json.Unmarshal(in.Details, &details); err != nil || details.Title == "" {
			return
		}
		if e.Question, e.Command = details.Title, details.Command; details.Command != "" {
			e.Question += ": " + details.Command
		}
	case "idle_prompt":
		e.State = hookstate.Idle
	case "auth_success":
		e.Recovers = true
	}
}

func question(tool string, input json.RawMessage) string {
	text := "May I use " + tool + "?"
	var in map[string]any
	if err := json.Unmarshal(input, &in); err != nil {
		return text
	}
	if outside, _ := in["dangerouslyDisableSandbox"].(bool); outside || in["sandbox_permissions"] == "require_escalated" {
		text = "May I use " + tool + " without its sandbox?"
	}
	for _, key := range []string{"command", "file_path", "path", "url", "pattern", "description"} {
		if on, ok := in[key].(string); ok && on != "" {
			return text + " " + on
		}
	}
	return text
}

// command returns what a tool is asked to run: its command, or else its whole input.
func command(input json.RawMessage) string {
	var in struct {
		Command string `json:"command"`
	}
	if json.Unmarshal(input, &in) == nil && in.Command != "" {
		return in.Command
	}
	var b bytes.Buffer
	if json.Compact(&b, input) != nil || b.String() == "{}" || b.String() == "null" {
		return ""
	}
	return b.String()
}

// background describes the background work that runs on after the end of a turn; empty: none
// does.
func (in *hookInput) background() string {
	var texts []string
	for _, t := range in.Background {
		if t.Status != "" && t.Status != "running" && t.Status != "pending" {
			continue
		}
		texts = append(texts, strings.TrimSpace(t.Type+" "+strconv.Quote(t.Description)))
	}
	return strings.Join(texts, ", ")
}

// Asks reports whether the hook can decide what the client asks.
func (h *Hook) Asks() bool { return h.event.kind == asks && h.client.Decides() }

// Decide returns the hook's answer that decides what the client asks.
func (h *Hook) Decide(answer string) ([]byte, error) {
	decision := map[string]string{"behavior": answer}
	if answer == hookstate.Deny {
		decision["message"] = "The user has answered no, by swarm."
	}
	return json.Marshal(map[string]any{"hookSpecificOutput": map[string]any{
		"hookEventName": h.event.name, "decision": decision,
	}})
}

// Answer returns the hook's answer that gives the agent a text.
func (h *Hook) Answer(text string) ([]byte, error) {
	if h.event.kind == stops {
		return json.Marshal(map[string]string{"decision": h.client.again, "reason": text})
	}
	return json.Marshal(map[string]any{"hookSpecificOutput": map[string]string{
		"hookEventName": h.event.name, "additionalContext": text,
	}})
}
