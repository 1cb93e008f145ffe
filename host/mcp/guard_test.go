package mcp

import (
	"bufio"
	"context"
	"encoding/json"
	"io"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/hashicorp/go-hclog"

	"github.com/swarmhost/swarm/host"
	"github.com/swarmhost/swarm/host/shell"
	"github.com/swarmhost/swarm/host/tool"
)

// withTasks are the metadata of a client that knows tasks, as params need them.
const withTasks = `"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"t","version":"0"},` +
	`"io.modelcontextprotocol/clientCapabilities":{"extensions":{"io.modelcontextprotocol/tasks":{}}}}`

// allMethods are the methods that a client may call, and some that the server does not have.
var allMethods = []string{
	"initialize", "ping", "server/discover", "logging/setLevel", "completion/complete",
	"tools/list", "tools/call", "resources/list", "resources/templates/list", "resources/read", "resources/subscribe", "resources/unsubscribe",
	"prompts/list", "prompts/get", "tasks/get", "tasks/update", "tasks/cancel", "tasks/list", "tasks/result", "subscriptions/listen",
	"notifications/cancelled", "notifications/initialized", "notifications/progress", "notifications/roots/list_changed", "elicitation/create", "",
}

// oddParams are parameters that no method expects; an empty one leaves them out.
var oddParams = []string{
	``, `null`, `{}`, `[]`, `[null]`, `""`, `"x"`, `0`, `-1e400`, `true`,
	`{"_meta":null}`, `{"_meta":[]}`, `{"_meta":"x"}`, `{"_meta":{}}`, `{"_meta":{"progressToken":{}}}`, `{"_meta":{"progressToken":null}}`,
	`{"taskId":null}`, `{"taskId":1}`, `{"taskId":["x"]}`, `{"taskId":{}}`, `{"TASKID":"x"}`, `{"taskId":"x","taskId":null}`,
	`{"name":null,"arguments":null}`, `{"name":"Bash","arguments":[]}`, `{"name":"Bash","arguments":"x"}`, `{"name":"tasks","arguments":null}`, `{"name":1}`,
	`{"uri":null}`, `{"uri":1}`, `{"uri":["swarm://workers/x"]}`, `{"cursor":null}`, `{"cursor":{}}`, `{"level":null}`, `{"requestId":null}`, `{"requestId":{}}`,
	`{"ref":null,"argument":null}`, `{"ref":{"type":"ref/prompt","name":null},"argument":{}}`,
	`{"notifications":null}`, `{"notifications":{"taskIds":null}}`, `{"notifications":{"taskIds":[null]}}`, `{"notifications":{"taskIds":[""]}}`, `{"notifications":[]}`,
	`{"protocolVersion":null,"capabilities":null,"clientInfo":null}`,
	`{"swarm/listen":{}}`, `{"_meta":{"swarm/listen":null}}`, `{"_meta":{"swarm/listen":"x"}}`,
}

// FuzzParams: whatever the parameters of a method are, absent, null or of another type, the
// server answers and continues, for a client here and for one in a container.
func FuzzParams(f *testing.F) {
	for i := range allMethods {
		for _, params := range oddParams {
			f.Add(uint8(i), params)
		}
	}
	clients := []*fuzzClient{newFuzzClient(f), newContainedClient(f)}
	f.Fuzz(func(t *testing.T, method uint8, params string) {
		var line strings.Builder
		if params != "" {
			raw, err := json.Marshal(json.RawMessage(params))
			if err != nil {
				t.Skip("it is not JSON")
			}
			line.Write(raw)
		}
		name := allMethods[int(method)%len(allMethods)]
		variants := []string{line.String()}
		if rest, ok := strings.CutPrefix(line.String(), "{"); ok && !strings.Contains(rest, `"_meta"`) {
			if rest != "}" {
				rest = "," + rest
			}
			variants = append(variants, "{"+withTasks+rest)
		}
		for _, c := range clients {
			for _, v := range variants {
				c.try(t, name, v)
			}
		}
	})
}

// try calls a method and sends it as a notification, and checks that the server still answers.
func (c *fuzzClient) try(t *testing.T, method, params string) {
	t.Helper()
	request := `"method":"` + method + `"`
	if params != "" {
		request += `,"params":` + params
	}
	if method == listenMethod {
		// A subscription that is accepted is answered when it ends.
		c.say(t, `"id":"listen",`+request)
		c.say(t, `"method":"notifications/cancelled","params":{"requestId":"listen"}`)
	} else {
		c.ask(t, request)
	}
	c.say(t, request)
	c.ask(t, `"method":"ping"`)
}

// say sends a message without waiting for an answer.
func (c *fuzzClient) say(t testing.TB, message string) {
	t.Helper()
	c.mu.Lock()
	defer c.mu.Unlock()
	if _, err := io.WriteString(c.in, `{"jsonrpc":"2.0",`+message+"}\n"); err != nil {
		t.Fatalf("the server has left before %s: %v", message, err)
	}
}

