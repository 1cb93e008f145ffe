package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"os"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/swarmhost/swarm/host"
	"github.com/swarmhost/swarm/host/profile"
	"github.com/swarmhost/swarm/shared/swarm"
)

// full is a worker about which all is known that can be.
func full() host.Worker {
	start := time.Date(2026, 1, 2, 3, 4, 5, 6e6, time.FixedZone("", 3600))
	return host.Worker{
		ID: "k3x9", Name: "w.1", Status: host.StatusLost, Reason: "keeper died", Backend: "tmux", PID: 12,
		Command: []string{"sh", "-c", "echo <&>"}, Dir: "/r-worktrees/w.1", Env: []string{"SECRET=1"},
		Tags: []string{"a", "b"}, Created: start, Started: start, Ended: start.Add(time.Minute),
		Exit: &swarm.Exit{Code: 3, Cause: swarm.CauseExited, Time: start},
		Where: swarm.Where{Kind: "tmux window", Name: "s:w.1", Parts: map[string]string{
			"session": "s", "window": "w.1", "socket": "k",
		}},
		Workspace: &swarm.WorkspaceRef{ID: "k3x9", Name: "w.1", Path: "/r-worktrees/w.1", Branch: "w.1", Base: "/r"},
		Retain:    "until-clean",
		Survivors: []swarm.Process{{PID: 13, Name: "sleep"}},
		Kill:      swarm.KillOptions{Signal: "SIGINT", Grace: 1500 * time.Millisecond, Force: true, Mode: swarm.KillMain},
		Restart:   swarm.Restart{When: swarm.RestartOnFailure, MinDelay: 100 * time.Millisecond, Budget: 3},
		Restarts:  2, Completion: &swarm.Completion{Summary: "fixed <it>", Time: start},
		Previous: []string{"k3x8"}, Stdin: true, Owner: &swarm.Owner{PID: 7}, Ralph: true, Project: "/r/swarm.toml",
		Team: "crew", Agent: "agent-a1b2c3",
		State: &host.AgentState{
			Profile: "claude", State: profile.Blocked, Source: host.SourceScreen, Since: start, Question: "Proceed?",
			Choices: []profile.Choice{{Key: "1", Label: "Yes", Selected: true}}, Broken: "API Error",
		},
	}
}

// empty is a worker about which as little is known as can be.
func empty() host.Worker {
	return host.Worker{ID: "k3x9", Name: "w", Status: host.StatusUnknown, Backend: "x", Retain: "until-clean"}
}

func signalled() host.Worker {
	w := empty()
	w.Exit = &swarm.Exit{Code: -1, Signal: "SIGKILL", Cause: swarm.CauseKilled}
	return w
}

func TestWorkerJSON(t *testing.T) {
	t.Parallel()
	const want = `{"name":"w.1","id":"k3x9","status":"lost","backend":"tmux","pid":12,"cmd":["sh","-c","echo <&>"],` +
		`"cwd":"/r-worktrees/w.1","tags":["a","b"],"started":"2026-01-02T02:04:05.006Z","ended":"2026-01-02T02:05:05.006Z",` +
		`"exit":{"code":3,"signal":null,"reason":"exited"},"tmux":{"session":"s","window":"w.1","socket":"k"},` +
		`"worktree":{"path":"/r-worktrees/w.1","branch":"w.1","base_repo":"/r"},"retain":"until-clean","owner":"7",` +
		`"team":"crew","ralph":"/s/ralph/w.1","status_reason":"keeper died","survivors":[{"pid":13,"name":"sleep"}],` +
		`"kill":{"signal":"SIGINT","grace":1.5,"force":true,"mode":"main"},` +
		`"restart":{"when":"on-failure","min_delay":0.1,"max_delay":30,"budget":3,"window":60},"restarts":2,` +
		`"completion":{"summary":"fixed <it>","time":"2026-01-02T02:04:05.006Z"},"previous":["k3x8"],"stdin":true,` +
		`"project":"/r/swarm.toml","agent":"agent-a1b2c3",` +
		`"state":{"state":"blocked","source":"screen","since":"2026-01-02T02:04:05.006Z","profile":"claude","question":"Proceed?",` +
		`"choices":[{"key":"1","label":"Yes","selected":true}],"broken":"API Error"}}`
	a := &app{env: []string{"SWARM_DIR=/s"}}
	if diff := cmp.Diff(want, compact(t, a.workerJSON(full()))); diff != "" {
		t.Errorf("full worker (-want +got):\n%s", diff)
	}
	const wantEmpty = `{"name":"w","id":"k3x9","status":"unknown","backend":"x","pid":null,"cmd":[],"cwd":null,"tags":[],` +
		`"started":null,"ended":null,"exit":null,"tmux":null,"worktree":null,"retain":"until-clean","owner":null,` +
		`"team":null,"ralph":null,"status_reason":null,"survivors":[],` +
		`"kill":{"signal":null,"grace":0,"force":false,"mode":"tree"},"restart":null,"restarts":0,"completion":null,` +
		`"previous":[],"stdin":false,"project":null,"agent":null,"state":null}`
	if diff := cmp.Diff(wantEmpty, compact(t, workerJSONOf(empty()))); diff != "" {
		t.Errorf("empty worker (-want +got):\n%s", diff)
	}
	if got := compact(t, workerJSONOf(signalled()).Exit); got != `{"code":null,"signal":"SIGKILL","reason":"killed"}` {
		t.Errorf("exit by a signal is %s", got)
	}
	if got := compact(t, a.workersJSON(nil)); got != "[]" {
		t.Errorf("no workers are %s, want an array", got)
	}
}

