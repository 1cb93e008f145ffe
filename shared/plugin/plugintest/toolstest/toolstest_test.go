package toolstest

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/swarmhost/swarm/shared/plugin/plugintest/harness"
	"github.com/swarmhost/swarm/shared/swarm"
)

// box is right, but for what a test changes.
type box struct {
	tools []swarm.Tool
	call  func(swarm.ToolCall) ([]byte, error)
	check error
}

func (b box) ListTools(context.Context) ([]swarm.Tool, error) { return b.tools, nil }

func (b box) CallTool(_ context.Context, c swarm.ToolCall) ([]byte, error) {
	for _, t := range b.tools {
		if t.Name == c.Name {
			return b.call(c)
		}
	}
	return nil, fmt.Errorf("tool '%s': %w", c.Name, swarm.ErrNotFound)
}

func (b box) Check(context.Context) error { return b.check }

// right returns a box that keeps all rules, as change has changed it.
func right(change func(*box)) box {
	b := box{
		tools: []swarm.Tool{{
			Name: "add", Description: "Add numbers.", ReadOnly: true, Right: swarm.RightAnyone,
			Input:  []byte(`{"type": "object", "properties": {"numbers": {"type": "array", "items": {"type": "number"}}}}`),
			Output: []byte(`{"type": "object", "properties": {"sum": {"type": "number"}}, "required": ["sum"]}`),
		}},
		call: func(swarm.ToolCall) ([]byte, error) { return []byte(`{"sum": 3}`), nil },
	}
	if change != nil {
		change(&b)
	}
	return b
}

func TestRight(t *testing.T) {
	t.Parallel()
	b := right(nil)
	for _, calls := range [][]Call{nil, {{"add", `{"numbers": [1, 2]}`}}} {
		for _, i := range items(t, (Tools{New: func(T) swarm.Toolbox { return b }}).direct, calls) {
			if i.Skip != "" {
				t.Errorf("%s is skipped: %s", i.Name, i.Skip)
			}
		}
		Run(t, Tools{New: func(T) swarm.Toolbox { return b }, Calls: calls})
	}
}

// TestBroken: each rule has a plugin that breaks it, and its case notices that.
func TestBroken(t *testing.T) {
	t.Parallel()
	broken := map[string][]func(*box){
		"list-tools": {
			func(b *box) { b.tools = nil },
			func(b *box) { b.tools = append(b.tools, b.tools[0]) },
			func(b *box) { b.tools[0].Name = "a.b" },
			func(b *box) { b.tools[0].Name = strings.Repeat("a", swarm.MaxToolName+1) },
			func(b *box) { b.tools[0].Description = "" },
			func(b *box) { b.tools[0].Description = strings.Repeat("x", swarm.MaxToolText+1) },
			func(b *box) { b.tools[0].Destructive = true },
			func(b *box) {
				for i := range swarm.MaxTools {
					b.tools = append(b.tools, swarm.Tool{Name: fmt.Sprintf("t%d", i), Description: "x"})
				}
			},
			func(b *box) { b.tools[0].Output = []byte(strings.Repeat(" ", swarm.MaxToolSchema+1)) },
		},
		"list-tools-schemas": {
			func(b *box) { b.tools[0].Input = []byte(`{"type": "object", "properties": {"a": {"$ref": "#"}}}`) },
			func(b *box) { b.tools[0].Output = []byte(`{"type": "array"}`) },
		},
		"list-tools-rights": {func(b *box) { b.tools[0].Right = "root" }},
		"list-tools-in-every-process": {func(b *box) {
			b.tools[0].Description = fmt.Sprint(processes.Add(1))
		}},
		"call-tool-that-does-not-exist": {func(b *box) {
			b.tools = append(b.tools, swarm.Tool{Name: "plugintest-no-such-tool", Description: "x"})
		}},
		"call-tool-answer": {
			func(b *box) { b.call = answers(`{"sum": "3"}`) },
			func(b *box) { b.call = answers(`3`) },
			func(b *box) { b.call = answers(``) },
			func(b *box) {
				b.call = answers(`{"sum": 3, "pad": "` + strings.Repeat("x", swarm.MaxToolAnswer) + `"}`)
			},
			func(b *box) { b.call = func(swarm.ToolCall) ([]byte, error) { return nil, errors.New("broken") } },
		},
		"call-tools-at-the-same-time": {func(b *box) {
			var calls atomic.Int64
			b.call = func(swarm.ToolCall) ([]byte, error) {
				if calls.Add(1) > 2 {
					return nil, errors.New("busy")
				}
				return []byte(`{"sum": 3}`), nil
			}
		}},
		"check": {func(b *box) { b.check = swarm.ErrUnavailable }},
	}
	for _, c := range cases() {
		if broken[c.name] == nil {
			t.Errorf("%s: no plugin breaks the rule", c.name)
		}
		for n, change := range broken[c.name] {
			if failed := problems(t, c.name, func(T) swarm.Toolbox { return right(change) }); len(failed) == 0 {
				t.Errorf("%s: the plugin %d is not noticed", c.name, n)
			}
		}
		if failed := problems(t, c.name, func(T) swarm.Toolbox { return right(nil) }); len(failed) > 0 {
			t.Errorf("%s fails for a plugin that keeps the rule: %v", c.name, failed)
		}
	}
}

var processes atomic.Int64

func answers(text string) func(swarm.ToolCall) ([]byte, error) {
	return func(swarm.ToolCall) ([]byte, error) { return []byte(text), nil }
}

// problems runs one case.
func problems(t *testing.T, name string, open func(T) swarm.Toolbox) (failed []string) {
	t.Helper()
	for _, i := range items(t, (Tools{New: open}).direct, []Call{{"add", "{}"}}) {
		if i.Name == name {
			failed, _ = harness.Record(t.Context(), name, i.Run)
		}
	}
	return failed
}

// TestLimitsOnTheWire: the SDK refuses what breaks a limit, whatever the author's code returns.
func TestLimitsOnTheWire(t *testing.T) {
	t.Parallel()
	open := func(change func(*box)) subject {
		return (Tools{New: func(T) swarm.Toolbox { return right(change) }}).wired(t)
	}
	if _, err := open(func(b *box) { b.tools[0].Name = "" }).ListTools(t.Context()); err == nil || !strings.Contains(err.Error(), "name of a tool") {
		t.Errorf("a name that is not valid: %v", err)
	}
	large := `{"sum": 3, "pad": "` + strings.Repeat("x", swarm.MaxToolAnswer) + `"}`
	if _, err := open(func(b *box) { b.call = answers(large) }).CallTool(t.Context(), swarm.ToolCall{Name: "add"}); err == nil || !strings.Contains(err.Error(), "at most") {
		t.Errorf("a large answer: %v", err)
	}
	input := make([]byte, swarm.MaxToolInput+1)
	if _, err := open(nil).CallTool(t.Context(), swarm.ToolCall{Name: "add", Input: input}); !errors.Is(err, swarm.ErrInvalidSpec) {
		t.Errorf("a large input: %v", err)
	}
	tools, err := open(func(b *box) { b.tools[0].Right = "root" }).ListTools(t.Context())
	if err != nil || tools[0].Right != swarm.RightPerson {
		t.Errorf("a right that is not known is %q, %v", tools[0].Right, err)
	}
}
