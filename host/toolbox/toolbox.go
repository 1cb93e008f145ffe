// Package toolbox lists and calls the tools of plugins. It checks what plugins and callers send:
// the list of tools, the right of the caller, the input and the answer.
package toolbox

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/swarmhost/swarm/host/backend"
	"github.com/swarmhost/swarm/host/catalog"
	"github.com/swarmhost/swarm/host/worker"
	"github.com/swarmhost/swarm/shared/safetext"
	"github.com/swarmhost/swarm/shared/swarm"
	"github.com/swarmhost/swarm/shared/toolschema"
)

// Boxes are the tools of the plugins of a host. Its fields are what it needs.
type Boxes struct {
	Catalog *catalog.Catalog
	Plugins *backend.Plugins
}

// Tool is a tool of a plugin.
type Tool struct {
	swarm.Tool
	// Plugin is the name of the plugin.
	Plugin string
	// In and Out are the schemas.
	In, Out *toolschema.Schema
}

const (
	// listLimit is how long a plugin may take to list its tools.
	listLimit = 30 * time.Second
	// callLimit is how long a call may take.
	callLimit = 10 * time.Minute
)

// ErrInput says that the input of a call does not fit the schema of the tool. Nothing was called.
var ErrInput = errors.New("invalid input")

// Names returns the plugins whose tools the config turns on, sorted.
func (b *Boxes) Names() []string { return b.Catalog.WithTools() }

// List returns the tools of a plugin, whose tools the config has to turn on.
func (b *Boxes) List(ctx context.Context, plugin string) ([]Tool, error) {
	e, err := b.entry(plugin)
	if err != nil {
		return nil, err
	}
	return b.list(ctx, e)
}

// Call calls a tool, and returns its answer, a JSON object.
func (b *Boxes) Call(ctx context.Context, plugin string, c swarm.ToolCall) ([]byte, error) {
	e, err := b.entry(plugin)
	if err != nil {
		return nil, err
	}
	// The plugin may be another one than when its tools were shown.
	tools, err := b.list(ctx, e)
	if err != nil {
		return nil, err
	}
	at := slices.IndexFunc(tools, func(t Tool) bool { return t.Name == c.Name })
	if at < 0 {
		return nil, worker.Hinted(fmt.Sprintf("plugin '%s' has no tool '%s'", plugin, safetext.Line(c.Name)), "run 'swarm tool list' to see its tools")
	}
	t := tools[at]
	if !c.Caller.Has(t.Right) {
		return nil, refused(t)
	}
	if n := len(c.Input); n > swarm.MaxToolInput {
		return nil, fmt.Errorf("%w: it has %d bytes, at most %d", ErrInput, n, swarm.MaxToolInput)
	}
	if err := t.In.Check(c.Input); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrInput, err)
	}
	ctx, cancel := context.WithTimeout(ctx, callLimit)
	defer cancel()
	var answer []byte
	err = b.ask(ctx, e, t.ReadOnly || t.Idempotent, func(box swarm.Toolbox) (err error) {
		answer, err = box.CallTool(ctx, c)
		return err
	})
	if err != nil {
		return nil, err
	}
	if err := t.Out.Check(answer); err != nil {
		return nil, fmt.Errorf("plugin '%s' answered the tool '%s' with what does not fit the tool's own schema: %w", plugin, t.Name, err)
	}
	return answer, nil
}

// refused is the error for a caller without the right of a tool.
func refused(t Tool) error {
	who := "a person, outside of all workers"
	switch t.Right {
	case swarm.RightLeader:
		who = "a person, and for the leaders of teams"
	case swarm.RightMember:
		who = "a person, and for the agents and leaders of teams"
	case swarm.RightPerson, swarm.RightAnyone:
	}
	return fmt.Errorf("%w: the tool '%s.%s' is for %s", swarm.ErrPermission, t.Plugin, t.Name, who)
}

// entry finds a plugin whose tools are turned on.
func (b *Boxes) entry(plugin string) (catalog.Entry, error) {
	if !slices.Contains(b.Names(), plugin) {
		return catalog.Entry{}, worker.Hinted(fmt.Sprintf("the tools of the plugin '%s' are not turned on", safetext.Line(plugin)),
			"set 'tools = true' in the table [plugins."+safetext.Line(plugin)+"] of your config file")
	}
	return b.Catalog.Find(plugin)
}

func (b *Boxes) list(ctx context.Context, e catalog.Entry) ([]Tool, error) {
	ctx, cancel := context.WithTimeout(ctx, listLimit)
	defer cancel()
	var listed []swarm.Tool
	err := b.ask(ctx, e, true, func(box swarm.Toolbox) (err error) {
		listed, err = box.ListTools(ctx)
		return err
	})
	if err == nil {
		err = swarm.CheckTools(listed)
	}
	tools := make([]Tool, len(listed))
	for i, t := range listed {
		if err != nil {
			break
		}
		tools[i], err = read(e.Name, t)
	}
	if err != nil {
		return nil, fmt.Errorf("cannot list the tools of the plugin '%s': %w", e.Name, err)
	}
	return tools, nil
}

// read checks one tool of a list, and makes its texts safe to print.
func read(plugin string, t swarm.Tool) (Tool, error) {
	t.Title, t.Description = safetext.Line(t.Title), safetext.Block(t.Description)
	in, err := toolschema.ReadInput(t)
	if err != nil {
		return Tool{}, fmt.Errorf("tool '%s': %w", t.Name, err)
	}
	out, err := toolschema.ReadOutput(t)
	if err != nil {
		return Tool{}, fmt.Errorf("tool '%s': %w", t.Name, err)
	}
	return Tool{Tool: t, Plugin: plugin, In: in, Out: out}, nil
}

// ask calls f with the tools of the plugin; with again, f is repeated if the plugin ends in it.
func (b *Boxes) ask(ctx context.Context, e catalog.Entry, again bool, f func(swarm.Toolbox) error) error {
	return b.Plugins.Ask(ctx, e, again, func(p *backend.Peer) error {
		if p.Tools == nil {
			return fmt.Errorf("%w: plugin '%s' offers no tools", swarm.ErrUnsupported, e.Name)
		}
		return f(p.Tools)
	})
}