// compact is what printJSON prints, on one line.
func compact(t *testing.T, v any) string {
	t.Helper()
	var printed, line bytes.Buffer
	a := &app{out: &output{w: &printed}}
	if err := a.printJSON(v); err != nil {
		t.Fatal(err)
	}
	if err := json.Compact(&line, printed.Bytes()); err != nil {
		t.Fatal(err)
	}
	return line.String()
}

func TestWorkerJSONFollowsTheSchema(t *testing.T) {
	t.Parallel()
	schema := readSchema(t, "worker")
	a := &app{env: []string{"SWARM_DIR=/s"}}
	for _, w := range []host.Worker{full(), empty(), signalled()} {
		var v map[string]any
		if err := json.Unmarshal([]byte(compact(t, a.workerJSON(w))), &v); err != nil {
			t.Fatal(err)
		}
		for _, problem := range violations("worker", schema, v) {
			t.Error(problem)
		}
		// The validator itself: what is missing, unknown or of a wrong type is found.
		delete(v, "team")
		v["new"] = 1
		v["pid"] = "12"
		if got := violations("worker", schema, v); len(got) != 3 {
			t.Errorf("three violations, found %q", got)
		}
	}
}

// readSchema returns a schema of docs.
func readSchema(t *testing.T, what string) map[string]any {
	t.Helper()
	text, err := os.ReadFile("../../docs/" + what + ".schema.json")
	if err != nil {
		t.Fatal(err)
	}
	var schema map[string]any
	if err := json.Unmarshal(text, &schema); err != nil {
		t.Fatal(err)
	}
	return schema
}

// violations checks a value against the part of JSON Schema that the schema uses.
func violations(path string, schema map[string]any, v any) []string {
	var found []string
	kind := kindOfJSON(v)
	if !slices.Contains(words(schema["type"]), kind) && (kind != "integer" || schema["type"] != "number") {
		return []string{fmt.Sprintf("%s is of type %s, want %v", path, kind, schema["type"])}
	}
	if enum := words(schema["enum"]); enum != nil && !slices.Contains(enum, v.(string)) {
		found = append(found, fmt.Sprintf("%s is %q, want one of %q", path, v, enum))
	}
	switch v := v.(type) {
	case []any:
		for i, item := range v {
			found = append(found, violations(fmt.Sprintf("%s[%d]", path, i), schema["items"].(map[string]any), item)...)
		}
	case map[string]any:
		properties := schema["properties"].(map[string]any)
		for _, name := range words(schema["required"]) {
			if _, ok := v[name]; !ok {
				found = append(found, path+"."+name+" is missing")
			}
		}
		for _, name := range slices.Sorted(maps.Keys(v)) {
			if properties[name] == nil {
				found = append(found, path+"."+name+" is not in the schema")
				continue
			}
			found = append(found, violations(path+"."+name, properties[name].(map[string]any), v[name])...)
		}
	}
	return found
}

// words are one string or several.
func words(v any) []string {
	switch v := v.(type) {
	case string:
		return []string{v}
	case []any:
		list := make([]string, len(v))
		for i := range v {
			list[i] = v[i].(string)
		}
		return list
	default:
		return nil
	}
}

func kindOfJSON(v any) string {
	switch v := v.(type) {
	case nil:
		return "null"
	case string:
		return "string"
	case bool:
		return "boolean"
	case float64:
		if v == math.Trunc(v) {
			return "integer"
		}
		return "number"
	case []any:
		return "array"
	default:
		return "object"
	}
}
