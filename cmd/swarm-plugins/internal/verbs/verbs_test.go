package verbs

import (
	"bytes"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const (
	page = "../../../../docs/shim.md"
	shim = "../../../swarm-shim/main.go"
)

// TestVerbsAreDocumented compares the verbs with the page and with those that the shim passes on.
func TestVerbsAreDocumented(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	got := make(map[string]string)
	for _, row := range regexp.MustCompile("(?m)^\\| `(\\w+)` \\| `([A-Z]\\w+)` \\| `(.*?)`").FindAllStringSubmatch(string(text), -1) {
		got[row[1]] = row[2] + " " + row[3]
	}
	want := make(map[string]string)
	for name, v := range verbs {
		args := v.args
		if args == "" {
			args = "--request"
		}
		want[name] = v.method + " " + args
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("the verbs of the page (-code +page):\n%s", diff)
	}

	source, err := os.ReadFile(shim)
	if err != nil {
		t.Fatal(err)
	}
	_, list, _ := strings.Cut(string(source), "var verbs = []string{")
	list, _, _ = strings.Cut(list, "}")
	var passed []string
	for _, word := range regexp.MustCompile(`"(\w+)"`).FindAllStringSubmatch(list, -1) {
		passed = append(passed, word[1])
	}
	known := slices.Sorted(maps.Keys(verbs))
	known = slices.Insert(known, slices.Index(known, "kill"), "help")
	if diff := cmp.Diff(known, passed); diff != "" {
		t.Errorf("the verbs that the shim passes on (-code +shim):\n%s", diff)
	}
}

func TestUsage(t *testing.T) {
	t.Parallel()
	for line, want := range map[string]string{
		"dance":                              "there is no verb 'dance'",
		"status":                             "expected: swarm-shim status DIR...",
		"start w":                            "expected: swarm-shim start DIR -- COMMAND...",
		"start -- w true":                    "expected: swarm-shim start DIR -- COMMAND...",
		"signal w":                           "expected: swarm-shim signal DIR SIGNAL",
		"logs a b":                           "expected: swarm-shim logs DIR",
		"find":                               "find takes its request from the standard input only: add --request",
		"kill --request w":                   "with --request there are no arguments, got 'w'",
		"send --kind noise w":                "--kind is 'noise'",
		"logs --since yesterday w":           "--since is 'yesterday'",
		"status --follow w":                  "unknown flag: --follow",
		"kill --grace long w":                `invalid argument "long"`,
		"status" + strings.Repeat(" w", 501): "expected: swarm-shim status DIR...",
	} {
		var out, errs bytes.Buffer
		code := Run(strings.Fields(line), strings.NewReader(""), &out, &errs)
		if code != exitUsage || !strings.Contains(errs.String(), want) || out.Len() > 0 {
			t.Errorf("%.40s: code %d, %s%s", line, code, errs.String(), out.String())
		}
	}
	for _, line := range []string{"", "help", "--help"} {
		var out, errs bytes.Buffer
		if code := Run(strings.Fields(line), nil, &out, &errs); code != exitDone || !strings.Contains(out.String(), "  complete  record") {
			t.Errorf("'%s': code %d, %s%s", line, code, errs.String(), out.String())
		}
	}
}

// TestMessages compares what flags and arguments become.
func TestMessages(t *testing.T) {
	t.Parallel()
	const handle = `{"data":"eyJpZCI6InciLCJkaXIiOiIvcnVuL3cifQ==","version":1}`
	for line, want := range map[string]string{
		"status /run/w /run/w":                        `{"handles":[` + handle + `,` + handle + `]}`,
		"wait /run/./w/":                              `{"handles":[` + handle + `]}`,
		"signal /run/w SIGUSR1 --main":                `{"handle":` + handle + `,"mode":"KILL_MODE_MAIN","signal":"SIGUSR1"}`,
		"send --enter /run/w":                         `{"data":"aW5wdXQ=","enter":true,"handle":` + handle + `,"kind":"INPUT_KIND_UNSPECIFIED"}`,
		"send --kind eof /run/w":                      `{"enter":false,"handle":` + handle + `,"kind":"INPUT_KIND_EOF"}`,
		"logs --tail 0 --stream stdout /run/w":        `{"follow":false,"handle":` + handle + `,"stream":"stdout","tail":0}`,
		"logs --since 2026-01-31T12:00:00Z -- /run/w": `{"follow":false,"handle":` + handle + `,"since":"2026-01-31T12:00:00Z","stream":""}`,
		"kill --grace 1m30.5s --no-force /run/w": `{"items":[{"handle":` + handle +
			`,"options":{"detach":false,"force":false,"grace":"90.500000000s","mode":"KILL_MODE_UNSPECIFIED","signal":""}}]}`,
		"pause --request": "input",
	} {
		args := strings.Fields(line)
		c := command{name: args[0], verb: verbs[args[0]], in: strings.NewReader("input")}
		var errs bytes.Buffer
		if err := c.parse(args[1:], &errs); err != nil {
			t.Errorf("%s: %v", line, err)
			continue
		}
		if got, err := c.message(); err != nil || string(got) != want {
			t.Errorf("%s: %v\n%s\nwant\n%s", line, err, got, want)
		}
	}
}

// TestTexts compares what people see of answers.
func TestTexts(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		verb, answer, want string
		failed             bool
	}{
		{"status", `{"results":[{"status":{"state":"STATE_RUNNING","pid":"7"}},{"error":{"message":"gone"}}]}`, "a running pid 7\nb error: gone\n", true},
		{"status", `{"results":[{"status":{"state":"STATE_LOST","pid":"0","reason":"shim died\u001b"}}]}`, "a lost: shim died\\x1b\n", false},
		{"kill", `{"index":1,"result":{"status":{"state":"STATE_EXITED","exit":{"code":"-1","signal":"SIGTERM","cause":"killed"}}}}`, "b exited signal SIGTERM (killed)\n", false},
		{"kill", `{"index":0,"result":{},"error":{"message":"survivors"}}`, "a error: survivors\n", true},
		{"wait", `{"status":{"state":"STATE_RUNNING"}}`, "", false},
		{"wait", `{"status":{"state":"STATE_EXITED","exit":{"code":"3","cause":"exited"}}}`, "a exited code 3 (exited)\n", false},
		{"watch", `{"index":1,"status":{"state":"STATE_RUNNING","pid":"0","reason":"starts again in 1s"}}`, "b running: starts again in 1s\n", false},
		{"watch", `{"last":true}`, "", false},
		{"start", `{"handle":{}}`, "a started\n", false},
		{"send", `{"pending":true}`, "a has not read the input yet\n", false},
		{"logs", `{"pieces":[{"data":"b25l"},{"data":"dHc=","partial":true},{"data":"bw=="}]}`, "one\ntwo\n", false},
	} {
		var out bytes.Buffer
		c := command{name: test.verb, verb: verbs[test.verb], ids: []string{"a", "b"}, out: &out}
		if err := c.print([]byte(test.answer)); err != nil || out.String() != test.want || c.failed != test.failed {
			t.Errorf("%s %s: %v, failed %v: %q", test.verb, test.answer, err, c.failed, out.String())
		}
	}
}
