package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/swarmhost/swarm/shared/plugin/plugintest/notifiertest"
	"github.com/swarmhost/swarm/shared/swarm"
)

// received returns a function that returns what has arrived: all lines of the file.
func received(file string) func() string {
	return func() string {
		data, _ := os.ReadFile(file) // it may not be there yet
		return string(data)
	}
}

// TestContract runs the conformance kit on the notifier, in this process.
func TestContract(t *testing.T) {
	file := filepath.Join(t.TempDir(), "events")
	notifiertest.Run(t, notifiertest.Notifier{
		New:      func(notifiertest.T) swarm.Notifier { return &notifier{File: file} },
		Received: received(file),
	})
}

// TestBinary runs the kit on the built plugin, started as swarm starts it.
func TestBinary(t *testing.T) {
	program := filepath.Join(t.TempDir(), "swarm-plugin-journal")
	if out, err := exec.Command("go", "build", "-o", program, ".").CombinedOutput(); err != nil {
		t.Fatalf("build: %v\n%s", err, out)
	}
	home := t.TempDir()
	notifiertest.RunBinary(t, notifiertest.Binary{
		Path: program, Env: []string{"HOME=" + home}, Received: received(filepath.Join(home, ".journal")),
	})
}

// TestLater has a file that can't be written.
func TestLater(t *testing.T) {
	n := &notifier{File: filepath.Join(t.TempDir(), "none", "events")}
	a, err := n.Notify(t.Context(), swarm.Event{ID: "1", Kind: "FAILED"})
	if err != nil || a.Outcome != swarm.NotifyLater || a.Reason == "" {
		t.Errorf("%v, %v", a, err)
	}
}
