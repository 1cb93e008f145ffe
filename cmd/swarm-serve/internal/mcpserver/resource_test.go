package mcpserver_test

import (
	"fmt"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/swarmhost/swarm/cmd/internal/mcptest"
)

const workers = "swarm://workers/"

func (c *client) list() map[string]*sdk.Resource {
	c.w.Helper()
	got := map[string]*sdk.Resource{}
	for r, err := range c.Resources(c.w.Context(), nil) {
		if err != nil {
			c.w.Fatal(err)
		}
		got[r.URI] = r
	}
	return got
}

func (c *client) read(name string) (text, status string) {
	c.w.Helper()
	got, err := c.ReadResource(c.w.Context(), &sdk.ReadResourceParams{URI: workers + name})
	if err != nil {
		c.w.Fatal(err)
	}
	if len(got.Contents) != 1 || got.Contents[0].MIMEType != "text/plain" {
		c.w.Fatalf("%+v", got)
	}
	return got.Contents[0].Text, fmt.Sprint(got.Contents[0].Meta["status"])
}

func TestResources(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	var changes counter
	c := w.start(mcptest.Options{Version: mcptest.Handshake, ListChanged: changes.add})
	if got := c.list(); len(got) != 0 {
		t.Errorf("without workers: %v", got)
	}
	w.swarm("spawn", "--name", "web", "--", "sh", "-c", `printf '\033[1mbold\033[0m\n\377\n'; exec sleep 1003`)
	w.until("the client heard of it", func() bool { return changes.count() > 0 })
	if got := c.list(); len(got) != 1 || got[workers+"web"] == nil || !strings.Contains(got[workers+"web"].Description, "sleep 1003") {
		t.Errorf("resources: %v", got)
	}
	w.until("its output is there", func() bool {
		text, status := c.read("web")
		return text == "bold\n\uFFFD\n" && status == "running"
	})
	for _, name := range []string{"we", "web1", "", "../web", "%77eb", "web/x"} {
		if _, err := c.ReadResource(t.Context(), &sdk.ReadResourceParams{URI: workers + name}); err == nil {
			t.Errorf("%q was read", name)
		}
		if err := c.Subscribe(t.Context(), &sdk.SubscribeParams{URI: workers + name}); err == nil {
			t.Errorf("%q was subscribed to", name)
		}
	}
	// A command in the foreground is nothing to list; a shell is, for its session.
	before := changes.count()
	c.call("Bash", object{"command": "sleep 0.1"}, false)
	id := c.shell("echo hello; exit 3")
	w.until("the client heard of the shell", func() bool { return changes.count() > before })
	if c.list()[workers+id] == nil {
		t.Errorf("resources: %v", c.list())
	}
	w.until("its end is known", func() bool {
		text, status := c.read(id)
		return text == "hello\n" && status == "stopped"
	})
	other := w.start(mcptest.Options{})
	if other.list()[workers+id] != nil || other.list()[workers+"web"] == nil {
		t.Errorf("resources of another session: %v", other.list())
	}
	if _, err := other.ReadResource(t.Context(), &sdk.ReadResourceParams{URI: workers + id}); err == nil {
		t.Error("a shell of another session was read")
	}

	w.swarm("spawn", "--name", "mute", "--", "sleep", "1003")
	if text, _ := c.read("mute"); text != "[swarm: nothing was written]\n" {
		t.Errorf("of one that wrote nothing: %q", text)
	}
	w.swarm("spawn", "--name", "big", "--", "sh", "-c", "seq 1 400000; exec sleep 1003")
	w.until("the newest part is there, and says that it is one", func() bool {
		text, _ := c.read("big")
		first, _, _ := strings.Cut(text, "\n")
		return strings.HasSuffix(text, "\n400000\n") && len(text) < 1<<20+200 && strings.HasPrefix(first, "[swarm: 1")
	})
	before = changes.count()
	w.swarm("kill", "--all")
	w.swarm("clean", "web")
	w.until("the client heard that it is gone", func() bool { return changes.count() > before && c.list()[workers+"web"] == nil })
}

func TestSubscription(t *testing.T) {
	t.Parallel()
	for _, version := range []string{"2024-11-05", "2025-06-18", mcptest.Handshake} {
		t.Run(version, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			updates := updated{}
			c := w.start(mcptest.Options{Version: version, Updated: updates.add})
			w.swarm("spawn", "--name", "web", "--stdin", "--", "sh", "-c", "while read line; do echo got $line; done; exit 5")
			if err := c.Subscribe(t.Context(), &sdk.SubscribeParams{URI: workers + "web"}); err != nil {
				t.Fatal(err)
			}
			// The server begins to follow the output a moment after it has answered.
			sent := 0
			w.until("the client heard of output", func() bool {
				sent++
				w.swarm("send", "web", fmt.Sprint("line ", sent))
				return updates.of("web") > 0
			})
			w.until("the output is there", func() bool {
				text, _ := c.read("web")
				return strings.Contains(text, fmt.Sprintln("got line", sent))
			})
			before := updates.of("web")
			w.swarm("eof", "web")
			w.until("the client heard of the end", func() bool {
				_, status := c.read("web")
				return updates.of("web") > before && status == "stopped"
			})
			before = updates.of("web")
			w.swarm("respawn", "web")
			w.until("the client heard of the respawn", func() bool { return updates.of("web") > before })
			w.until("the client hears of output again", func() bool {
				before := updates.of("web")
				w.swarm("send", "web", "again")
				return updates.of("web") > before
			})
			if err := c.Unsubscribe(t.Context(), &sdk.UnsubscribeParams{URI: workers + "web"}); err != nil {
				t.Fatal(err)
			}
			w.until("no process follows it any more", func() bool { return len(w.alive("swarm-plugin-process")) == 0 })
		})
	}
}

