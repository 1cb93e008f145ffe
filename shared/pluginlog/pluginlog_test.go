package pluginlog_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/hashicorp/go-hclog"

	"github.com/swarmhost/swarm/shared/pluginlog"
)

// Every level is kept, in whatever way a logger writes it.
func TestLevels(t *testing.T) {
	t.Parallel()
	for line, want := range map[string]string{
		`{"@level":"trace","@message":"m","@timestamp":"2026-11-27T07:17:39.000000Z"}`: "[TRACE] m",
		`{"@level":"info","@message":"m","k":1}`:                                       "[INFO]  m: k=1",
		`{"@level":"WARN","@message":"m"}`:                                             "[WARN]  m",
		`{"@level":"Warning","@message":"m"}`:                                          "[WARN]  m",
		`{"@level":"error","@message":"m","error":"e"}`:                                "[ERROR] m: error=e",
		`{"@level":"fatal","@message":"m"}`:                                            "[ERROR] m",
		`{"@level":"odd","@message":"m"}`:                                              "[DEBUG] m",
		`{"@level":7,"@message":null}`:                                                 "[TRACE]",
		`{"time":"2026-11-27T07:17:39Z","level":"ERROR+2","msg":"m"}`:                  "[ERROR] m: timestamp=2026-11-27T07:17:39Z",
		`{"level":"INFO","msg":"m"}`:                                                   "[INFO]  m",
		`{"severity":"CRITICAL","message":"m"}`:                                        "[ERROR] m",
		`{"level":40,"msg":"m"}`:                                                       "[WARN]  m",
		`{"level":50,"msg":"m"}`:                                                       "[ERROR] m",
		`{"color":"red"}`:                                                              `[DEBUG] {"color":"red"}`,
		`{"@level":`:                                                                   `[DEBUG] {"@level":`,
		`[WARN] m`:                                                                     "[WARN]  [WARN] m",
		`2026-11-27T07:17:39.000Z [ERROR] x: m`:                                        "[ERROR] 2026-11-27T07:17:39.000Z [ERROR] x: m",
		`time=2026-11-27T07:17:39Z level=WARN msg=m`:                                   "[WARN]  time=2026-11-27T07:17:39Z level=WARN msg=m",
		`plain`:             "[DEBUG] plain",
		`see [error] below`: "[DEBUG] see [error] below",
		`panic: boom`:       "[ERROR] panic: boom",
	} {
		var out bytes.Buffer
		r := pluginlog.Reader{Logger: hclog.New(&hclog.LoggerOptions{Output: &out, Level: hclog.Trace, DisableTime: true})}
		_, _ = r.Write([]byte(line[:3]))
		_, _ = r.Write([]byte(line[3:] + "\r\n"))
		got := strings.TrimSpace(out.String())
		// hclog ends a message without arguments of its own with a colon if a time follows.
		if cut, _, ok := strings.Cut(got, ": timestamp=2026-11-27T07:17:39.000000Z"); ok {
			got = cut
		}
		if got = strings.TrimSuffix(got, " :"); got != want {
			t.Errorf("%s\n is logged as %q, want %q", line, got, want)
		}
	}
}

const goTrace = "panic: out of luck\n\ngoroutine 7 [running]:\nmain.main()\n\t/src/main.go:7 +0x1d\nexit status 2\n"

// Text of common loggers, each at its level, and lines that do not belong to a log.
func TestTextOfLoggers(t *testing.T) {
	t.Parallel()
	for line, want := range map[string]string{
		"2026-01-02 10:00:00 INFO text":                                "INFO",
		"2026/01/02 10:00:00 WARN text k=v":                            "WARN",
		"2026-01-02 10:00:00,123 - name - WARNING - text":              "WARN",
		"2026-01-02 10:00:00,123 DEBUG [main] text":                    "DEBUG",
		"10:00:00.123 [main] ERROR com.example - text":                 "ERROR",
		"[2026-01-02 10:00:00 +0000] [1234] [INFO] text":               "INFO",
		"[2026-01-02T10:00:00Z INFO  crate] text":                      "INFO",
		"2026-01-02T10:00:00Z\tINFO\tmain.go:3\ttext":                  "INFO",
		"\x1b[2m2026-01-02T10:00:00Z\x1b[0m \x1b[33m WARN\x1b[0m c: t": "WARN",
		"10:00AM INF text":                                             "INFO",
		"INFO:root:text":                                               "INFO",
		"ERROR:root:text":                                              "ERROR",
		"CRITICAL:root:text":                                           "ERROR",
		"WARN[0003] text":                                              "WARN",
		"warning: text":                                                "WARN",
		"E0102 10:00:00.123456    1234 file.go:12] text":               "ERROR",
		"error: no engine":                                             "",
		"Error: no engine":                                             "",
		"fatal: no engine":                                             "",
		"2026/01/02 10:00:00 no engine":                                "",
		"there is no engine, see ERROR below":                          "",
		"ValueError: no engine":                                        "",
		"404: no engine":                                               "",
	} {
		var out bytes.Buffer
		r := pluginlog.Reader{Logger: hclog.New(&hclog.LoggerOptions{Output: &out, Level: hclog.Trace, DisableTime: true})}
		_, _ = r.Write([]byte(line + "\n"))
		if want == "" {
			if got := r.Cause(false); got != line {
				t.Errorf("%s: the cause is %q", line, got)
			}
			continue
		}
		if got := out.String(); !strings.HasPrefix(got, "["+want+"] ") || strings.Contains(got, "\x1b") {
			t.Errorf("%s: logged as %q", line, got)
		}
		_, _ = r.Write([]byte("no engine\n" + line + "\n"))
		if got := r.Cause(false); got != "no engine" {
			t.Errorf("%s: the cause is %q", line, got)
		}
	}
}

