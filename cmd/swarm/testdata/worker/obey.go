package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"time"
)

// The socket that an obedient worker listens on is named relative to the working
// directory, which may have a name that is too long for one.
func socket(dir string) string { return filepath.Join(dir, "ask") }

// answer is what came of a command.
type answer struct {
	Out, Err []byte
	Code     int
}

// obey runs the commands that ask sends, one after the other.
func obey(dir string) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		fail(err.Error())
	}
	if err := os.Remove(socket(dir)); err != nil && !errors.Is(err, os.ErrNotExist) {
		fail(err.Error())
	}
	l, err := net.Listen("unix", socket(dir))
	if err != nil {
		fail(err.Error())
	}
	ready(dir, "pid")
	for {
		c, err := l.Accept()
		if err != nil {
			fail(err.Error())
		}
		var command string
		if json.NewDecoder(c).Decode(&command) == nil {
			_ = json.NewEncoder(c).Encode(shell(command)) // who asked may be gone
		}
		_ = c.Close()
	}
}

func shell(command string) answer {
	var out, errs bytes.Buffer
	cmd := exec.Command("sh", "-c", command)
	cmd.Stdout, cmd.Stderr = &out, &errs
	err := cmd.Run()
	if _, ok := errors.AsType[*exec.ExitError](err); err != nil && !ok {
		fail(err.Error())
	}
	return answer{Out: out.Bytes(), Err: errs.Bytes(), Code: cmd.ProcessState.ExitCode()}
}

// ask has an obedient worker run a command, as soon as it is ready to, and does as
// the command did.
func ask(dir, command string) {
	limit := time.After(20 * time.Second)
	tick := time.NewTicker(20 * time.Millisecond)
	for {
		c, err := net.Dial("unix", socket(dir))
		if err == nil {
			give(c, command)
		}
		select {
		case <-limit:
			fail(err.Error())
		case <-tick.C:
		}
	}
}

func give(c net.Conn, command string) {
	if err := json.NewEncoder(c).Encode(command); err != nil {
		fail(err.Error())
	}
	var a answer
	if err := json.NewDecoder(c).Decode(&a); err != nil {
		fail("no answer: " + err.Error())
	}
	_, _ = os.Stdout.Write(a.Out)
	_, _ = os.Stderr.Write(a.Err)
	os.Exit(a.Code)
}
