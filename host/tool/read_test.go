package tool

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestRead(t *testing.T) {
	t.Parallel()
	defaults := KillShellInput{Signal: "SIGTERM", Force: true, Timeout: 5000}
	with := func(change func(*KillShellInput)) KillShellInput {
		in := defaults
		in.ShellID = "x"
		change(&in)
		return in
	}
	for _, test := range []struct {
		name, input string
		want        KillShellInput
		// err is the text without "invalid input: "; empty: it fits.
		err string
	}{
		{"defaults", `{"shell_id":"x"}`, with(func(*KillShellInput) {}), ""},
		{"all", `{"shell_id":"x","signal":"SIGINT","force":false,"timeout":1}`, with(func(in *KillShellInput) {
			in.Signal, in.Force, in.Timeout = "SIGINT", false, 1
		}), ""},
		{"whole number with an exponent", `{"shell_id":"x","timeout":3e3}`, with(func(in *KillShellInput) { in.Timeout = 3000 }), ""},
		{"whole number with a point", `{"shell_id":"x","timeout":3000.0}`, with(func(in *KillShellInput) { in.Timeout = 3000 }), ""},
		{"space around", " {\"shell_id\":\"x\"}\n", with(func(*KillShellInput) {}), ""},
		{"the last of two", `{"shell_id":"y","shell_id":"x"}`, with(func(*KillShellInput) {}), ""},

		{"missing", `{}`, defaults, "shell_id: is required"},
		{"wrong signal", `{"shell_id":"x","signal":"SIGHUP"}`, with(func(*KillShellInput) {}), "signal: must be one of SIGTERM, SIGKILL, SIGINT"},
		{"signal without SIG", `{"shell_id":"x","signal":"TERM"}`, with(func(*KillShellInput) {}), "signal: must be one of SIGTERM, SIGKILL, SIGINT"},
		{"signal as a number", `{"shell_id":"x","signal":9}`, with(func(*KillShellInput) {}), "signal: must be one of SIGTERM, SIGKILL, SIGINT"},
		{"no time", `{"shell_id":"x","timeout":0}`, with(func(*KillShellInput) {}), "timeout: must be greater than 0"},
		{"negative", `{"shell_id":"x","timeout":-5}`, with(func(*KillShellInput) {}), "timeout: must be greater than 0"},
		{"half a millisecond", `{"shell_id":"x","timeout":0.5}`, with(func(*KillShellInput) {}), "timeout: must be a whole number"},
		{"too long", `{"shell_id":"x","timeout":1e300}`, with(func(*KillShellInput) {}), "timeout: must be a whole number of at most 9007199254740991"},
		{"far too long", `{"shell_id":"x","timeout":1e999}`, with(func(*KillShellInput) {}), "timeout: must be a whole number of at most 9007199254740991"},
		{"number in quotes", `{"shell_id":"x","timeout":"5"}`, with(func(*KillShellInput) {}), "timeout: must be a whole number"},
		{"truth in quotes", `{"shell_id":"x","force":"true"}`, with(func(*KillShellInput) {}), "force: must be true or false"},
		{"null", `{"shell_id":"x","force":null}`, with(func(*KillShellInput) {}), "force: must be true or false"},
		{"number for text", `{"shell_id":7}`, defaults, "shell_id: must be text"},
		{"another style", `{"shellId":"x"}`, defaults, "shell_id: is required; shellId: unknown field (did you mean shell_id?)"},
		{"another letter", `{"Shell_ID":"x"}`, defaults, "shell_id: is required; Shell_ID: unknown field (did you mean shell_id?)"},
		{"unknown", `{"shell_id":"x","pid":1}`, with(func(*KillShellInput) {}), "pid: unknown field (known fields: shell_id, signal, force, timeout)"},
		{"several", `{"shell_id":"x","signal":"","timeout":0}`, with(func(*KillShellInput) {}), "signal: must be one of SIGTERM, SIGKILL, SIGINT; timeout: must be greater than 0"},
		{"array", `["x"]`, KillShellInput{}, "must be an object"},
		{"nothing", `null`, KillShellInput{}, "must be an object"},
		{"text", `"x"`, KillShellInput{}, "must be an object"},
		{"cut off", `{"shell_id":"x"`, KillShellInput{}, "not JSON: unexpected end"},
		{"two values", `{"shell_id":"x"} {}`, KillShellInput{}, "not JSON: unexpected data after the value"},
		{"no JSON", `shell_id=x`, KillShellInput{}, "not JSON: invalid character 's' looking for beginning of value"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			var in KillShellInput
			err := read(killShell.input(), json.RawMessage(test.input), &in)
			text := ""
			if err != nil {
				text = strings.TrimPrefix(err.Error(), "invalid input: ")
			}
			if text != test.err {
				t.Errorf("error %q, want %q", text, test.err)
			}
			if diff := cmp.Diff(test.want, in); diff != "" {
				t.Errorf("read (-want +got):\n%s", diff)
			}
		})
	}
}

func TestReadLists(t *testing.T) {
	t.Parallel()
	for input, want := range map[string]string{
		`{"teamName":"t","command":["a","b"]}`: "",
		`{"teamName":"t","command":[]}`:        "invalid input: command: must not be empty",
		`{"teamName":"t","command":"a b"}`:     "invalid input: command: must be an array",
		`{"teamName":"t","command":["a",1,2]}`: "invalid input: command[1]: must be text; command[2]: must be text",
		`{"teamName":"","role":"boss"}`:        "invalid input: teamName: must not be empty; role: must be one of leader, worker, reviewer",
		`{"team":"t"}`:                         "invalid input: teamName: is required; team: unknown field (did you mean teamName?)",
	} {
		var in SpawnAgentInput
		err := read(SpawnAgent.input(), json.RawMessage(input), &in)
		text := ""
		if err != nil {
			text = err.Error()
		}
		if text != want {
			t.Errorf("%s: %q, want %q", input, text, want)
		}
	}
}
