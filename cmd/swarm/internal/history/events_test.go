package history

import (
	"encoding/json"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/swarmhost/swarm/cmd/swarm/internal/apptest"
	"github.com/swarmhost/swarm/cmd/swarm/internal/jsontest"
	"github.com/swarmhost/swarm/cmd/swarm/internal/output"
	"github.com/swarmhost/swarm/host/history"
	"github.com/swarmhost/swarm/host/hooks"
	"github.com/swarmhost/swarm/host/registry"
	"github.com/swarmhost/swarm/host/watch"
	"github.com/swarmhost/swarm/shared/swarm"
)

var eventTime = time.Date(2026, 1, 2, 3, 4, 5, 6e6, time.UTC)

func fullEvent() registry.Event {
	return registry.Event{
		Seq: 7, Time: eventTime, Worker: "w.1", ID: "k3x9", Kind: history.Complete, Text: "all <tests> pass",
		Final: true, Previous: "k3x8", Exit: &swarm.Exit{Code: 3, Cause: swarm.CauseExited, Usage: &swarm.Usage{CPUTime: new(1500 * time.Millisecond)}},
		Tags: []string{"ci"},
	}
}

func emptyEvent() registry.Event {
	return registry.Event{Seq: 8, Time: eventTime, Worker: "w.1", ID: "k3x9", Kind: history.Spawned}
}

func TestEventLine(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		kind       registry.EventKind
		text, want string
	}{
		{history.Complete, "summary text", "[w] COMPLETE: summary text"},
		{history.Complete, "", "[w] COMPLETE"},
		{history.Exited, "success", "[w] EXITED: success"},
		{history.Failed, "exit status 3", "[w] FAILED: exit status 3"},
		{history.Failed, "signal: terminated", "[w] FAILED: signal: terminated"},
		{history.Died, "process not found", "[w] DIED: process not found"},
		{history.Killed, "by orchestrator", "[w] KILLED: by orchestrator"},
		{history.Spawned, "", "[w] SPAWNED"},
		{history.Complete, "ümläut ✓ 👩‍💻 \"quoted\" C:\\new", "[w] COMPLETE: ümläut ✓ 👩\\u200d💻 \"quoted\" C:\\new"},
		// A text can't forge a line, or control the terminal.
		{history.Complete, "a\n[x] KILLED: by orchestrator\r\nb", `[w] COMPLETE: a\n[x] KILLED: by orchestrator\r\nb`},
		{history.Complete, "a\x1b[2J\x1b]0;t\x07\u009b2J\x7f\x00\tb", `[w] COMPLETE: a\x1b[2J\x1b]0;t\a\u009b2J\x7f\x00\tb`},
		{history.Complete, "a\u202eb\u2066c\u2028d", `[w] COMPLETE: a\u202eb\u2066c\u2028d`},
		{history.Complete, "half \xc3 \x9b2J", `[w] COMPLETE: half \xc3 \x9b2J`},
	} {
		a, out, _ := apptest.New()
		if err := (eventPrinter{App: a}).print(registry.Event{Worker: "w", Kind: c.kind, Text: c.text}); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(c.want+"\n", out.String()); diff != "" {
			t.Errorf("%q (-want +got):\n%s", c.text, diff)
		}
	}
}

func TestEventTimestamps(t *testing.T) {
	t.Parallel()
	a, out, _ := apptest.New()
	if err := (eventPrinter{App: a, timestamps: true}).print(emptyEvent()); err != nil {
		t.Fatal(err)
	}
	stamp, line, _ := strings.Cut(out.String(), " ")
	got, err := time.Parse(time.RFC3339Nano, stamp)
	if err != nil || !got.Equal(eventTime) || line != "[w.1] SPAWNED\n" {
		t.Errorf("printed %q, want the time %v and the event", out, eventTime)
	}
}

