package mcpserver_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"testing"
)

// wire is a client that writes what it likes, line by line.
type wire struct {
	w      *world
	server *exec.Cmd
	in     io.WriteCloser
	lines  chan string
}

func (w *world) wire() *wire {
	w.Helper()
	server := w.command(w.Context(), "swarm", "mcp", "--tools", "shells,workers,teams")
	server.Stderr = os.Stderr
	in, err := server.StdinPipe()
	if err != nil {
		w.Fatal(err)
	}
	out, err := server.StdoutPipe()
	if err != nil {
		w.Fatal(err)
	}
	if err := server.Start(); err != nil {
		w.Fatal(err)
	}
	x := &wire{w, server, in, make(chan string, 1000)}
	go func() {
		defer close(x.lines)
		for r := bufio.NewReader(out); ; {
			line, err := r.ReadString('\n')
			if line != "" {
				x.lines <- line
			}
			if err != nil {
				return
			}
		}
	}()
	w.Cleanup(func() {
		_ = in.Close()
		_ = server.Wait()
	})
	return x
}

func (x *wire) send(lines ...string) {
	x.w.Helper()
	for _, line := range lines {
		if _, err := io.WriteString(x.in, line+"\n"); err != nil {
			x.w.Fatal(err)
		}
	}
}

// answer returns the next message that is an answer; every line must be a message.
func (x *wire) answer() (id any, message object) {
	x.w.Helper()
	for line := range x.lines {
		message = nil
		if err := json.Unmarshal([]byte(line), &message); err != nil || message["jsonrpc"] != "2.0" {
			x.w.Fatalf("no message: %q", line)
		}
		if _, notice := message["method"]; !notice {
			return message["id"], message
		}
	}
	x.w.Fatal("the server has left")
	return nil, nil
}

// greet introduces the client.
func (x *wire) greet() {
	x.w.Helper()
	x.send(`{"jsonrpc":"2.0","id":"hello","method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"t","version":"0"}}}`)
	if id, m := x.answer(); id != "hello" || m["result"] == nil {
		x.w.Fatalf("%v", m)
	}
	x.send(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)
}

func callLine(id int, tool, arguments string) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":%q,"arguments":%s}}`, id, tool, arguments)
}

// TestMalformed: whatever a client sends, the server says what is wrong and continues.
func TestMalformed(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	x := w.wire()
	x.greet()
	huge := `{"jsonrpc":"2.0","id":90,"method":"tools/call","params":{"name":"Bash","arguments":{"command":"` + strings.Repeat("x", 17<<20) + `"}}}`
	for _, c := range []struct {
		line string
		id   any
		code float64
	}{
		{"not JSON", nil, -32700},
		{`{"jsonrpc":"2.0","id":81,"method":"tools/list"`, 81.0, -32700},
		{"\x00\x01\xff", nil, -32700},
		{"[]", nil, -32600},
		{`[{"jsonrpc":"2.0","id":82,"method":"ping"}]`, nil, -32600},
		{"null", nil, -32600},
		{`"text"`, nil, -32600},
		{`{"jsonrpc":"1.0","id":83,"method":"ping"}`, 83.0, -32600},
		{`{"jsonrpc":"2.0","id":84,"method":7}`, 84.0, -32600},
		{`{"jsonrpc":"2.0","id":85,"method":"no/such"}`, 85.0, -32601},
		{`{"jsonrpc":"2.0","id":86,"method":"tools/call","params":{"name":"no such tool"}}`, 86.0, -32602},
		{`{"jsonrpc":"2.0","id":88,"method":"resources/read","params":{"uri":"file:///etc/passwd"}}`, 88.0, -32602},
		{huge, 90.0, -32600},
		{strings.Repeat("[", 100000), nil, -32700},
	} {
		x.send(c.line)
		id, m := x.answer()
		failure, ok := m["error"].(object)
		if id != c.id || !ok || failure["code"] != c.code || failure["message"] == "" {
			t.Errorf("%.60q: %v", c.line, m)
		}
	}
	// Neither a notice nor an answer is answered, however odd.
	x.send(
		`{"jsonrpc":"2.0","method":"no/such/notice"}`,
		`{"jsonrpc":"2.0","id":77,"result":{}}`,
		`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"unknown"}}`,
		`{"jsonrpc":"2.0","method":"notifications/cancelled"}`,
		"", "  ",
	)
	for i, arguments := range []string{`5`, `"text"`, `[]`, `null`, `{"command":null}`, `{"command":{}}`, `{"command":"true","command":"false"}`} {
		x.send(callLine(i, "Bash", arguments))
		if id, m := x.answer(); id != float64(i) || m["result"] == nil && m["error"] == nil {
			t.Errorf("Bash with %s: %v", arguments, m)
		}
	}
	// Some clients say so that there are no arguments.
	x.send(callLine(99, "tasks", "null"))
	if id, m := x.answer(); id != 99.0 || !strings.Contains(fmt.Sprint(m["result"]), "success:true") {
		t.Errorf("after all this: %v", m)
	}
}

// TestPiped: what was asked is answered, although the input ends right behind it.
func TestPiped(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	x := w.wire()
	x.greet()
	x.send(callLine(1, "Bash", `{"command":"sleep 0.3; echo done"}`))
	if err := x.in.Close(); err != nil {
		t.Fatal(err)
	}
	if id, m := x.answer(); id != 1.0 || !strings.Contains(fmt.Sprint(m["result"]), "done") {
		t.Errorf("%v", m)
	}
	for line := range x.lines {
		if !strings.Contains(line, `"method"`) {
			t.Errorf("one more: %s", line)
		}
	}
}

// TestCancelled: a call that was cancelled has no answer.
func TestCancelled(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	x := w.wire()
	x.greet()
	x.send(callLine(1, "Bash", `{"command":"touch here; sleep 2006"}`))
	w.until("the command runs", func() bool { return exists(w.path("here")) })
	x.send(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1,"reason":"enough"}}`)
	w.until("the command is gone", func() bool { return len(w.alive("sleep 2006")) == 0 })
	x.send(`{"jsonrpc":"2.0","id":2,"method":"ping"}`)
	if id, m := x.answer(); id != 2.0 {
		t.Errorf("%v", m)
	}
}
