package main_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
	"golang.org/x/sys/unix"
)

func cmdParallel(ts *testscript.TestScript, neg bool, args []string) {
	need(ts, !neg && len(args) >= 2, "parallel N prog args…")
	n, err := strconv.Atoi(args[0])
	ts.Check(err)
	outs, errs := make([]bytes.Buffer, n), make([]error, n)
	env := environ(ts)
	var wg sync.WaitGroup
	for i := range n {
		line := make([]string, 0, len(args))
		for _, a := range args[1:] {
			line = append(line, strings.ReplaceAll(a, "{}", strconv.Itoa(i+1)))
		}
		cmd := program(worldOf(ts).t.Context(), ts, env, line)
		cmd.Stdout, cmd.Stderr = &outs[i], &outs[i]
		wg.Go(func() { errs[i] = cmd.Run() })
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
	ctx, cancel := context.WithTimeout(worldOf(ts).t.Context(), after)
	defer cancel()
	var out bytes.Buffer
	cmd := program(ctx, ts, environ(ts), args[1:])
	cmd.Stdout, cmd.Stderr = &out, &out
	err = cmd.Run()
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
		w := worldOf(ts)
		found := w.processes(func(p process) bool { return match.MatchString(p.command) })
		if len(found) == 0 {
			ts.Fatalf("no such process")
		}
		for _, p := range found {
			_ = syscall.Kill(p.pid, sig)
		}
		// A search for the next one must not find these.
		there := func(p process) bool {
			return slices.ContainsFunc(found, func(f process) bool { return f.pid == p.pid })
		}
		if sig == unix.SIGKILL && !w.poll(eventually, func() bool { return len(w.processes(there)) == 0 }) {
			ts.Fatalf("still there:\n%s", list(w.processes(there)))
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

// lookup returns a value in JSON, a string without its quotes. It returns "missing" for a
// value that does not exist.
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
			if key == "len" {
				return strconv.Itoa(len(v))
			}
			i, err := strconv.Atoi(key)
			if err != nil || i >= len(v) {
				return "missing"
			}
			value = v[i]
		case map[string]any:
			if key == "len" {
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
