package jsontest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/swarmhost/swarm/cmd/swarm/internal/output"
	"github.com/swarmhost/swarm/host/judgement"
	"github.com/swarmhost/swarm/host/profile"
	"github.com/swarmhost/swarm/host/registry"
	"github.com/swarmhost/swarm/host/worker"
	"github.com/swarmhost/swarm/shared/swarm"
)

// Full is a worker about which all is known that can be.
func Full() worker.Worker {
	start := time.Date(2026, 1, 2, 3, 4, 5, 6e6, time.FixedZone("", 3600))
	return worker.Worker{
		Spec:   registry.Spec{ID: "k3x9", Name: "w.1", Backend: "tmux", Command: []string{"sh", "-c", "echo <&>"}, Dir: "/r-worktrees/w.1", Env: []string{"SECRET=1"}, Tags: []string{"a", "b"}, Created: start, Retain: "until-clean", Kill: swarm.KillOptions{Signal: "SIGINT", Grace: 1500 * time.Millisecond, Force: true, Mode: swarm.KillMain}, Restart: swarm.Restart{When: swarm.RestartOnFailure, MinDelay: 100 * time.Millisecond, Budget: 3}, Previous: []string{"k3x8"}, Stdin: true, Owner: &swarm.Owner{PID: 7}, Ralph: true, Project: "/r/swarm.toml", Limits: swarm.Limits{Memory: 2 << 30, CPUs: 1.5, PIDs: 500, IOWeight: 50, BestEffort: true}, Sandbox: &swarm.Sandbox{Network: swarm.NetworkNone, Home: "/h", Write: []string{"/data"}}, Team: "crew", Agent: "agent-a1b2c3"},
		Status: worker.StatusLost, Reason: "shim died", PID: 12, Started: start, Ended: start.Add(time.Minute), Exit: &swarm.Exit{Code: 3, Cause: swarm.CauseExited, Reason: "detail", Time: start, Usage: &swarm.Usage{CPUTime: new(1500 * time.Millisecond), Peak: new(int64(4096)), Written: new(int64(0))}}, Where: swarm.Where{Kind: "tmux window", Name: "s:w.1", Parts: map[string]string{
			"session": "s", "window": "w.1", "socket": "k",
		}}, Workspace: &swarm.WorkspaceRef{ID: "k3x9", Name: "w.1", Path: "/r-worktrees/w.1", Branch: "w.1", Base: "/r"}, Survivors: []swarm.Process{{PID: 13, Name: "sleep"}}, Restarts: 2, Completion: &swarm.Completion{Summary: "fixed <it>", Time: start}, Unenforced: "the limit of I/O weight can't be enforced", State: &judgement.State{
			Profile: "claude", State: profile.Blocked, Source: judgement.SourceScreen, Since: start, Question: "Proceed?",
			Choices: []profile.Choice{{Key: "1", Label: "Yes", Selected: true}}, Broken: "API Error",
		}, PerhapsAlive: []swarm.Process{{PID: 12, Name: "sh", Started: start}},
	}
}

// Compact is what PrintJSON prints, on one line.
func Compact(t *testing.T, v any) string {
	t.Helper()
	var printed, line bytes.Buffer
	p := &output.Printer{Out: &output.Stream{W: &printed}}
	if err := p.PrintJSON(v); err != nil {
		t.Fatal(err)
	}
	if err := json.Compact(&line, printed.Bytes()); err != nil {
		t.Fatal(err)
	}
	return line.String()
}

// ReadSchema returns a schema of docs.
func ReadSchema(t *testing.T, what string) map[string]any {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(docs(t), what+".schema.json"))
	if err != nil {
		t.Fatal(err)
	}
	var schema map[string]any
	if err := json.Unmarshal(text, &schema); err != nil {
		t.Fatal(err)
	}
	return schema
}

// Fits fails the test where what a verb prints violates the schema of that name.
func Fits(t *testing.T, schema, path string, printed any) {
	t.Helper()
	text, err := json.Marshal(printed)
	if err != nil {
		t.Fatal(err)
	}
	var v any
	if err := json.Unmarshal(text, &v); err != nil {
		t.Fatal(err)
	}
	for _, violation := range Violations(path, ReadSchema(t, schema), v) {
		t.Error(violation)
	}
}

func docs(t *testing.T) string {
	t.Helper()
	for dir := "."; ; dir = filepath.Join(dir, "..") {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return filepath.Join(dir, "docs")
		}
		if abs, err := filepath.Abs(dir); err != nil || abs == "/" {
			t.Fatal("no go.mod above this directory")
		}
	}
}

// Violations checks a value against the part of JSON Schema that the schema uses.
func Violations(path string, schema map[string]any, v any) []string {
	var found []string
	kind := kindOfJSON(v)
	if !slices.Contains(words(schema["type"]), kind) && (kind != "integer" || !slices.Contains(words(schema["type"]), "number")) {
		return []string{fmt.Sprintf("%s is of type %s, want %v", path, kind, schema["type"])}
	}
	if enum := words(schema["enum"]); enum != nil && !slices.Contains(enum, v.(string)) {
		found = append(found, fmt.Sprintf("%s is %q, want one of %q", path, v, enum))
	}
	switch v := v.(type) {
	case []any:
		for i, item := range v {
			found = append(found, Violations(fmt.Sprintf("%s[%d]", path, i), schema["items"].(map[string]any), item)...)
		}
	case map[string]any:
		properties, _ := schema["properties"].(map[string]any)
		others, _ := schema["additionalProperties"].(map[string]any)
		for _, name := range words(schema["required"]) {
			if _, ok := v[name]; !ok {
				found = append(found, path+"."+name+" is missing")
			}
		}
		for _, name := range slices.Sorted(maps.Keys(v)) {
			property, known := properties[name].(map[string]any)
			if !known {
				property, known = others, others != nil
			}
			if !known {
				found = append(found, path+"."+name+" is not in the schema")
				continue
			}
			found = append(found, Violations(path+"."+name, property, v[name])...)
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
