package main

import (
	"os"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// docs/tools.schema.json is what the program says now.
func TestToolSchemas(t *testing.T) {
	t.Parallel()
	want, err := os.ReadFile("../../docs/tools.schema.json")
	if err != nil {
		t.Fatal(err)
	}
	code, stdout, stderr := call("tool", "schema", "--all")
	if code != 0 {
		t.Fatalf("exit code %d: %s", code, stderr)
	}
	if diff := cmp.Diff(string(want), stdout); diff != "" {
		t.Errorf("run 'go run ./cmd/swarm tool schema --all > docs/tools.schema.json' (-there +now):\n%s", diff)
	}
}
