// Command swarm-plugin-notes offers tools to people and agents: they write notes and find them
// again. Make it your own: the tools are the table below, what they do is CallTool.
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"strings"

	"github.com/swarmhost/swarm/shared/plugin"
	"github.com/swarmhost/swarm/shared/swarm"
)

var tools = []swarm.Tool{{
	Name: "search", Title: "Search notes", Description: "Return the notes that contain a text, the oldest first. Without a text: all notes.",
	Input:    []byte(`{"type": "object", "properties": {"text": {"type": "string"}}, "additionalProperties": false}`),
	Output:   []byte(`{"type": "object", "properties": {"notes": {"type": "array", "items": {"type": "string"}}}, "required": ["notes"]}`),
	ReadOnly: true, Right: swarm.RightAnyone,
}, {
	Name: "add", Title: "Add a note", Description: "Write down a note for everyone, one line. The author is added.",
	Input: []byte(`{"type": "object", "properties": {"text": {"type": "string", "pattern": "^[^\\n]+$"}}, "required": ["text"], "additionalProperties": false}`),
	Right: swarm.RightMember, // a person, and the agents of teams
}}

// notes implements [swarm.Toolbox]. Its fields are the table [plugins.notes.config] of the
// user's config. It remembers nothing else: each call may come to another process.
type notes struct {
	File string `json:"file" help:"The file that holds the notes."`
}

func (n *notes) ListTools(context.Context) ([]swarm.Tool, error) { return tools, nil }

// CallTool is called with input that fits the schema, by a caller that has the tool's right.
func (n *notes) CallTool(_ context.Context, c swarm.ToolCall) ([]byte, error) {
	var input struct{ Text string }
	if err := json.Unmarshal(c.Input, &input); err != nil {
		return nil, fmt.Errorf("%w: %w", swarm.ErrInvalidSpec, err)
	}
	switch c.Name {
	case "search":
		data, err := os.ReadFile(n.File)
		if err != nil && !os.IsNotExist(err) {
			return nil, err
		}
		found := []string{}
		for line := range strings.Lines(string(data)) {
			if strings.Contains(line, input.Text) {
				found = append(found, strings.TrimSuffix(line, "\n"))
			}
		}
		return json.Marshal(map[string]any{"notes": found})
	case "add":
		author := "a person"
		if c.Caller.Worker != "" {
			author = c.Caller.Worker
		}
		file, err := os.OpenFile(n.File, os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o600)
		if err != nil {
			return nil, err
		}
		defer file.Close()
		_, err = fmt.Fprintf(file, "%s: %s\n", author, input.Text)
		return []byte("{}"), err
	}
	return nil, fmt.Errorf("tool '%s': %w", c.Name, swarm.ErrNotFound)
}

// version is that of the plugin; package.sh sets the one of a release.
var version = "0.1.0"

func main() {
	plugin.Serve(plugin.Options{
		Name:     "notes",
		Version:  version,
		Settings: plugin.SchemaOf[notes](),
		Tools: func(_ context.Context, env plugin.Env) (swarm.Toolbox, error) {
			n := &notes{File: os.Getenv("HOME") + "/.notes"}
			return n, env.Config.Decode(n)
		},
	})
}
