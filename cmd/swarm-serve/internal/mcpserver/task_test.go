package mcpserver_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
)

const tasksExtension = "io.modelcontextprotocol/tasks"

// request sends a request of the version 2026-07-28, of a client that declares tasks or
// does not.
func (x *wire) request(id int, method string, params object, tasks bool) {
	x.w.Helper()
	extensions := object{}
	if tasks {
		extensions[tasksExtension] = object{}
	}
	params["_meta"] = object{
		"io.modelcontextprotocol/protocolVersion":    "2026-07-28",
		"io.modelcontextprotocol/clientInfo":         object{"name": "t", "version": "0"},
		"io.modelcontextprotocol/clientCapabilities": object{"extensions": extensions},
	}
	line, err := json.Marshal(object{"jsonrpc": "2.0", "id": id, "method": method, "params": params})
	if err != nil {
		x.w.Fatal(err)
	}
	x.send(string(line))
}

// ask is request, and returns the result or the error.
func (x *wire) ask(id int, method string, params object, tasks bool) (result, failed object) {
	x.w.Helper()
	x.request(id, method, params, tasks)
	got, message := x.answer()
	if got != float64(id) {
		x.w.Fatalf("the answer to %v, want that to %d: %v", got, id, message)
	}
	result, _ = message["result"].(object)
	failed, _ = message["error"].(object)
	return result, failed
}

// notice returns the parameters of the next notification of a method.
func (x *wire) notice(method string) object {
	x.w.Helper()
	for line := range x.lines {
		var m object
		if err := json.Unmarshal([]byte(line), &m); err != nil {
			x.w.Fatal(err)
		}
		if m["method"] == method {
			return m["params"].(object)
		}
	}
	x.w.Fatal("the server has left")
	return nil
}

func bashLine(command string) object {
	return object{"name": "Bash", "arguments": object{"command": command}}
}

// at returns what is at a path of names in an object.
func at(o object, path string) any {
	var v any = o
	for name := range strings.SplitSeq(path, ".") {
		inner, _ := v.(object)
		v = inner[name]
	}
	return v
}

