package tool

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"

	"github.com/swarmhost/swarm/host"
	"github.com/swarmhost/swarm/host/agent"
	"github.com/swarmhost/swarm/host/registry"
	"github.com/swarmhost/swarm/host/team"
	"github.com/swarmhost/swarm/host/toolbox"
	"github.com/swarmhost/swarm/shared/swarm"
)

// IsOfPlugin reports whether a name is that of a tool of a plugin, PLUGIN.TOOL.
func IsOfPlugin(name string) bool { return strings.Contains(name, ".") }

// OfPlugins returns the tools of the named plugins, all turned-on plugins without names, and an
// error for each plugin whose tools can't be listed.
func OfPlugins(ctx context.Context, h *host.Host, plugins ...string) (tools []Tool, errs []error) {
	boxes := h.Toolboxes()
	if plugins == nil {
		plugins = boxes.Names()
	}
	for _, name := range plugins {
		listed, err := boxes.List(ctx, name)
		if err != nil {
			errs = append(errs, err)
		}
		for _, t := range listed {
			tools = append(tools, ofPlugin(t))
		}
	}
	return tools, errs
}

func ofPlugin(t toolbox.Tool) Tool {
	name := t.Plugin + "." + t.Name
	return Tool{
		Name: name, Title: cmp.Or(t.Title, name), Description: t.Description, Set: Set(t.Plugin),
		ReadOnly: t.ReadOnly, Destructive: t.Destructive, Idempotent: t.Idempotent,
		Right: cmp.Or(t.Right, swarm.RightPerson), kind: &pluginTool{t},
	}
}

// pluginTool is a tool of a plugin.
type pluginTool struct{ toolbox.Tool }

func (p *pluginTool) about() Tool { return ofPlugin(p.Tool) }

func (p *pluginTool) input() *jsonschema.Schema { return p.In.Text }

func (p *pluginTool) output() *jsonschema.Schema { return p.Out.Text }

// pluginFailure is the answer in the place of a plugin that gave none.
type pluginFailure struct {
	outcome
	failure
}

func (p *pluginTool) answer(ctx context.Context, env Env, raw json.RawMessage) Result {
	if len(bytes.TrimSpace(raw)) == 0 {
		raw = json.RawMessage("{}")
	}
	answer, err := p.call(ctx, env, raw)
	if err == nil {
		return Result{Output: json.RawMessage(answer)}
	}
	if errors.Is(err, toolbox.ErrInput) {
		text := strings.TrimPrefix(message(err), toolbox.ErrInput.Error()+": ")
		err = &InputError{[]Problem{{Text: text}}}
	}
	return Result{Output: pluginFailure{failure: failure{message(err)}}, Failed: true, Err: err}
}

func (p *pluginTool) call(ctx context.Context, env Env, input []byte) ([]byte, error) {
	h, err := env.Open(ctx)
	if err != nil {
		return nil, err
	}
	caller, err := callerOf(ctx, h, env)
	if unproven, ok := errors.AsType[*team.UnprovenError](err); ok && p.Right != swarm.RightAnyone {
		return nil, errors.Join(unproven, h.Close())
	} else if err != nil && !ok {
		return nil, errors.Join(err, h.Close())
	}
	answer, err := h.Toolboxes().Call(ctx, p.Plugin, swarm.ToolCall{Name: p.Name, Input: input, Caller: caller, Dir: env.Dir})
	return answer, errors.Join(err, h.Close())
}

// callerOf returns the identity of the caller for a plugin. With a [team.UnprovenError] nothing
// is proved of it.
func callerOf(ctx context.Context, h *host.Host, env Env) (swarm.ToolCaller, error) {
	caller := swarm.ToolCaller{Session: env.Session.ID}
	m, err := agent.Identify(ctx, h)
	if err != nil {
		return caller, err
	}
	caller.Person, caller.WorkerID, caller.Worker = m.Person, m.WorkerID, m.Worker
	caller.Team, caller.Agent, caller.Leader = m.Team(), m.Agent, m.Role == registry.RoleLeader || len(m.Leads) > 0
	return caller, nil
}
