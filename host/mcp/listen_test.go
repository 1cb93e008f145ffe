package mcp

import (
	"encoding/json"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
)

// A field that the SDK would drop is kept in a place that it ignores, and comes back with
// its acknowledgement; a malformed request is not changed.
func TestKeepTasks(t *testing.T) {
	t.Parallel()
	for what, c := range map[string]struct{ params, want string }{
		"tasks":     {`{"_meta":{"a":1},"notifications":{"taskIds":["x"]}}`, `{"_meta":{"a":1,"swarm/listen":{"id":"<1>","taskIds":["x"]}},"notifications":{"taskIds":["x"]}}`},
		"no task":   {`{"_meta":{},"notifications":{"taskIds":[]}}`, `{"_meta":{"swarm/listen":{"id":"<1>","taskIds":[]}},"notifications":{"taskIds":[]}}`},
		"none":      {`{"_meta":{},"notifications":{}}`, ""},
		"null":      {`{"_meta":{},"notifications":{"taskIds":null}}`, ""},
		"numbers":   {`{"_meta":{},"notifications":{"taskIds":[1]}}`, ""},
		"no meta":   {`{"notifications":{"taskIds":["x"]}}`, ""},
		"null meta": {`{"_meta":null,"notifications":{"taskIds":["x"]}}`, ""},
		"a list":    {`["x"]`, ""},
		"nothing":   {``, ""},
	} {
		id, err := jsonrpc.MakeID("<1>")
		if err != nil {
			t.Fatal(err)
		}
		r := &jsonrpc.Request{ID: id, Method: listenMethod, Params: json.RawMessage(c.params)}
		keepTasks(r)
		if c.want == "" {
			c.want = c.params
		}
		if got := string(r.Params); normal(t, got) != normal(t, c.want) {
			t.Errorf("%s: %s, want %s", what, got, c.want)
		}
	}
}

func TestAmend(t *testing.T) {
	t.Parallel()
	var a acks
	sent := false
	a.pending.Store(keyOf(json.RawMessage(`"<1>"`)), ack{taskIDs: []string{"x"}, sent: func() { sent = true }})
	other := &jsonrpc.Request{Method: ackMethod, Params: json.RawMessage(`{"_meta":{"io.modelcontextprotocol/subscriptionId":2},"notifications":{}}`)}
	if f := a.amend(other); f != nil {
		t.Errorf("the acknowledgement of another subscription: %s", other.Params)
	}
	own := &jsonrpc.Request{Method: ackMethod, Params: json.RawMessage(
		`{"_meta":{"io.modelcontextprotocol/subscriptionId":"\u003c1\u003e"},"notifications":{"resourcesListChanged":true}}`)}
	f := a.amend(own)
	want := `{"_meta":{"io.modelcontextprotocol/subscriptionId":"<1>"},"notifications":{"resourcesListChanged":true,"taskIds":["x"]}}`
	if f == nil || normal(t, string(own.Params)) != normal(t, want) {
		t.Fatalf("acknowledgement: %s", own.Params)
	}
	if f(); !sent {
		t.Error("the sender was not notified that it was sent")
	}
	if a.amend(own) != nil {
		t.Error("it is amended twice")
	}
}

// normal returns JSON with its fields in order, and any other text unchanged.
func normal(t *testing.T, text string) string {
	t.Helper()
	var v any
	if json.Unmarshal([]byte(text), &v) != nil {
		return text
	}
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}
