package main_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
	"golang.org/x/sys/unix"
)

// start starts a program as exec does, with its output in out.
func start(ts *testscript.TestScript, out *bytes.Buffer, args []string) (*exec.Cmd, error) {
	path := args[0]
	if !strings.Contains(path, "/") {
		for dir := range strings.SplitSeq(ts.Getenv("PATH"), string(os.PathListSeparator)) {
			if _, err := os.Stat(dir + "/" + path); err == nil {
				path = dir + "/" + path
				break
			}
		}
	}
	cmd := exec.CommandContext(worldOf(ts).t.Context(), path, args[1:]...)
	cmd.Dir = ts.MkAbs(".")
	cmd.Env = environ(ts)
	cmd.Stdout, cmd.Stderr = out, out
	return cmd, cmd.Start()
}

// environ is the script's environment, which testscript has no accessor for.
func environ(ts *testscript.TestScript) []string {
	ts.Check(ts.Exec("env", "-0"))
	return strings.Split(strings.TrimSuffix(ts.ReadFile("stdout"), "\x00"), "\x00")
}

func cmdParallel(ts *testscript.TestScript, neg bool, args []string) {
	need(ts, !neg && len(args) >= 2, "parallel N prog args…")
	n, err := strconv.Atoi(args[0])
	ts.Check(err)
	outs, errs := make([]bytes.Buffer, n), make([]error, n)
	var wg sync.WaitGroup
	for i := range n {
		line := make([]string, 0, len(args))
		for _, a := range args[1:] {
			line = append(line, strings.ReplaceAll(a, "{}", strconv.Itoa(i+1)))
		}
		cmd, err := start(ts, &outs[i], line)
		if err != nil {
			errs[i] = err
			continue
		}
		wg.Go(func() { errs[i] = cmd.Wait() })
	}
	wg.Wait()
	for i := range n {
		_, _ = outs[i].WriteTo(ts.Stdout())
		if errs[i] != nil {
			errs[i] = fmt.Errorf("%d: %w", i+1, errs[i])
		}
	}
	ts.Check(errors.Join(errs...))
}

func cmdKillAfter(ts *testscript.TestScript, neg bool, args []string) {
	need(ts, !neg && len(args) >= 2, "killafter D prog args…")
	after, err := time.ParseDuration(args[0])
	ts.Check(err)
	var out bytes.Buffer
	cmd, err := start(ts, &out, args[1:])
	ts.Check(err)
	timer := time.AfterFunc(after, func() { _ = cmd.Process.Kill() })
	err = cmd.Wait()
	timer.Stop()
	_, _ = out.WriteTo(ts.Stdout())
	ts.Logf("ended: %v", err)
}

func cmdSignal(ts *testscript.TestScript, neg bool, args []string) {
	need(ts, !neg && len(args) == 2, "signal NAME FILE|PID|/RE/")
	sig := unix.SignalNum("SIG" + args[0])
	if sig == 0 {
		ts.Fatalf("unknown signal %s", args[0])
	}
	if re, ok := strings.CutPrefix(args[1], "/"); ok && strings.HasSuffix(re, "/") {
		match := pattern(ts, strings.TrimSuffix(re, "/"))
		found := worldOf(ts).processes(func(p process) bool { return match.MatchString(p.command) })
		if len(found) == 0 {
			ts.Fatalf("no such process")
		}
		for _, p := range found {
			_ = syscall.Kill(p.pid, sig)
		}
		return
	}
	pid, _ := pidFile(ts, args[1])
	if pid == 0 {
		ts.Fatalf("no pid in %s", args[1])
	}
	ts.Check(syscall.Kill(pid, sig))
}

func cmdJSON(ts *testscript.TestScript, neg bool, args []string) {
	need(ts, len(args) == 3, "[!] json FILE PATH VALUE")
	got := lookup(ts, args[0], args[1])
	if (got == args[2]) == neg {
		ts.Fatalf("%s is %s", args[1], got)
	}
}

func cmdJSONEnv(ts *testscript.TestScript, neg bool, args []string) {
	need(ts, !neg && len(args) == 3, "jsonenv VAR FILE PATH")
	ts.Setenv(args[0], lookup(ts, args[1], args[2]))
}

// lookup returns a value in JSON, a string without its quotes. What is not
// there is "missing".
func lookup(ts *testscript.TestScript, file, path string) string {
	dec := json.NewDecoder(strings.NewReader(ts.ReadFile(file)))
	dec.UseNumber()
	var value any
	ts.Check(dec.Decode(&value))
	if dec.More() {
		ts.Fatalf("%s holds more than one JSON value", file)
	}
	for key := range strings.SplitSeq(path, ".") {
		switch v := value.(type) {
		case []any:
			if key == "#" {
				return strconv.Itoa(len(v))
			}
			i, err := strconv.Atoi(key)
			if err != nil || i >= len(v) {
				return "missing"
			}
			value = v[i]
		case map[string]any:
			if key == "#" {
				return strconv.Itoa(len(v))
			}
			next, ok := v[key]
			if !ok {
				return "missing"
			}
			value = next
		default:
			return "missing"
		}
	}
	if s, ok := value.(string); ok {
		return s
	}
	text, err := json.Marshal(value)
	ts.Check(err)
	return string(text)
}

func cmdEdit(ts *testscript.TestScript, neg bool, args []string) {
	need(ts, !neg && len(args) == 3, "edit FILE RE TEXT")
	re, err := regexp.Compile(args[1])
	ts.Check(err)
	text := ts.ReadFile(args[0])
	if !re.MatchString(text) {
		ts.Fatalf("%s does not match:\n%s", args[0], text)
	}
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), []byte(re.ReplaceAllString(text, args[2])), 0o600))
}

func cmdPoke(ts *testscript.TestScript, neg bool, args []string) {
	need(ts, !neg && len(args) == 3, "poke FILE OFFSET|end BYTES")
	file := ts.MkAbs(args[0])
	if args[1] == "end" {
		size, err := strconv.ParseInt(args[2], 10, 64)
		ts.Check(err)
		ts.Check(os.Truncate(file, size))
		return
	}
	offset, err := strconv.ParseInt(args[1], 10, 64)
	ts.Check(err)
	text, err := strconv.Unquote(`"` + args[2] + `"`)
	ts.Check(err)
	f, err := os.OpenFile(file, os.O_WRONLY, 0)
	ts.Check(err)
	defer f.Close()
	_, err = f.WriteAt([]byte(text), offset)
	ts.Check(err)
}
