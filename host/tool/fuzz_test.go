package tool

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/jsonschema-go/jsonschema"

	"github.com/swarmhost/swarm/host"
	"github.com/swarmhost/swarm/host/registry"
	"github.com/swarmhost/swarm/host/team"
)

// hostile are inputs that no tool expects, some of them JSON.
var hostile = []string{
	"", " ", "null", "[]", "true", "0", `""`, "{", "}", "{}{}", "\x00", "\xff\xfe{}", "\ufeff{}",
	`{"teamName":"t",}`, `{'teamName':'t'}`, `{"teamName":"t"} // yes`, `{"teamName"}`,
	`{"teamName":null}`, `{"teamName":["t"]}`, `{"teamName":{"$ne":""}}`, `{"teamName":1e999}`,
	`{"__proto__":{"force":true}}`, `{"teamName":"t","teamname":"u","TEAMNAME":"v"}`, `{"":""}`,
	`{"teamName":"\ud800","agentId":"\u0000"}`, `{"teamName":"t' OR 1=1; --","agentId":"%s%n"}`,
	`{"teamName":"../../etc","agentId":"../passwd","taskId":"task-1/../2","to":"/","message":"\u001b[2J\u202e"}`,
	`{"shell_id":"1"}`, `{"shell_id":"-1"}`, `{"shell_id":"bg-aaaaaa","signal":"SIGTERM\u0000"}`,
	`{"shell_id":"bg-aaaaaa","timeout":1e308}`, `{"shell_id":"bg-aaaaaa","timeout":-0}`, `{"shell_id":"bg-aaaaaa","timeout":9007199254740991}`,
	`{"shell_id":"bg-aaaaaa","filter":"(a*)*("}`, `{"command":"\u0000","timeout":1}`,
	`{"teamName":"t","taskId":"task-99999999999999999999"}`, `{"teamName":"t","taskId":"task-01","status":"completed"}`,
	`{"teamName":"t","title":"x","dependencies":["task-1","task-1","",null]}`, `{"teamName":"t","command":[]}`,
	strings.Repeat("[", 20000), `{"a":` + strings.Repeat(`{"a":`, 9000) + strings.Repeat("}", 9001),
	`{"teamName":"` + strings.Repeat("x", 1<<20) + `"}`, `{"` + strings.Repeat("k", 1<<16) + `":1}`,
}

// fitting are inputs that fit the schema of some tool.
var fitting = []string{
	"{}", `{"all":true}`, `{"command":"true"}`, `{"command":"true","run_in_background":true}`,
	`{"shell_id":"bg-aaaaaa"}`, `{"shell_id":"bg-aaaaaa","signal":"SIGKILL","force":false,"timeout":1}`,
	`{"name":"w"}`, `{"name":"w","command":["true"]}`, `{"name":"w","text":"hello","enter":false}`, `{"all":true,"tag":"x"}`,
	`{"name":"w","cursor":"x","limit":5,"grep":"a+"}`, `{"names":["w","v"],"for":"any","pattern":"a","timeout":1}`, `{"names":["w"],"until":"idle","timeout":1}`, `{"name":"w","force":false,"timeout":9}`,
	`{"teamName":"t"}`, `{"teamName":"new","server":["x","{port}"]}`,
	`{"teamName":"t","name":"n","role":"leader","command":["true"],"backend":"process","cwd":"/"}`,
	`{"teamName":"t","agentId":"agent-aaaaaa"}`, `{"teamName":"t","agentId":"agent-aaaaaa","force":true}`,
	`{"teamName":"t","includeServer":true,"includeTerminated":true}`, `{"teamName":"t","to":"all","message":"m"}`,
	`{"teamName":"t","unreadOnly":false}`, `{"teamName":"t","wait":1}`, `{"teamName":"t","agentId":"agent-aaaaaa","wait":1}`, `{"teamName":"t","approve":true,"ready":false}`,
	`{"teamName":"t","title":"x","dependencies":["task-1"]}`, `{"teamName":"t","taskId":"task-1"}`,
	`{"teamName":"t","taskId":"task-1","status":"completed","dependencies":["task-1"]}`, `{"teamName":"t","status":"pending","owner":"leader"}`,
}