// The cause of an end is the line that says it, wherever it is among log entries and traces.
func TestCause(t *testing.T) {
	t.Parallel()
	const entry = `{"@level":"trace","@message":"a trace"}` + "\n"
	long := strings.Repeat("main.f()\n\t/src/main.go:8 +0x1d\n", 10000)
	for name, c := range map[string]struct{ in, want, early string }{
		"nothing":                     {"", "", ""},
		"a line":                      {"starting\nno engine here\n", "no engine here", ""},
		"a line without its end":      {"starting\nno engine here", "no engine here", ""},
		"entries alone":               {entry, "", ""},
		"a line before entries":       {"no engine here\n" + entry + entry, "no engine here", ""},
		"an error is not a cause":     {`{"@level":"error","@message":"m","error":"e"}` + "\n", "", "m: e"},
		"a fatal entry":               {`{"level":"fatal","msg":"m"}` + "\n" + entry, "m", ""},
		"text of slog":                {"time=1 level=ERROR msg=m\nno engine here\ntime=2 level=INFO msg=n\n", "no engine here", ""},
		"log.Fatal":                   {"2026/11/27 07:17:39 no engine here\n", "2026/11/27 07:17:39 no engine here", ""},
		"go":                          {"starting\n" + goTrace, "panic: out of luck", ""},
		"go with entries":             {goTrace + entry, "panic: out of luck", ""},
		"go with a long trace":        {"panic: out of luck\n\ngoroutine 1 [running]:\n" + long, "panic: out of luck", ""},
		"go caught one before":        {goTrace + entry + "no engine here\n", "no engine here", ""},
		"go deadlock":                 {"fatal error: all goroutines are asleep - deadlock!\n\ngoroutine 1 [select (no cases)]:\nmain.main()\n", "fatal error: all goroutines are asleep - deadlock!", ""},
		"python":                      {"Traceback (most recent call last):\n  File \"x\", line 1\n    f()\nValueError: no engine\n", "ValueError: no engine", ""},
		"node":                        {"/x.js:1\nthrow new Error('no engine')\n^\n\nError: no engine\n    at f (/x.js:1:7)\n\nNode.js v20.11.0\n", "Error: no engine", ""},
		"rust":                        {"thread 'main' panicked at src/main.rs:2:5:\nno engine\nnote: run with `RUST_BACKTRACE=1` environment variable\n", "thread 'main' panicked at src/main.rs:2:5: no engine", ""},
		"shell":                       {"+ f\n/x: line 3: f: command not found\n", "/x: line 3: f: command not found", ""},
		"an indented line is a stack": {"no engine here\n\tat f\n", "no engine here", ""},
	} {
		var r pluginlog.Reader
		for len(c.in) > 0 {
			n := min(len(c.in), 1000)
			_, _ = r.Write([]byte(c.in[:n]))
			c.in = c.in[n:]
		}
		if got := r.Cause(false); got != c.want {
			t.Errorf("%s: the cause is %q, want %q", name, got, c.want)
		}
		want := c.want
		if c.early != "" {
			want = c.early
		}
		if got := r.Cause(true); got != want {
			t.Errorf("%s: the cause of an early end is %q, want %q", name, got, want)
		}
	}
}

func TestText(t *testing.T) {
	t.Parallel()
	for line, want := range map[string]string{
		`{"@level":"warn","@message":"m","@timestamp":"2026-11-27T07:17:39.000000Z","k":1,"a":"b c"}`: "2026-11-27T07:17:39.000000Z [WARN] m: a=b c k=1",
		`{"level":"info","msg":"m"}`: "[INFO] m",
		`{"color":"red"}`:            `{"color":"red"}`,
		`{"@level":`:                 `{"@level":`,
		"  indented":                 "  indented",
	} {
		if got := pluginlog.Text(line); got != want {
			t.Errorf("%s is shown as %q, want %q", line, got, want)
		}
	}
}