// TestManyUpdates: a worker that writes without end does not flood the client.
func TestManyUpdates(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	updates := updated{}
	c := w.start(mcptest.Options{Version: mcptest.Handshake, Updated: updates.add})
	id := c.shell("while :; do echo again; done")
	start := time.Now()
	if err := c.Subscribe(t.Context(), &sdk.SubscribeParams{URI: workers + id}); err != nil {
		t.Fatal(err)
	}
	w.until("the client heard of it three times", func() bool { return updates.of(id) >= 3 })
	if took := time.Since(start); took < 2*time.Second {
		t.Errorf("three notices within %v", took)
	}
}

// TestListen is the way of the newest protocol to subscribe.
func TestListen(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	updates, changes := updated{}, counter{}
	c := w.start(mcptest.Options{Updated: updates.add, ListChanged: changes.add})
	id := c.shell("while :; do echo again; sleep 0.1; done")
	if err := c.Subscribe(t.Context(), &sdk.SubscribeParams{URI: workers + id}); err != nil {
		t.Fatal(err)
	}
	w.until("the client heard of output", func() bool { return updates.of(id) > 0 })
	w.swarm("spawn", "--name", "web", "--", "sleep", "1003")
	w.until("the client heard of the list", func() bool { return changes.count() > 0 })
}

type counter struct {
	mu sync.Mutex
	n  int
}

func (c *counter) add() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.n++
}

func (c *counter) count() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.n
}

type updated struct{ all sync.Map }

func (u *updated) add(uri string) {
	n, _ := u.all.LoadOrStore(strings.TrimPrefix(uri, workers), &counter{})
	n.(*counter).add()
}

func (u *updated) of(name string) int {
	n, ok := u.all.Load(name)
	if !ok {
		return 0
	}
	return n.(*counter).count()
}

// teamWithAgent makes the team web with the agent alice, which sends the leader a message
// once there is a file "say".
func (w *world) teamWithAgent() {
	w.Helper()
	w.swarm("team", "create", "web")
	w.swarm("agent", "spawn", "--team", "web", "--name", "alice", "--backend", "process", "--", "sh", "-c",
		"while ! test -e say; do sleep 0.1; done; swarm inbox send leader 'hello you'; exec sleep 1003")
}

// write makes an empty file.
func (w *world) write(name string) {
	w.Helper()
	if err := os.WriteFile(w.path(name), nil, 0o600); err != nil {
		w.Fatal(err)
	}
}

// TestInbox: a client reads its inbox without marking anything, and is notified of messages.
func TestInbox(t *testing.T) {
	t.Parallel()
	for _, version := range []string{"2025-06-18", ""} {
		t.Run(version, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.teamWithAgent()
			updates := updated{}
			c := w.start(mcptest.Options{Version: version, Updated: updates.add})
			const uri = "swarm://inbox/web"
			text := func() string {
				got, err := c.ReadResource(t.Context(), &sdk.ReadResourceParams{URI: uri})
				if err != nil {
					t.Fatal(err)
				}
				return got.Contents[0].Text
			}
			if got := text(); got != "Unread messages in team web: 0\n" {
				t.Errorf("an empty inbox: %q", got)
			}
			if err := c.Subscribe(t.Context(), &sdk.SubscribeParams{URI: uri}); err != nil {
				t.Fatal(err)
			}
			w.write("say")
			w.until("the client heard of the message", func() bool { return updates.of(uri) > 0 })
			for range 2 {
				if got := text(); !strings.HasPrefix(got, "Unread messages in team web: 1\n") || !strings.HasSuffix(got, ":\nhello you\n") {
					t.Errorf("with a message: %q", got)
				}
			}
			if got := c.call("read-messages", object{"teamName": "web"}, false)["messages"].([]any); len(got) != 1 {
				t.Errorf("messages: %v", got)
			}
			if got := text(); got != "Unread messages in team web: 0\n" {
				t.Errorf("after it was read: %q", got)
			}
			for _, wrong := range []string{"swarm://inbox", "swarm://inbox/", "swarm://inbox/none", "swarm://inbox/web/x"} {
				if version == "" {
					break // the SDK never learns that the server has refused
				}
				if err := c.Subscribe(t.Context(), &sdk.SubscribeParams{URI: wrong}); err == nil {
					t.Errorf("%q was subscribed to", wrong)
				}
			}
		})
	}
}
