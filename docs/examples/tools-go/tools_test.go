package main

import (
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/swarmhost/swarm/shared/plugin/plugintest/toolstest"
	"github.com/swarmhost/swarm/shared/swarm"
)

// calls are what the conformance kit calls; each has to succeed.
var calls = []toolstest.Call{
	{Tool: "search", Input: `{}`},
	{Tool: "search", Input: `{"text": "milk"}`},
	{Tool: "add", Input: `{"text": "buy milk"}`},
}

// TestContract runs the conformance kit on the tools, in this process.
func TestContract(t *testing.T) {
	file := filepath.Join(t.TempDir(), "notes")
	toolstest.Run(t, toolstest.Tools{
		New:   func(toolstest.T) swarm.Toolbox { return &notes{File: file} },
		Calls: calls,
	})
}

// TestBinary runs the kit on the built plugin, started as swarm starts it.
func TestBinary(t *testing.T) {
	program := filepath.Join(t.TempDir(), "swarm-plugin-notes")
	if out, err := exec.Command("go", "build", "-o", program, ".").CombinedOutput(); err != nil {
		t.Fatalf("build: %v\n%s", err, out)
	}
	toolstest.RunBinary(t, toolstest.Binary{Path: program, Calls: calls, Env: []string{"HOME=" + t.TempDir()}})
}
