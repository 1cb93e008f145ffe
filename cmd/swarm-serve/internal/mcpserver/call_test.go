package mcpserver_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/swarmhost/swarm/cmd/internal/mcptest"
)

// stubborn is a command whose tree ignores what can be ignored; it says so first.
const stubborn = `trap '' TERM INT HUP; (trap '' TERM; setsid sleep 2001 & sleep 2002 & while :; do sleep 1; done) & echo ready; while :; do sleep 1; done`

// ready waits until a shell has written its first line.
func (c *client) ready(id string) {
	c.w.Helper()
	c.w.until(id+" is ready", func() bool { return c.call("BashOutput", object{"shell_id": id}, false)["output"] != "" })
}

// withProgress makes a call that reports its progress.
func withProgress(name string, input any, token any) *sdk.CallToolParams {
	params := &sdk.CallToolParams{Meta: sdk.Meta{}, Name: name, Arguments: input}
	params.SetProgressToken(token)
	return params
}

func TestProgress(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	var mu sync.Mutex
	notices := map[any][]sdk.ProgressNotificationParams{}
	c := w.start(mcptest.Options{Progress: func(p *sdk.ProgressNotificationParams) {
		mu.Lock()
		defer mu.Unlock()
		notices[p.ProgressToken] = append(notices[p.ProgressToken], *p)
	}})
	a, b := c.shell(stubborn), c.shell(stubborn)
	c.ready(a)
	c.ready(b)
	// Two at once: each notice is for its own.
	var both sync.WaitGroup
	for token, id := range map[string]string{"first": a, "second": b} {
		both.Go(func() {
			got, err := c.try(t.Context(), withProgress("KillShell", object{"shell_id": id, "timeout": 2500}, token), false)
			if err != nil || got["force_killed"] != true {
				t.Errorf("%v, %v", got, err)
			}
		})
	}
	both.Wait()
	mu.Lock()
	defer mu.Unlock()
	for token, id := range map[string]string{"first": a, "second": b} {
		last := -1.0
		for _, p := range notices[token] {
			late := strings.Contains(p.Message, "did not end in time")
			if p.Progress <= last || p.Progress > p.Total && !late || p.Total != 2.5 || !strings.Contains(p.Message, id) {
				t.Errorf("%s: progress %+v after %v", token, p, last)
			}
			last = p.Progress
		}
		if len(notices[token]) < 2 {
			t.Errorf("%s: %d notices", token, len(notices[token]))
		}
	}
}

// TestCancelKill: who does not wait for a kill any more does not stop it.
func TestCancelKill(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	var begun sync.Once
	waiting := make(chan struct{})
	c := w.start(mcptest.Options{Progress: func(*sdk.ProgressNotificationParams) { begun.Do(func() { close(waiting) }) }})
	id := c.shell(stubborn)
	c.ready(id)
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() {
		_, err := c.try(ctx, withProgress("KillShell", object{"shell_id": id, "timeout": 3000}, "k"), false)
		done <- err
	}()
	<-waiting
	start := time.Now()
	cancel()
	if err := <-done; !errors.Is(err, context.Canceled) {
		t.Errorf("the cancelled call: %v", err)
	}
	c.call("tasks", object{}, false)
	w.until("all of it is gone", func() bool { return len(w.alive("sleep 200")) == 0 })
	w.until("the shell is known to be killed", func() bool {
		return c.call("BashOutput", object{"shell_id": id}, false)["status"] == "killed"
	})
	t.Logf("killed %v after the call was cancelled", time.Since(start))
	if got := w.swarm("events"); strings.Count(got, "["+id+"] KILLED") != 1 {
		t.Errorf("history:\n%s", got)
	}
}

// TestCancelBash: a command that no client waits for any more ends, all of it.
func TestCancelBash(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	c := w.start(mcptest.Options{})
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() {
		_, err := c.try(ctx, &sdk.CallToolParams{Name: "Bash", Arguments: object{"command": "setsid sleep 2003 & sleep 2004"}}, false)
		done <- err
	}()
	w.until("the command runs", func() bool { return len(w.alive("sleep 200")) == 3 })
	cancel()
	if err := <-done; !errors.Is(err, context.Canceled) {
		t.Errorf("the cancelled call: %v", err)
	}
	w.until("all of it is gone", func() bool { return len(w.alive("sleep 200")) == 0 })
	w.until("nothing is left of it in the list", func() bool { return !strings.Contains(w.swarm("ls", "--format", "names"), "fg-") })
	c.call("tasks", object{}, false)
}