// TestTasks: a command that takes longer than a moment is a task for a client that
// declares tasks, whose id is the shell's and whose state follows it.
func TestTasks(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	x := w.wire()
	found, _ := x.ask(1, "server/discover", object{}, true)
	if at(found, "capabilities.extensions") == nil || at(found, "capabilities.extensions").(object)[tasksExtension] == nil {
		t.Errorf("discovered: %v", found)
	}
	quick, _ := x.ask(2, "tools/call", bashLine("echo quick"), true)
	if quick["resultType"] != "complete" || at(quick, "structuredContent.stdout") != "quick\n" {
		t.Errorf("a quick command: %v", quick)
	}
	command := "echo one; echo two >&2; while ! test -e go; do sleep 0.1; done; echo three; exit 3"
	created, _ := x.ask(3, "tools/call", bashLine(command), true)
	id, _ := created["taskId"].(string)
	if created["resultType"] != "task" || created["status"] != "working" || !strings.HasPrefix(id, "bg-") || created["content"] != nil {
		t.Fatalf("a long command: %v", created)
	}
	if ttl, there := created["ttlMs"]; ttl != nil || !there || created["createdAt"] == nil || created["lastUpdatedAt"] == nil {
		t.Errorf("a task: %v", created)
	}
	got, _ := x.ask(4, "tasks/get", object{"taskId": id}, true)
	if got["resultType"] != "complete" || got["status"] != "working" || got["result"] != nil {
		t.Errorf("while it runs: %v", got)
	}

	// Its id is the one that tools have, and it is notified of at the end.
	x.request(5, "subscriptions/listen", object{"notifications": object{"taskIds": []string{id, "bg-none00"}}}, true)
	ack := x.notice("notifications/subscriptions/acknowledged")
	if fmt.Sprint(at(ack, "notifications.taskIds")) != fmt.Sprint([]any{id}) {
		t.Errorf("acknowledged: %v", ack)
	}
	w.write("go")
	notice := x.notice("notifications/tasks")
	if notice["taskId"] != id || notice["status"] != "completed" || notice["resultType"] != nil ||
		notice["_meta"].(object)["io.modelcontextprotocol/subscriptionId"] != 5.0 {
		t.Errorf("notice: %v", notice)
	}
	got, _ = x.ask(6, "tasks/get", object{"taskId": id}, true)
	if got["status"] != "completed" || at(got, "result.resultType") != "complete" || at(got, "result.isError") != nil ||
		at(got, "result.structuredContent.stdout") != "one\nthree\n" || at(got, "result.structuredContent.stderr") != "two\n" ||
		at(got, "result.structuredContent.exit_code") != 3.0 {
		t.Errorf("at the end: %v", got)
	}

	// It is cancelled, with all that it started; what has ended stays as it ended.
	created, _ = x.ask(7, "tools/call", bashLine("sleep 1003"), true)
	if r, e := x.ask(8, "tasks/cancel", object{"taskId": created["taskId"]}, true); r["resultType"] != "complete" {
		t.Errorf("cancelled: %v, %v", r, e)
	}
	w.until("it is gone", func() bool { return len(w.alive("sleep 1003")) == 0 })
	if got, _ = x.ask(9, "tasks/get", object{"taskId": created["taskId"]}, true); got["status"] != "cancelled" {
		t.Errorf("after it was cancelled: %v", got)
	}
	if r, e := x.ask(10, "tasks/cancel", object{"taskId": id}, true); r == nil {
		t.Errorf("cancelled after its end: %v", e)
	}
	if got, _ = x.ask(11, "tasks/get", object{"taskId": id}, true); got["status"] != "completed" {
		t.Errorf("cancelled after its end: %v", got)
	}
	if r, e := x.ask(12, "tasks/update", object{"taskId": id, "inputResponses": object{}}, true); r["resultType"] != "complete" {
		t.Errorf("updated: %v, %v", r, e)
	}

	// A worker is a task, too; its name is not.
	spawned, _ := x.ask(13, "tools/call", object{"name": "worker-spawn", "arguments": object{"name": "w", "command": []string{"sh", "-c", "exit 7"}}}, true)
	worker, _ := at(spawned, "structuredContent.worker.id").(string)
	w.until("it has ended", func() bool {
		got, _ := x.ask(14, "tasks/get", object{"taskId": worker}, true)
		return got["status"] == "completed" && at(got, "result.structuredContent.worker.exit_code") == 7.0
	})

	for i, c := range []struct {
		method, id string
		declared   bool
		code       float64
	}{
		{"tasks/get", id, false, -32021},
		{"tasks/cancel", id, false, -32021},
		{"tasks/update", id, false, -32021},
		{"tasks/get", "bg-none00", true, -32602},
		{"tasks/get", "w", true, -32602},
		{"tasks/get", "../w", true, -32602},
		{"tasks/cancel", "bg-none00", true, -32602},
		{"tasks/update", "bg-none00", true, -32602},
		{"tasks/list", id, true, -32601},
		{"tasks/result", id, true, -32601},
	} {
		if _, failed := x.ask(20+i, c.method, object{"taskId": c.id}, c.declared); failed["code"] != c.code {
			t.Errorf("%+v: %v", c, failed)
		}
	}
	if _, failed := x.ask(40, "subscriptions/listen", object{"notifications": object{"taskIds": []string{id}}}, false); failed["code"] != -32021.0 {
		t.Errorf("a subscription of a client that declares nothing: %v", failed)
	}

	// A client that does not declare tasks gets none, and no client sees the tasks of
	// another session.
	r, _ := x.ask(41, "tools/call", bashLine("sleep 1.5; echo waited"), false)
	if at(r, "structuredContent.stdout") != "waited\n" {
		t.Errorf("without tasks: %v", r)
	}
	other := w.wire()
	if _, failed := other.ask(1, "tasks/get", object{"taskId": id}, true); failed["code"] != -32602.0 {
		t.Errorf("in another session: %v", failed)
	}
}

// TestListenToAll: one subscription has tasks, resources and the inbox.
func TestListenToAll(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.teamWithAgent()
	x := w.wire()
	created, _ := x.ask(1, "tools/call", bashLine("while ! test -e go; do sleep 0.1; done"), true)
	x.request(2, "subscriptions/listen", object{"notifications": object{
		"taskIds": []any{created["taskId"]}, "resourceSubscriptions": []string{"swarm://inbox/web"}, "resourcesListChanged": true,
	}}, true)
	ack := x.notice("notifications/subscriptions/acknowledged")
	if fmt.Sprint(at(ack, "notifications.taskIds")) != fmt.Sprint([]any{created["taskId"]}) || at(ack, "notifications.resourcesListChanged") != true ||
		fmt.Sprint(at(ack, "notifications.resourceSubscriptions")) != "[swarm://inbox/web]" {
		t.Errorf("acknowledged: %v", ack)
	}
	w.write("say")
	if notice := x.notice("notifications/resources/updated"); notice["uri"] != "swarm://inbox/web" {
		t.Errorf("notified of a message: %v", notice)
	}
	w.write("go")
	if notice := x.notice("notifications/tasks"); notice["status"] != "completed" {
		t.Errorf("notified of a task: %v", notice)
	}
	// A subscription that is cancelled reports nothing more, and holds nothing up.
	x.send(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":2}}`)
	if r, e := x.ask(3, "tasks/get", object{"taskId": created["taskId"]}, true); r["status"] != "completed" {
		t.Errorf("after that: %v, %v", r, e)
	}
}
