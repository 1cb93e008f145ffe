package ssh

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/swarmhost/swarm/shared/plugin"
	"github.com/swarmhost/swarm/shared/proc"
	"github.com/swarmhost/swarm/shared/swarm"
)

// Defaults returns the settings of an empty table.
func Defaults() (c Config) {
	if err := plugin.NewConfig(nil).Decode(&c); err != nil {
		panic(err)
	}
	return c
}

// clientOf returns a client whose ssh is a shell script.
func clientOf(t *testing.T, script string) (c *sshClient, dir string) {
	t.Helper()
	dir = t.TempDir()
	c = &sshClient{config: Defaults(), host: "anybox", env: []string{"PATH=" + os.Getenv("PATH"), "HOME=" + dir, "DIR=" + dir}}
	c.config.Program, c.config.ConnectTimeout, c.config.Persist = filepath.Join(dir, "ssh"), 3, 0
	// Another process writes it: a fork of a test next to this one could hold the open file, which
	// can't be run then.
	write := exec.CommandContext(t.Context(), "sh", "-c", `cat >"$0" && chmod 700 "$0"`, c.config.Program)
	write.Stdin = strings.NewReader("#!/bin/sh\n" + script)
	if out, err := write.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return c, dir
}

// TestSettingsThatHang has an ssh that runs a command without end to read its settings: the
// call ends, and so does the command.
func TestSettingsThatHang(t *testing.T) {
	t.Parallel()
	c, dir := clientOf(t, `sleep 600 & echo $! >"$DIR/pid"; wait`)
	_, err := c.start(t.Context(), "true")
	if !errors.Is(err, swarm.ErrUnavailable) || !strings.Contains(err.Error(), "did not end within 3s") {
		t.Errorf("start: %v", err)
	}
	text, err := os.ReadFile(filepath.Join(dir, "pid"))
	if errors.Is(err, os.ErrNotExist) {
		return // a busy machine: the command was not begun
	}
	if err != nil {
		t.Fatal(err)
	}
	pid, err := strconv.Atoi(strings.TrimSpace(string(text)))
	if err != nil {
		t.Fatal(err)
	}
	for until := time.Now().Add(20 * time.Second); ; time.Sleep(10 * time.Millisecond) {
		if p, err := proc.Read(pid); err != nil || !p.Alive() {
			return
		}
		if time.Now().After(until) {
			t.Fatalf("process %d is left", pid)
		}
	}
}

// TestSettingsAfterFailure has an ssh that fails to read its settings once: it is asked again.
func TestSettingsAfterFailure(t *testing.T) {
	t.Parallel()
	c, _ := clientOf(t, `[ -e "$DIR/asked" ] && { echo "stdinnull no"; echo "sendenv DIR"; exit; }; : >"$DIR/asked"; exit 255`)
	c.config.ConnectTimeout = 60
	for range 3 {
		if err := c.prepare(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	said := c.said()
	if !slices.Equal(said.plain, []string{"StdinNull=no"}) || !slices.Equal(said.unsent, []string{"DIR"}) {
		t.Errorf("%+v", said)
	}
}
