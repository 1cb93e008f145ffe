package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/swarmhost/swarm/shared/plugin/plugintest/workspacetest"
	"github.com/swarmhost/swarm/shared/swarm"
)

// base returns a directory that workspaces can be made next to.
func base(t workspacetest.T) string {
	dir := filepath.Join(t.TempDir(), "it's a base")
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatalf("%v", err)
	}
	return dir
}

// TestContract runs the conformance kit on the plugin, in this process.
func TestContract(t *testing.T) {
	workspacetest.Run(t, workspacetest.Workspace{New: func(workspacetest.T) swarm.Workspace { return workspace{} }, Base: base})
}

// TestBinary runs the kit on the built plugin, started as swarm starts it.
func TestBinary(t *testing.T) {
	program := filepath.Join(t.TempDir(), "swarm-plugin-scratch")
	if out, err := exec.Command("go", "build", "-o", program, ".").CombinedOutput(); err != nil {
		t.Fatalf("build: %v\n%s", err, out)
	}
	workspacetest.RunBinary(t, workspacetest.Binary{Path: program, Base: base})
}