// TestParallel: calls do not wait for each other.
func TestParallel(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	c := w.start(mcptest.Options{})
	slow := c.shell(stubborn)
	c.ready(slow)
	var behind sync.WaitGroup
	defer behind.Wait()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	behind.Go(func() {
		_, err := c.try(ctx, &sdk.CallToolParams{Name: "Bash", Arguments: object{"command": "touch here; sleep 2005"}}, false)
		if !errors.Is(err, context.Canceled) {
			t.Errorf("the long command: %v", err)
		}
	})
	var gentle sync.WaitGroup
	gentle.Go(func() {
		got, err := c.try(t.Context(), &sdk.CallToolParams{Name: "KillShell", Arguments: object{"shell_id": slow, "timeout": 100000}}, false)
		if err != nil || got["exit_code"] != 137.0 {
			t.Errorf("the long kill: %v, %v", got, err)
		}
	})
	w.until("the long command runs", func() bool { return exists(w.path("here")) })

	var calls sync.WaitGroup
	c.call("spawn-team", object{"teamName": "red"}, false)
	for i := range 50 {
		calls.Go(func() {
			var err error
			switch i % 5 {
			case 0:
				var got object
				text := fmt.Sprintf("this is %d", i)
				got, err = c.try(t.Context(), &sdk.CallToolParams{Name: "Bash", Arguments: object{"command": "echo " + text}}, false)
				if err == nil && got["stdout"] != text+"\n" {
					err = fmt.Errorf("answer %v", got)
				}
			case 1:
				_, err = c.try(t.Context(), &sdk.CallToolParams{Name: "tasks", Arguments: object{}}, false)
			case 2:
				_, err = c.try(t.Context(), &sdk.CallToolParams{Name: "get-agent-status", Arguments: object{"teamName": "red"}}, false)
			case 3:
				_, err = c.try(t.Context(), &sdk.CallToolParams{Name: "task-create", Arguments: object{"teamName": "red", "title": fmt.Sprint(i)}}, false)
			default:
				_, err = c.try(t.Context(), &sdk.CallToolParams{Name: "KillShell", Arguments: object{"shell_id": fmt.Sprint("bg-", i)}}, true)
			}
			if err != nil {
				t.Errorf("%d: %v", i, err)
			}
		})
	}
	calls.Wait()
	if got := c.call("task-list", object{"teamName": "red"}, false)["tasks"].([]any); len(got) != 10 {
		t.Errorf("%d tasks", len(got))
	}
	// A second, harsher kill reaches the shell while the first one waits.
	if got := c.call("KillShell", object{"shell_id": slow, "signal": "SIGKILL"}, false); got["success"] != true {
		t.Errorf("the harsher kill: %v", got)
	}
	gentle.Wait()
}

// TestLargeInput: arguments far beyond what fits into a pipe arrive, and so does the
// answer.
func TestLargeInput(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	c := w.start(mcptest.Options{})
	c.call("spawn-team", object{"teamName": "red"}, false)
	text := strings.Repeat("a <line> of text & more\n", 10000)
	c.call("spawn-agent", object{"teamName": "red", "name": "ann", "backend": "process", "command": []string{"sleep", "1002"}}, false)
	c.call("task-create", object{"teamName": "red", "title": "t", "description": text}, false)
	got := c.call("task-list", object{"teamName": "red"}, false)["tasks"].([]any)[0].(object)["description"]
	if got != text {
		t.Errorf("the description has %d bytes, want %d", len(got.(string)), len(text))
	}
	out := c.call("Bash", object{"command": "head -c 1000000 /dev/zero | tr '\\0' x; echo"}, false)["stdout"].(string)
	if len(out) == 0 || !strings.HasSuffix(out, "xxx\n") {
		t.Errorf("%d bytes of output", len(out))
	}
}