// FuzzCall: whatever a tool is called with, it answers within its schema, and what
// does not fit the schema of its input opens no host.
func FuzzCall(f *testing.F) {
	tools := All()
	for i := range tools {
		for _, input := range append(hostile, fitting...) {
			f.Add(uint8(i), []byte(input))
		}
	}
	caller := newFuzzCaller(f)
	f.Fuzz(func(t *testing.T, which uint8, input []byte) { caller.call(t, int(which)%len(tools), input) })
}

// FuzzField is as [FuzzCall] for inputs that come further: all that is required is
// there, and one field is anything.
func FuzzField(f *testing.F) {
	tools := All()
	for i, t := range tools {
		for field := range t.Input().PropertyOrder {
			for _, text := range []string{"", "agent-aaaaaa", "leader", "task-1", "../..", "x' --", "\x00", "\xff\n", "("} {
				f.Add(uint8(i), uint8(field), text, false)
			}
			for _, value := range []string{"null", "-1", "1e3", `["task-1"]`} {
				f.Add(uint8(i), uint8(field), value, true)
			}
		}
	}
	caller := newFuzzCaller(f)
	f.Fuzz(func(t *testing.T, which, field uint8, text string, raw bool) {
		s := tools[int(which)%len(tools)].Input()
		input := map[string]any{}
		for _, name := range s.Required {
			input[name] = "t"
			if s.Properties[name].Type == "boolean" {
				input[name] = true
			}
		}
		var value any = text
		if raw && json.Valid([]byte(text)) {
			value = json.RawMessage(text)
		}
		input[s.PropertyOrder[int(field)%len(s.PropertyOrder)]] = value
		data, err := json.Marshal(input)
		if err != nil {
			t.Fatal(err)
		}
		caller.call(t, int(which)%len(tools), data)
	})
}

// fuzzCaller calls tools, and looks at what they answer.
type fuzzCaller struct {
	tools   []Tool
	schemas []schemas
	parent  string
	w       *world
	calls   int
}

func newFuzzCaller(f *testing.F) *fuzzCaller {
	f.Helper()
	parent := f.TempDir()
	return &fuzzCaller{tools: All(), schemas: resolve(f, All()), parent: parent, w: newWorld(f, filepath.Join(parent, "0"))}
}

func (c *fuzzCaller) call(t *testing.T, which int, input []byte) {
	t.Helper()
	if c.calls++; c.calls%500 == 0 { // what was made meanwhile makes reading slow
		if err := os.RemoveAll(c.w.dir); err != nil {
			t.Fatal(err)
		}
		c.w = newWorld(t, filepath.Join(c.parent, strconv.Itoa(c.calls)))
	}
	tool, schema := c.tools[which], c.schemas[which]
	opened := false
	env := Env{Dir: c.w.dir, Open: func(ctx context.Context) (*host.Host, error) {
		opened = true
		return c.w.open(ctx)
	}}
	r := tool.Call(t.Context(), env, input)
	checkAnswer(t, tool, schema, r)
	_, wrong := errors.AsType[*InputError](r.Err)
	// Some inputs are only read where they are used, and a caller may have a team of its own.
	late := wrong && opened
	if fits := schema.takes(input); fits == wrong && !tooBig(r.Err) && !late {
		t.Errorf("%s: the input fits its schema: %v, its error: %v", tool.Name, fits, r.Err)
	}
	beyond := []string{"spawn-agent", "BashOutput", "worker-spawn", "worker-output", "worker-send", "worker-wait"} // what a schema can say
	if late && !slices.Contains(beyond, tool.Name) && (!tool.Member || !lacksOnlyTeam(r.Err)) {
		t.Errorf("%s: wrong input, and a host was opened: %v", tool.Name, r.Err)
	}
}

// tooBig reports that a number is refused which JSON Schema takes for a whole one.
func tooBig(err error) bool {
	return err != nil && strings.Contains(err.Error(), "must be a whole number of at most")
}

