package mcp

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"
	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/swarmhost/swarm/host/registry"
	"github.com/swarmhost/swarm/host/tool"
)

// teamField is the field that a member of a team may leave out.
const teamField = "teamName"

// sets returns the sets of tools to offer: the requested ones, else those that suit the
// caller.
func (s *server) sets() []tool.Set {
	switch {
	case s.Outside:
		return []tool.Set{tool.Teams}
	case s.Tools != nil:
		return s.Tools
	case s.inTeam():
		return tool.Sets()
	default:
		return []tool.Set{tool.Shells, tool.Workers}
	}
}

// inTeam reports whether the caller is a member of a team, or leads one.
func (s *server) inTeam() bool {
	c := s.membership()
	return c.Caller.Team != "" || len(c.Leads) > 0
}

// offers reports whether a tool is listed. Unless the user chose the sets, an agent without
// a team of its own does not get the tools that would only refuse it, and a leader does not
// get the tools that it does not need.
func (s *server) offers(t tool.Tool) bool {
	switch {
	case s.Outside:
		return slices.Contains(forContained, t.Name)
	case !slices.Contains(s.sets(), t.Set):
		return false
	case s.Tools == nil && !s.answers() && slices.Contains(forAnswers, t.Name):
		return false
	case s.followsOnly():
		return !t.Leader
	case s.leads():
		return !slices.Contains(sparedLeaders, t.Name) && (s.membership().Agent != "" || !slices.Contains(forAgents, t.Name))
	default:
		return true
	}
}

// All tools together cost a model half as much again as the default ones may. A leader
// works through its agents: it has peek-agent and nudge-agent, and Bash for the commands of
// swarm.
var (
	// sparedLeaders are tools that a leader is not offered by default.
	sparedLeaders = []string{"worker-spawn", "worker-list", "worker-status", "worker-send", "worker-kill", "spawn-team"}
	// forAgents are tools for agents only: a leader never gets a request to end.
	forAgents = []string{"heartbeat", "respond-shutdown"}
	// forAnswers are tools for callers who may answer what agents ask: a person, and the leader
	// of a team if the person lets leaders do that.
	forAnswers = []string{"questions", "worker-answer"}
	// forContained are the tools for a client in a container. None of them starts, shows or
	// ends a worker, but respond-shutdown, which ends the client's own.
	forContained = []string{
		"heartbeat", "send-message", "read-messages", "respond-shutdown",
		"task-create", "task-claim", "task-update", "task-list",
	}
	// rare are fields that the default list for a leader leaves out. Calls may have them.
	rare = map[string][]string{
		"spawn-agent":      {"backend", "branch", "env", "envFile", "profile", "readyPattern", "tags", "workspace", "workspaceOptions"},
		"get-agent-status": {"includeServer", "includeTerminated"},
		"peek-agent":       {"lines"},
		"heartbeat":        {"agentId", "status"},
		"task-update":      {"dependencies"},
	}
)

// answers reports whether the caller may answer what agents ask.
func (s *server) answers() bool {
	c := s.membership()
	return c.Person || s.LeaderAnswers && (c.Role == registry.RoleLeader || len(c.Leads) > 0)
}

// leads reports whether the tools are those that fit the leader of a team.
func (s *server) leads() bool {
	c := s.membership()
	leader := c.Agent != "" && c.Role == registry.RoleLeader
	return s.Tools == nil && (leader || len(c.Leads) > 0)
}

// followsOnly reports whether the tools are chosen for an agent that leads no team.
func (s *server) followsOnly() bool {
	c := s.membership()
	return s.Tools == nil && c.Agent != "" && c.Role != registry.RoleLeader && len(c.Leads) == 0
}

// describe returns the protocol's description of a tool.
//
// The output schema is left out: models don't read it, it is the largest part of a list of
// tools, and every answer fits it anyway. `swarm tool schema` prints it.
func (s *server) describe(t tool.Tool) *sdk.Tool {
	// Only tools that start programs, and those of plugins, reach beyond this machine's workers.
	open := t.Name == foreground || tool.IsOfPlugin(t.Name)
	return &sdk.Tool{
		Name:        t.Name,
		Title:       t.Title,
		Description: t.Description,
		InputSchema: s.inputOf(t),
		Annotations: &sdk.ToolAnnotations{
			Title:           t.Title,
			ReadOnlyHint:    t.ReadOnly,
			DestructiveHint: &t.Destructive,
			IdempotentHint:  t.Idempotent,
			OpenWorldHint:   &open,
		},
	}
}

