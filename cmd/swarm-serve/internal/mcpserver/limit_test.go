package mcpserver_test

import (
	"context"
	"encoding/json"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/swarmhost/swarm/cmd/internal/mcptest"
)

// TestCallLimit: a command that takes longer than the client waits continues as a shell,
// with all of its output in its file, and ends with the session as every shell does.
func TestCallLimit(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	server := w.command(context.WithoutCancel(t.Context()), "swarm", "mcp", "--call-limit", "700ms")
	c := w.connect(server, mcptest.Options{})
	began := time.Now()
	got := c.call("Bash", object{"command": "echo begun; echo oops >&2; until [ -e go ]; do sleep 0.02; done; echo going; exec sleep 2041"}, false)
	if time.Since(began) > 20*time.Second {
		t.Errorf("the answer took %v", time.Since(began))
	}
	id, _ := got["task_id"].(string)
	file, _ := got["output_file"].(string)
	if id == "" || file == "" || got["exit_code"] != -1.0 || got["stdout"] != "" || !strings.Contains(got["note"].(string), "continues in the background") {
		t.Fatalf("answer: %v", got)
	}
	if err := os.WriteFile(w.path("go"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	want := []string{"begun\noops\ngoing\n", "oops\nbegun\ngoing\n"}
	w.until("the file has all of the output", func() bool {
		data, err := os.ReadFile(file)
		return err == nil && (string(data) == want[0] || string(data) == want[1])
	})
	read := ""
	w.until("all of it can be read", func() bool {
		read += c.call("BashOutput", object{"shell_id": id}, false)["output"].(string)
		return len(read) >= len(want[0])
	})
	if read != want[0] && read != want[1] {
		t.Errorf("output: %q", read)
	}
	if tasks := c.call("tasks", object{}, false)["tasks"].([]any); len(tasks) != 1 {
		t.Errorf("tasks: %v", tasks)
	}
	// A second one is killed, the first one ends with the session.
	other := c.call("Bash", object{"command": "exec sleep 2042"}, false)["task_id"].(string)
	if killed := c.call("KillShell", object{"shell_id": other}, false); killed["exit_code"] != 143.0 {
		t.Errorf("KillShell: %v", killed)
	}
	if err := c.Close(); err != nil {
		t.Error(err)
	}
	w.until("nothing is left", func() bool { return len(w.alive("sleep 204")) == 0 })
}

// TestLongOutput: a model gets both ends of a long output, and the file with all of it.
func TestLongOutput(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	c := w.start(mcptest.Options{})
	got := c.call("Bash", object{"command": "seq 100000"}, false)
	out, _ := got["stdout"].(string)
	file, _ := got["output_file"].(string)
	if len(out) > 30200 || !strings.HasPrefix(out, "1\n2\n") || !strings.HasSuffix(out, "\n100000\n") || !strings.Contains(out, " bytes are left out here, "+file+" has all of it]\n") {
		t.Errorf("%d characters: %.60q", len(out), out)
	}
	if all, err := os.ReadFile(file); err != nil || strings.Count(string(all), "\n") != 100000 {
		t.Errorf("the file has %d lines, error %v", strings.Count(string(all), "\n"), err)
	}
	// So it is with what a shell in the background wrote.
	id := c.shell("seq 100000")
	read := ""
	w.until("it has ended", func() bool {
		answer := c.call("BashOutput", object{"shell_id": id}, false)
		read = answer["output"].(string)
		return answer["status"] == "completed" || len(read) > 30000
	})
	if len(read) > 30200 {
		t.Errorf("%d characters", len(read))
	}
}

// TestReadable: the text of an answer is for readers, and only what failed is an error.
func TestReadable(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	c := w.start(mcptest.Options{})
	text, err := c.Text(t.Context(), "Bash", json.RawMessage(`{"command":"echo one; echo two; exit 3"}`))
	if err != nil || text != "one\ntwo\n[exit code 3]" {
		t.Errorf("%q, %v", text, err)
	}
	got := c.call("Bash", object{"command": "exit 3"}, false)
	if got["success"] != false || got["exit_code"] != 3.0 {
		t.Errorf("a command that fails: %v", got)
	}
	c.call("Bash", object{"command": "sleep 2043", "timeout": 100}, true)
	c.call("Bash", object{}, true)
}

// TestWorkerTools: a worker outlives the session that started it.
func TestWorkerTools(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	server := w.command(context.WithoutCancel(t.Context()), "swarm", "mcp")
	c := w.connect(server, mcptest.Options{Version: mcptest.Handshake})
	c.call("worker-spawn", object{"name": "w", "command": []string{"sh", "-c", "echo begun; exec sleep 2044"}}, false)
	got := c.call("worker-wait", object{"names": []string{"w"}, "pattern": "beg.n"}, false)["workers"].([]any)[0].(object)
	if got["matched"] != "begun" || got["status"] != "running" {
		t.Errorf("worker-wait: %v", got)
	}
	if err := c.Close(); err != nil {
		t.Error(err)
	}
	again := w.connect(w.command(context.WithoutCancel(t.Context()), "swarm", "mcp"), mcptest.Options{})
	if got := again.call("worker-status", object{"name": "w"}, false)["worker"].(object); got["status"] != "running" {
		t.Errorf("after the session: %v", got)
	}
	if got := again.call("worker-kill", object{"name": "w"}, false)["worker"].(object); got["status"] != "stopped" || got["exit_code"] != 143.0 {
		t.Errorf("worker-kill: %v", got)
	}
	w.until("it is gone", func() bool { return len(w.alive("sleep 2044")) == 0 })
}