// newContainedClient is newFuzzClient for a client in a container.
func newContainedClient(f *testing.F) *fuzzClient {
	f.Helper()
	return newClient(f, func(o *Options) { o.Outside, o.Session = true, shell.Session{} })
}

// A panic in whatever a method calls is an error of that call alone: the stack is in the log,
// and all that follows is answered.
func TestPanicEndsOneCall(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	var broken atomic.Bool
	open := func(ctx context.Context) (*host.Host, error) {
		if broken.Load() {
			panic("broken on purpose")
		}
		return host.Open(ctx, host.Options{Dir: filepath.Join(dir, "state")})
	}
	var log syncBuffer
	c := newClient(t, func(o *Options) {
		o.Env = func(name string) tool.Env {
			if broken.Load() && name == "worker-wait" {
				panic("no environment")
			}
			return tool.Env{Open: open, Dir: dir}
		}
		o.Tools = tool.Sets()
		o.Logger = hclog.New(&hclog.LoggerOptions{Output: &log, Level: hclog.Error})
	})
	requests := []string{
		`"method":"resources/list"`,
		`"method":"resources/read","params":{"uri":"swarm://workers/x"}`,
		`"method":"resources/subscribe","params":{"uri":"swarm://workers/x"}`,
		`"method":"tasks/get","params":{"taskId":"x",` + withTasks + `}`,
		`"method":"tasks/update","params":{"taskId":"x",` + withTasks + `}`,
		`"method":"tasks/cancel","params":{"taskId":"x",` + withTasks + `}`,
		`"method":"tools/call","params":{"name":"Bash","arguments":{"command":"true","run_in_background":true}}`,
		`"method":"tools/call","params":{"name":"Bash","arguments":{"command":"true"},` + withTasks + `}`,
	}
	for _, known := range tool.All() {
		requests = append(requests, `"method":"tools/call","params":{"name":"`+known.Name+`","arguments":`+inputFor(known)+`}`)
	}
	for _, request := range requests {
		broken.Store(true)
		answer := c.ask(t, request)
		broken.Store(false)
		if !strings.Contains(answer, `"code":-32603`) || strings.Contains(answer, "on purpose") {
			t.Errorf("%s: %s", request, answer)
		}
		c.ask(t, `"method":"ping"`)
	}
	if text := log.String(); !strings.Contains(text, "broken on purpose") || !strings.Contains(text, "guard_test.go") {
		t.Errorf("the log has no stack: %s", text)
	}
	if answer := c.ask(t, `"method":"resources/list"`); !strings.Contains(answer, `"result"`) {
		t.Errorf("afterwards: %s", answer)
	}
}

// inputFor returns an input that a tool's schema takes.
func inputFor(t tool.Tool) string {
	in := make(map[string]any)
	for _, name := range t.Input().Required {
		p := t.Input().Properties[name]
		switch {
		case len(p.Enum) > 0:
			in[name] = p.Enum[0]
		case p.Type == "array" || p.Type == "":
			in[name] = []string{"x"}
		case p.Type == "boolean":
			in[name] = true
		case p.Type == "integer" || p.Type == "number":
			in[name] = 1
		default:
			in[name] = "x"
		}
	}
	raw, _ := json.Marshal(in)
	return string(raw)
}

// newClient starts a server with options that change makes of the usual ones.
func newClient(t testing.TB, change func(*Options)) *fuzzClient {
	t.Helper()
	dir := t.TempDir()
	open := func(ctx context.Context) (*host.Host, error) { return host.Open(ctx, host.Options{Dir: dir}) }
	in, client := io.Pipe()
	server, out := io.Pipe()
	o := Options{
		In: in, Out: out, Version: "0", Session: shell.Session{ID: "fuzz"},
		Env: func(string) tool.Env { return tool.Env{Open: open, Dir: dir} },
	}
	if change != nil {
		change(&o)
	}
	done := make(chan error, 1)
	go func() {
		done <- Serve(context.WithoutCancel(t.Context()), o)
		_ = out.Close()
	}()
	t.Cleanup(func() {
		_ = client.Close()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
	c := &fuzzClient{in: client, out: bufio.NewReader(server)}
	c.ask(t, `"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"t","version":"0"}}`)
	return c
}

// syncBuffer collects what several goroutines write.
type syncBuffer struct {
	mu   sync.Mutex
	text strings.Builder
}

func (b *syncBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.Write(p)
}

func (b *syncBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.String()
}

// The SDK lets calls of methods that it does not know through without parameters.
func TestTasksWithoutParams(t *testing.T) {
	t.Parallel()
	for where, outside := range map[string]bool{"here": false, "in a container": true} {
		c := newClient(t, func(o *Options) { o.Outside = outside })
		for _, method := range []string{"tasks/get", "tasks/update", "tasks/cancel"} {
			for _, params := range []string{``, `,"params":null`} {
				answer := c.ask(t, `"method":"`+method+`"`+params)
				if !strings.Contains(answer, `"code":-32602`) || !strings.Contains(answer, "missing required") {
					t.Errorf("%s %s%s: %s", where, method, params, answer)
				}
			}
		}
	}
}