func checkAnswer(t *testing.T, tool Tool, s schemas, r Result) {
	t.Helper()
	data, err := json.Marshal(r.Output)
	if err != nil {
		t.Fatalf("%s: %v", tool.Name, err)
	}
	var answer map[string]any
	if err := json.Unmarshal(data, &answer); err != nil {
		t.Fatalf("%s: %v", tool.Name, err)
	}
	if err := s.output.Validate(answer); err != nil {
		t.Errorf("%s answers %s: %v", tool.Name, data, err)
	}
	text, _ := answer["error"].(string)
	switch {
	case r.Failed == answer["success"]:
		t.Errorf("%s failed: %v, and answers %s", tool.Name, r.Failed, data)
	case r.Err != nil && (!r.Failed || text == ""):
		t.Errorf("%s: error %v, and answers %s", tool.Name, r.Err, data)
	}
}

// schemas are those of one tool, for a validator that is not ours.
type schemas struct{ input, output *jsonschema.Resolved }

func resolve(tb testing.TB, tools []Tool) []schemas {
	tb.Helper()
	list := make([]schemas, len(tools))
	for i, t := range tools {
		var err1, err2 error
		list[i].input, err1 = t.Input().Resolve(nil)
		list[i].output, err2 = t.Output().Resolve(nil)
		if err := errors.Join(err1, err2); err != nil {
			tb.Fatal(err)
		}
	}
	return list
}

// takes reports whether an input is JSON that fits the schema.
func (s schemas) takes(input []byte) bool {
	if len(strings.TrimSpace(string(input))) == 0 {
		input = []byte("{}")
	}
	var v any
	return json.Unmarshal(input, &v) == nil && s.input.Validate(v) == nil
}

// world is a state directory with a team and an agent, and no plugin: nothing can
// be started, and nothing is there that could be signalled.
type world struct{ dir string }

func newWorld(tb testing.TB, dir string) *world {
	tb.Helper()
	w := &world{dir}
	env := Env{Dir: w.dir, Open: w.open}
	if _, err := SpawnTeam.Do(tb.Context(), env, SpawnTeamInput{TeamName: "t"}); err != nil {
		tb.Fatal(err)
	}
	w.addAgent(tb, "agent-aaaaaa", "token")
	if _, err := TaskCreate.Do(tb.Context(), env, TaskCreateInput{TeamName: "t", Title: "first"}); err != nil {
		tb.Fatal(err)
	}
	return w
}

// open opens a host that finds no plugin, as a person.
func (w *world) open(ctx context.Context) (*host.Host, error) {
	return w.openAs("")(ctx)
}

// openAs returns how the owner of a token opens a host; empty: a person.
func (w *world) openAs(token string) func(context.Context) (*host.Host, error) {
	env := []string{"PATH=" + filepath.Join(w.dir, "none")}
	if token != "" {
		env = append(env, "SWARM_TOKEN="+token)
	}
	return func(ctx context.Context) (*host.Host, error) {
		return host.Open(ctx, host.Options{Dir: filepath.Join(w.dir, "state"), Executable: filepath.Join(w.dir, "none", "swarm"), Env: env})
	}
}

// addAgent makes an active agent of the team t, whose name is its id.
func (w *world) addAgent(tb testing.TB, id, token string) {
	tb.Helper()
	w.change(tb, func(ctx context.Context, tx *registry.Tx) error {
		now := time.Now()
		if _, _, err := team.Join(ctx, tx, team.Entry{Team: "t", ID: id, Dir: w.dir}, "worker-of-"+id, id, hash(token), now); err != nil {
			return err
		}
		return team.Activate(ctx, tx, id, "", now)
	})
}

func (w *world) change(tb testing.TB, change func(context.Context, *registry.Tx) error) {
	tb.Helper()
	h, err := w.open(tb.Context())
	if err != nil {
		tb.Fatal(err)
	}
	if err := errors.Join(h.Store().Change(tb.Context(), change), h.Close()); err != nil {
		tb.Fatal(err)
	}
}
