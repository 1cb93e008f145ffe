package toolstest

import (
	"fmt"
	"reflect"
	"slices"

	"github.com/swarmhost/swarm/shared/plugin/plugintest/harness"
	"github.com/swarmhost/swarm/shared/swarm"
	"github.com/swarmhost/swarm/shared/toolschema"
)

// testCase checks one rule of the contract.
type testCase struct {
	name, rule string
	// calls says that it needs calls that succeed, check that it needs [swarm.CapCheck].
	calls, check bool
	run          func(k *kit)
}

// kit is what a case works with.
type kit struct {
	harness.Kit
	subject
	open  func(T) subject
	calls []Call
}

// items are the cases of a plugin, which is opened once to ask for its tools.
func items(t T, open func(T) subject, calls []Call) []harness.Item {
	t.Helper()
	probe := open(t)
	if calls == nil {
		calls = harmless(t, probe)
	}
	var items []harness.Item
	for _, c := range cases() {
		i := harness.Item{Name: c.name, Rule: c.rule, Run: func(t T) {
			t.Helper()
			c.run(&kit{Kit: harness.NewKit(t, c.rule), subject: open(t), open: open, calls: calls})
		}}
		switch {
		case c.calls && len(calls) == 0:
			i.Skip = "it has no read-only tool that can be called without input"
		case c.check && probe.check == nil:
			i.Skip = fmt.Sprintf("it does not have the capability %q", swarm.CapCheck)
		}
		items = append(items, i)
	}
	return items
}

// harmless are calls that change nothing, one of each read-only tool whose input may be empty.
// The cases report what is wrong with a list of tools.
func harmless(t T, s subject) (calls []Call) {
	tools, _ := s.ListTools(t.Context())
	for _, tool := range tools {
		in, err := toolschema.ReadInput(tool)
		if err == nil && tool.ReadOnly && in.Check([]byte("{}")) == nil {
			calls = append(calls, Call{tool.Name, "{}"})
		}
	}
	return calls
}

func cases() []testCase {
	return []testCase{
		{
			name: "list-tools",
			rule: "ListTools returns at least one tool, and all have a name of their own and a description, within the limits",
			run: func(k *kit) {
				tools := k.list()
				k.Check("ListTools", swarm.CheckTools(tools))
				if len(tools) == 0 {
					k.Broken("there is none")
				}
			},
		},
		{
			name: "list-tools-schemas",
			rule: "the schemas of a tool are JSON Schemas of the type object, without references",
			run: func(k *kit) {
				for _, tool := range k.list() {
					_, err := toolschema.ReadInput(tool)
					k.Check("tool '"+tool.Name+"'", err)
					_, err = toolschema.ReadOutput(tool)
					k.Check("tool '"+tool.Name+"'", err)
				}
			},
		},
		{
			name: "list-tools-rights",
			rule: "the right of a tool is person, leader, member or anyone",
			run: func(k *kit) {
				known := []swarm.ToolRight{"", swarm.RightPerson, swarm.RightLeader, swarm.RightMember, swarm.RightAnyone}
				for _, tool := range k.list() {
					if !slices.Contains(known, tool.Right) {
						k.Broken("tool '%s': %q", tool.Name, tool.Right)
					}
				}
			},
		},
		{
			name: "list-tools-in-every-process",
			rule: "ListTools returns the same in every process of the plugin",
			run: func(k *kit) {
				first := k.list()
				k.subject = k.open(k.T)
				if second := k.list(); !reflect.DeepEqual(first, second) {
					k.Broken("first %+v, then %+v", first, second)
				}
			},
		},
		{
			name: "call-tool-that-does-not-exist",
			rule: "CallTool of a tool that the plugin does not have is ErrNotFound",
			run: func(k *kit) {
				_, err := k.CallTool(k.Ctx, swarm.ToolCall{Name: "plugintest-no-such-tool", Input: []byte("{}"), Caller: caller})
				k.WantErr("CallTool", err, swarm.ErrNotFound)
			},
		},
		{
			name: "call-tool-answer", calls: true,
			rule: "CallTool answers with a JSON object that fits the output schema of the tool, within the limit",
			run: func(k *kit) {
				for _, c := range k.calls {
					k.answer(c)
				}
			},
		},
		{
			name: "call-tools-at-the-same-time", calls: true,
			rule: "tools may be called at the same time",
			run: func(k *kit) {
				const each = 8
				harness.Together(each*len(k.calls), func(i int) { k.answer(k.calls[i%len(k.calls)]) })
			},
		},
		{
			name: "check", check: true,
			rule: "Check returns nil where the plugin works",
			run: func(k *kit) {
				k.Check("Check", k.check(k.Ctx))
			},
		},
	}
}

// caller is the identity in the cases: a person in a session.
var caller = swarm.ToolCaller{Person: true, Session: "plugintest"}

func (k *kit) list() []swarm.Tool {
	k.Helper()
	tools, err := k.ListTools(k.Ctx)
	k.Must("ListTools", err)
	return tools
}

// answer makes a call and checks what the plugin answers.
func (k *kit) answer(c Call) {
	k.Helper()
	tools, err := k.ListTools(k.Ctx)
	at := slices.IndexFunc(tools, func(t swarm.Tool) bool { return t.Name == c.Tool })
	if err != nil || at < 0 {
		k.Broken("the tool '%s' is not in the list: %v", c.Tool, err)
		return
	}
	answer, err := k.CallTool(k.Ctx, swarm.ToolCall{Name: c.Tool, Input: []byte(c.Input), Caller: caller})
	if err != nil {
		k.Broken("%s of %s: %v", c.Tool, c.Input, err)
		return
	}
	out, err := toolschema.ReadOutput(tools[at])
	if err == nil {
		err = out.Check(answer)
	}
	if err == nil && len(answer) > swarm.MaxToolAnswer {
		err = fmt.Errorf("it has %d bytes, at most %d", len(answer), swarm.MaxToolAnswer)
	}
	if err != nil {
		k.Broken("%s of %s answers %.200q: %v", c.Tool, c.Input, answer, err)
	}
}