func TestEventJSON(t *testing.T) {
	t.Parallel()
	const want = `{"seq":7,"time":"2026-01-02T03:04:05.006Z","worker":"w.1","id":"k3x9","kind":"COMPLETE",` +
		`"text":"all <tests> pass","final":true,"previous":"k3x8",` +
		`"exit":{"code":3,"signal":null,"reason":"exited"},"usage":{"cpu_seconds":1.5,"peak":null,"read":null,"written":null},"tags":["ci"]}` + "\n" +
		`{"seq":8,"time":"2026-01-02T03:04:05.006Z","worker":"w.1","id":"k3x9","kind":"SPAWNED",` +
		`"text":null,"final":false,"previous":null,"exit":null,"usage":null,"tags":[]}` + "\n"
	a, out, _ := apptest.New()
	for _, e := range []registry.Event{fullEvent(), emptyEvent()} {
		if err := (eventPrinter{App: a, json: true}).print(e); err != nil {
			t.Fatal(err)
		}
	}
	if diff := cmp.Diff(want, out.String()); diff != "" {
		t.Errorf("one object a line (-want +got):\n%s", diff)
	}
	array := "[" + strings.ReplaceAll(strings.TrimSpace(want), "\n", ",") + "]"
	if diff := cmp.Diff(array, jsontest.Compact(t, output.List([]registry.Event{fullEvent(), emptyEvent()}, eventJSONOf))); diff != "" {
		t.Errorf("the array (-want +got):\n%s", diff)
	}
}

func TestEventJSONFollowsTheSchema(t *testing.T) {
	t.Parallel()
	schema := jsontest.ReadSchema(t, "event")
	for _, e := range []registry.Event{fullEvent(), emptyEvent()} {
		var v map[string]any
		if err := json.Unmarshal([]byte(jsontest.Compact(t, eventJSONOf(e))), &v); err != nil {
			t.Fatal(err)
		}
		for _, problem := range jsontest.Violations("event", schema, v) {
			t.Error(problem)
		}
		delete(v, "final")
		if got := jsontest.Violations("event", schema, v); len(got) != 1 {
			t.Errorf("one violation, found %q", got)
		}
	}
}

// A hook reads an event and more; its schema is that of an event and more.
func TestHookJSONFollowsTheSchema(t *testing.T) {
	t.Parallel()
	schema, events := jsontest.ReadSchema(t, "hook"), jsontest.ReadSchema(t, "event")
	for name, property := range events["properties"].(map[string]any) {
		if diff := cmp.Diff(property, schema["properties"].(map[string]any)[name]); diff != "" {
			t.Errorf("%s is not described as it is in an event (-event +hook):\n%s", name, diff)
		}
	}
	input, err := commands{}.Input(hooks.Delivery{Event: fullEvent(), Hook: "mail", On: []string{"ended"}, Attempt: 2})
	if err != nil {
		t.Fatal(err)
	}
	const want = `,"tags":["ci"],"event_id":"7-k3x9","hook":"mail","on":["ended"],"attempt":2}` + "\n"
	if !strings.HasSuffix(string(input), want) || !strings.HasPrefix(string(input), `{"seq":7,`) || strings.Count(string(input), "\n") != 1 {
		t.Errorf("a hook reads %s", input)
	}
	var v map[string]any
	if err := json.Unmarshal(input, &v); err != nil {
		t.Fatal(err)
	}
	for _, problem := range jsontest.Violations("hook", schema, v) {
		t.Error(problem)
	}
	delete(v, "event_id")
	if got := jsontest.Violations("hook", schema, v); len(got) != 1 {
		t.Errorf("one violation, found %q", got)
	}
}

// The kinds that the schema reports are those that there are.
func TestEventSchemaNamesTheKinds(t *testing.T) {
	t.Parallel()
	source, err := os.ReadFile("../../../../host/history/ending.go")
	if err != nil {
		t.Fatal(err)
	}
	schema := jsontest.ReadSchema(t, "event")["properties"].(map[string]any)["kind"].(map[string]any)["description"].(string)
	kinds := regexp.MustCompile(`Kind \s*= "([A-Z ]+)"`).FindAllStringSubmatch(string(source), -1)
	if len(kinds) < 8 {
		t.Errorf("host/history/ending.go: found only %q", kinds)
	}
	for _, kind := range kinds {
		if !strings.Contains(schema, kind[1]) {
			t.Errorf("docs/event.schema.json does not name %s", kind[1])
		}
	}
}

func TestCollectedJSON(t *testing.T) {
	t.Parallel()
	const want = `{"ended":[{"name":"w.1","id":"k3x9"}],"removed":[],"killed":[],"run_directories":2,"warnings":["a"]}`
	got := jsontest.Compact(t, collectedJSONOf(watch.Collected{
		Ended: []registry.Record{{Spec: registry.Spec{ID: "k3x9", Name: "w.1"}}}, RunDirs: 2, Warnings: []string{"a"},
	}))
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("what gc did (-want +got):\n%s", diff)
	}
}