// inputOf returns the input schema of a tool for the list: the names and types of the
// fields, their meaning where neither the name nor the tool's description says it, their
// allowed values, and which are required. Each byte of it is in every request that a client
// makes to its model. Bounds that the list omits are checked all the same, and an error
// says how to correct the input.
func (s *server) inputOf(t tool.Tool) *jsonschema.Schema {
	full := t.Input()
	if tool.IsOfPlugin(t.Name) {
		return full
	}
	in := &jsonschema.Schema{Type: full.Type, Properties: map[string]*jsonschema.Schema{}, Required: full.Required}
	for name, p := range full.Properties {
		if s.leads() && slices.Contains(rare[t.Name], name) {
			continue
		}
		in.Properties[name] = &jsonschema.Schema{
			Type: p.Type, Items: p.Items, Enum: p.Enum, Default: p.Default, Description: p.Description,
		}
		if string(p.Default) == "false" {
			in.Properties[name].Default = nil
		}
		if slices.Contains(selfEvident, name) && len(p.Description) < maxEvident {
			in.Properties[name].Description = ""
		}
		if strings.Contains(t.Description, "\n- "+name+": ") {
			in.Properties[name].Description = ""
		}
	}
	if team := s.membership().Team(); team != "" && t.Member {
		// A caller that may get a second team has to be able to name it.
		if s.followsOnly() {
			delete(in.Properties, teamField)
		}
		in.Required = slices.DeleteFunc(slices.Clone(in.Required), func(name string) bool { return name == teamField })
	}
	return in
}

// selfEvident are fields with an obvious meaning. Their description is left out if it has
// at most maxEvident bytes.
var selfEvident = []string{"command", "name", "names", "text", "cwd", "tags", "tag", "title", "description", "message", "reason", "priority", "taskId", "agentId", teamField}

const maxEvident = 41

// offered refuses calls of tools that there are but that this server does not offer,
// with the way to get them.
func (s *server) offered(next sdk.MethodHandler) sdk.MethodHandler {
	return func(ctx context.Context, method string, r sdk.Request) (sdk.Result, error) {
		params, ok := r.GetParams().(*sdk.CallToolParamsRaw)
		if ok && params != nil {
			t, known := tool.Find(params.Name)
			if known && !s.offers(t) {
				s.offerAgain(ctx) // the caller may have got a team a moment ago
			}
			if known && !s.offers(t) {
				return nil, &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: s.notOffered(t)}
			}
		}
		return next(ctx, method, r)
	}
}

// notOffered returns the error for a tool that is not offered, with the way to get it.
func (s *server) notOffered(t tool.Tool) string {
	if s.Outside {
		return fmt.Sprintf("the tool '%s' is not offered in a container", t.Name)
	}
	sets := s.sets()
	if slices.Contains(forAnswers, t.Name) && slices.Contains(sets, t.Set) {
		return fmt.Sprintf("the tool '%s' is for a person, and for the leader of a team if the person sets answers = \"leader\" below [team]: 'swarm mcp --tools %s' lists it all the same",
			t.Name, tool.JoinSets(sets))
	}
	if s.leads() && slices.Contains(sets, t.Set) {
		return fmt.Sprintf("the tool '%s' is not offered to a leader by default: start the server with 'swarm mcp --tools %s'",
			t.Name, tool.JoinSets(sets))
	}
	if slices.Contains(sets, t.Set) {
		return fmt.Sprintf("the tool '%s' is only for the leader of the team", t.Name)
	}
	more := tool.JoinSets(append(slices.Clone(sets), t.Set))
	return fmt.Sprintf("the tool '%s' is in the set %s, and this server offers %s: start it with 'swarm mcp --tools %s'",
		t.Name, t.Set, tool.JoinSets(sets), more)
}
