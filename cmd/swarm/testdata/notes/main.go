// Notes is a plugin that offers tools, some of which break the contract or fail. If the file LIST
// is next to it, the list itself is broken.
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"

	"github.com/swarmhost/swarm/shared/plugin"
	"github.com/swarmhost/swarm/shared/swarm"
)

func main() {
	plugin.Serve(plugin.Options{
		Name: "notes", Version: "1",
		Tools: func(context.Context, plugin.Env) (swarm.Toolbox, error) { return notes{}, nil },
	})
}

type notes struct{}

const text = `{"type": "object", "properties": {"text": {"type": "string"}}, "additionalProperties": false}`

func (notes) ListTools(context.Context) ([]swarm.Tool, error) {
	tools := []swarm.Tool{
		{
			Name: "search", Title: "Search \x1b[31mnotes", Description: "Return the notes with a text.\x07", ReadOnly: true, Right: swarm.RightAnyone,
			Input: []byte(text), Output: []byte(`{"type": "object", "properties": {"notes": {"type": "array", "items": {"type": "string"}}}, "required": ["notes"]}`),
		},
		{Name: "whoami", Description: "Return the caller.", ReadOnly: true, Right: swarm.RightAnyone},
		{Name: "member", Description: "For members of teams.", Right: swarm.RightMember},
		{Name: "secret", Description: "For a person alone."},
		{Name: "future", Description: "For a person alone, too.", Right: "from the future"},
		{Name: "fail", Description: "Fail.", Right: swarm.RightAnyone},
		{Name: "wrong", Description: "Break the schema.", Output: []byte(`{"type": "object", "required": ["x"]}`), Right: swarm.RightAnyone},
		{Name: "die", Description: "End the plugin.", Destructive: true, Right: swarm.RightAnyone},
		{Name: "die-once", Description: "End the plugin, but not twice.", Idempotent: true, Right: swarm.RightAnyone},
	}
	if exists("LIST") {
		tools[1].Input = []byte(`{"type": "object", "$ref": "#"}`)
	}
	return tools, nil
}

func (notes) CallTool(_ context.Context, c swarm.ToolCall) ([]byte, error) {
	switch c.Name {
	case "search":
		return []byte(`{"notes": ["ship the release", "buy milk"]}`), nil
	case "whoami":
		return json.Marshal(c.Caller)
	case "fail":
		return nil, fmt.Errorf("%w: there is no note \x1b[31mred", swarm.ErrInvalidSpec)
	case "wrong":
		return []byte(`{}`), nil
	case "die":
		fmt.Fprintln(os.Stderr, "notes: the disk is full")
		os.Exit(3)
	case "die-once":
		if !exists("DIED") {
			_ = os.WriteFile(own("DIED"), nil, 0o600)
			os.Exit(3)
		}
	}
	return []byte(`{}`), nil
}

func exists(file string) bool {
	_, err := os.Stat(own(file))
	return err == nil
}

// own returns the path of a file in the plugin's folder.
func own(file string) string {
	path, _ := os.Executable()
	return filepath.Join(filepath.Dir(path), file)
}
