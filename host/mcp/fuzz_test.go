package mcp

import (
	"bufio"
	"encoding/json"
	"io"
	"strings"
	"sync"
	"testing"
	"time"
)

// methods are requests with one string of the client's, which stands where $ is.
var methods = []string{
	`"method":"resources/read","params":{"uri":$}`,
	`"method":"resources/subscribe","params":{"uri":$}`,
	`"method":"resources/unsubscribe","params":{"uri":$}`,
	`"method":"resources/list","params":{"cursor":$}`,
	`"method":"resources/templates/list","params":{"cursor":$}`,
	`"method":"tools/list","params":{"cursor":$}`,
	`"method":"tools/call","params":{"name":$}`,
	`"method":"tools/call","params":{"name":"BashOutput","arguments":{"shell_id":$}}`,
	`"method":"tools/call","params":{"name":"KillShell","arguments":{"shell_id":$}}`,
	`"method":"tools/call","params":{"name":"get-agent-status","arguments":{"teamName":$}}`,
	`"method":"tools/call","params":{"name":"task-list","arguments":{"teamName":"t","status":$}}`,
	`"method":"tools/call","params":{"name":"BashOutput","arguments":$}`,
	`"method":"tools/call","params":{"name":"worker-status","arguments":{"name":$}}`,
	`"method":"tools/call","params":{"name":"worker-output","arguments":{"name":$,"grep":$,"cursor":$}}`,
	`"method":"tools/call","params":{"name":"worker-send","arguments":{"name":$,"text":$}}`,
	`"method":"tools/call","params":{"name":"worker-wait","arguments":{"names":[$],"until":$,"pattern":$}}`,
	`"method":"tools/call","params":{"name":"worker-kill","arguments":{"name":$}}`,
	`"method":"tools/call","params":{"name":"worker-spawn","arguments":{"name":"/","command":[$],"cwd":$}}`,
	`"method":"tools/call","params":{"name":"task-list","arguments":{"teamName":"t"},"_meta":{"progressToken":$}}`,
	`"method":"prompts/list","params":{"cursor":$}`,
	`"method":"prompts/get","params":{"name":$}`,
	`"method":"completion/complete","params":{"ref":{"type":"ref/resource","uri":$},"argument":{"name":"name","value":$}}`,
	`"method":"completion/complete","params":{"ref":{"type":$,"name":$},"argument":{"name":$,"value":$}}`,
	`"method":"logging/setLevel","params":{"level":$}`,
	`"method":"initialize","params":{"protocolVersion":$,"capabilities":{},"clientInfo":{"name":$,"version":$}}`,
	`"method":"tasks/get","params":{"taskId":$}`,
	`"method":"tasks/list","params":{"cursor":$}`,
	`"method":"tasks/result","params":{"taskId":$}`,
	`"method":"tasks/cancel","params":{"taskId":$}`,
	`"method":"subscriptions/listen","params":{"uris":[$]}`,
	`"method":$,"params":{}`,
	`"method":$`,
}

// FuzzMethods: whatever a client writes into a string of a request, the server
// answers that request in JSON, and continues.
func FuzzMethods(f *testing.F) {
	texts := []string{
		"", "swarm://workers/w", "swarm://workers/\x1b", "\a", "\x7f", "\x00", "\U000E0001", "\u202e", "\u2028", "\xff", "\ufffe",
		"%q", `"`, `\`, "swarm://workers/{name}", "swarm://workers/" + strings.Repeat("x", 1<<16), "file:///etc/passwd", "ping", "notifications/cancelled",
	}
	for i := range methods {
		for _, text := range texts {
			f.Add(uint8(i), text)
		}
	}
	c := newFuzzClient(f)
	f.Fuzz(func(t *testing.T, method uint8, text string) {
		quoted, err := json.Marshal(text)
		if err != nil {
			t.Fatal(err)
		}
		c.ask(t, strings.ReplaceAll(methods[int(method)%len(methods)], "$", string(quoted)))
		c.ask(t, `"method":"ping"`)
	})
}

// fuzzClient is the client of one server, which all inputs share.
type fuzzClient struct {
	mu  sync.Mutex
	in  io.Writer
	out *bufio.Reader
	id  int
}

func newFuzzClient(f *testing.F) *fuzzClient {
	f.Helper()
	return newClient(f, nil)
}

// ask sends a request, reads until its answer and returns that.
func (c *fuzzClient) ask(t testing.TB, request string) string {
	t.Helper()
	c.mu.Lock()
	defer c.mu.Unlock()
	c.id++
	id, err := json.Marshal(c.id)
	if err != nil {
		t.Fatal(err)
	}
	late := time.AfterFunc(time.Minute, func() { panic("no answer to " + request) })
	defer late.Stop()
	if _, err := io.WriteString(c.in, `{"jsonrpc":"2.0","id":`+string(id)+`,`+request+"}\n"); err != nil {
		t.Fatalf("the server has left before %s: %v", request, err)
	}
	for {
		line, err := c.out.ReadBytes('\n')
		if err != nil {
			t.Fatalf("the server left at %s: %v", request, err)
		}
		var answer struct {
			ID            json.RawMessage
			Result, Error json.RawMessage
		}
		if err := json.Unmarshal(line, &answer); err != nil {
			t.Fatalf("the answer to %s is not JSON: %v\n%q", request, err, line)
		}
		if string(answer.ID) != string(id) {
			continue
		}
		if (answer.Result == nil) == (answer.Error == nil) {
			t.Fatalf("the answer to %s has not exactly one of result and error: %s", request, line)
		}
		return string(line)
	}
}
