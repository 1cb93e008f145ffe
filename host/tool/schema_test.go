package tool

import (
	"encoding/json"
	"testing"
)

func TestShow(t *testing.T) {
	for _, n := range []string{"KillShell", "get-agent-status", "spawn-agent"} {
		tl, _ := Find(n)
		b, err := json.MarshalIndent(tl.Input(), "", " ")
		t.Log(string(b), err)
		b, err = json.MarshalIndent(tl.Output(), "", " ")
		t.Log(string(b), err)
	}
	for _, raw := range []string{`{"signal":"SIGHUP","timeout":0,"shellId":"x"}`, `{"shell_id":"x","timeout":5e3}`, `[]`, `{} x`, `{"shell_id":"x","force":null,"command":[1]`} {
		var in KillShellInput
		t.Log(read(killShell.input(), json.RawMessage(raw), &in), in)
	}
}
