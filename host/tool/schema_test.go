package tool

import (
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/jsonschema-go/jsonschema"
)

// The schemas of the contracts, written down by hand in testdata.
func TestContracts(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name string
		// described says that the contract has descriptions of the input's fields.
		described bool
		// ours are fields of the output, asked of the input, that the contract lacks, all
		// of them optional; ofAgents are those of each agent.
		ours, asked, ofAgents []string
	}{
		{name: "kill-agent", described: true, ours: []string{"warnings"}, asked: []string{"wait"}},
		{name: "get-agent-status", described: true, ours: []string{"warnings"}, ofAgents: []string{"state", "question", "choices", "reason"}},
		{name: "KillShell"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			data, err := os.ReadFile(filepath.Join("testdata", test.name+".json"))
			if err != nil {
				t.Fatal(err)
			}
			var want struct{ Input, Output any }
			if err := json.Unmarshal(data, &want); err != nil {
				t.Fatal(err)
			}
			tool, _ := Find(test.name)
			input := asJSON(t, tool.Input())
			if !test.described {
				strip(input)
			}
			for _, name := range test.asked {
				if slices.Contains(tool.Input().Required, name) {
					t.Errorf("%s is not in the contract, and required", name)
				}
				delete(input.(map[string]any)["properties"].(map[string]any), name)
			}
			if diff := cmp.Diff(want.Input, input); diff != "" {
				t.Errorf("input (-contract +ours):\n%s", diff)
			}
			output := asJSON(t, tool.Output())
			strip(output)
			fields := output.(map[string]any)["properties"].(map[string]any)
			if agents, ok := fields["agents"].(map[string]any); ok {
				for _, name := range test.ofAgents {
					delete(agents["items"].(map[string]any)["properties"].(map[string]any), name)
				}
			}
			for _, name := range test.ours {
				if slices.Contains(tool.Output().Required, name) {
					t.Errorf("%s is not in the contract, and required", name)
				}
				delete(fields, name)
			}
			if diff := cmp.Diff(want.Output, output); diff != "" {
				t.Errorf("output (-contract +ours):\n%s", diff)
			}
		})
	}
}

// asJSON is a schema as a reader of its JSON has it.
func asJSON(t *testing.T, s *jsonschema.Schema) any {
	t.Helper()
	data, err := json.Marshal(s)
	if err != nil {
		t.Fatal(err)
	}
	var v any
	if err := json.Unmarshal(data, &v); err != nil {
		t.Fatal(err)
	}
	return v
}

// strip removes the descriptions from a schema.
func strip(v any) {
	switch v := v.(type) {
	case map[string]any:
		if _, ok := v["description"].(string); ok {
			delete(v, "description")
		}
		for _, part := range v {
			strip(part)
		}
	case []any:
		for _, part := range v {
			strip(part)
		}
	}
}

// Every field is described, and nothing is null.
func TestSchemas(t *testing.T) {
	t.Parallel()
	for _, tool := range All() {
		for part, s := range map[string]*jsonschema.Schema{"input": tool.Input(), "output": tool.Output()} {
			if _, err := s.Resolve(&jsonschema.ResolveOptions{ValidateDefaults: true}); err != nil {
				t.Errorf("%s: %s: %v", tool.Name, part, err)
			}
			for path, field := range fieldsOf(s, "") {
				if field.Description == "" {
					t.Errorf("%s: %s%s has no description", tool.Name, part, path)
				}
				if len(field.Types) > 0 {
					t.Errorf("%s: %s%s has the types %q", tool.Name, part, path, field.Types)
				}
			}
		}
		if !slices.Contains(tool.Output().Required, "success") || tool.Output().Properties["error"] == nil {
			t.Errorf("%s: an answer can't say that it failed", tool.Name)
		}
	}
}

func fieldsOf(s *jsonschema.Schema, path string) map[string]*jsonschema.Schema {
	fields := map[string]*jsonschema.Schema{}
	for name, field := range s.Properties {
		fields[path+"."+name] = field
		for _, part := range []*jsonschema.Schema{field, field.Items} {
			if part != nil {
				maps.Copy(fields, fieldsOf(part, path+"."+name))
			}
		}
	}
	return fields
}
