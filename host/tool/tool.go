package tool

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"

	"github.com/swarmhost/swarm/host/catalog"
	"github.com/swarmhost/swarm/shared/swarm"
)

// Tool is one of the tools. Its methods may be called at the same time.
type Tool struct {
	Name string
	// Title is the name for people, Description what an agent reads.
	Title, Description string
	// Set is the group of tools that it belongs to.
	Set Set
	// Member says that it acts in a team that exists. The caller may leave out
	// teamName if it is an agent of a team, or leads exactly one from its worker.
	Member bool
	// Leader says that the tool refuses everyone except the leader of a team, or the
	// creator of a new one.
	Leader bool
	// Right is what a caller of a tool of a plugin needs; empty for all others.
	Right swarm.ToolRight
	// ReadOnly: it changes nothing. Destructive: it may end something. Idempotent:
	// the same call again changes nothing more.
	ReadOnly, Destructive, Idempotent bool

	kind kind
}

// kind is a [definition] without its types.
type kind interface {
	about() Tool
	input() *jsonschema.Schema
	output() *jsonschema.Schema
	answer(ctx context.Context, env Env, raw json.RawMessage) Result
}

// Result is the answer of a tool.
type Result struct {
	// Output is what the output schema describes; it is marshalled to JSON.
	Output any
	// Failed says that the output's success is false.
	Failed bool
	// OnlyCommand says that the tool did its work although Failed is set: the command that
	// it ran has failed, by its own exit code.
	OnlyCommand bool
	// Task is the id of the background shell in which a command of the call continues;
	// empty if there is none. See [BashOutcome].
	Task string
	// Err is why, if it is known as more than a text; an [InputError] for input
	// that does not fit the schema.
	Err error
	// AfterAnswer does the rest of the work once the caller has the answer; nil means that
	// there is none. It is called once.
	AfterAnswer func(ctx context.Context) error
}

// Input is the JSON Schema of the input. It is shared: don't change it.
func (t Tool) Input() *jsonschema.Schema { return t.kind.input() }

// Output is the JSON Schema of every answer. It is shared: don't change it.
func (t Tool) Output() *jsonschema.Schema { return t.kind.output() }

// Call calls the tool with a JSON object; empty is taken for one without fields.
func (t Tool) Call(ctx context.Context, env Env, input json.RawMessage) Result {
	return t.kind.answer(ctx, env, input)
}

// All returns the tools in the order in which they are listed.
func All() []Tool {
	kinds := []kind{
		bash, bashOutput, killShell, Tasks,
		workerSpawn, workerList, workerStatus, workerOutput, workerSend, questions, workerAnswer, workerWait, workerKill,
		SpawnTeam, SpawnAgent, KillAgent, GetAgentStatus, peekAgent, nudgeAgent, Heartbeat,
		SendMessage, ReadMessages, RespondShutdown,
		TaskCreate, TaskClaim, TaskUpdate, TaskList,
	}
	tools := make([]Tool, len(kinds))
	for i, k := range kinds {
		tools[i] = k.about()
	}
	return tools
}

// Find returns a tool of swarm itself; [OfPlugins] returns the others.
func Find(name string) (Tool, bool) {
	for _, t := range All() {
		if t.Name == name {
			return t, true
		}
	}
	return Tool{}, false
}

// Set is a group of tools that a server offers together: one of [Sets], or those of a plugin,
// whose name it is then.
type Set string

const (
	// Shells run commands, in the foreground and in the background of a session.
	Shells Set = "shells"
	// Workers manage workers that outlive the session.
	Workers Set = "workers"
	// Teams are for agents that work together, and for their leaders.
	Teams Set = "teams"
)

// Sets returns the sets of swarm itself, in the order in which their tools are listed.
func Sets() []Set { return []Set{Shells, Workers, Teams} }

// Plugins returns the plugins among sets.
func Plugins(sets []Set) (plugins []string) {
	for _, set := range sets {
		if !slices.Contains(Sets(), set) {
			plugins = append(plugins, string(set))
		}
	}
	return plugins
}

// ParseSets reads names of sets that are separated by commas. Whether the plugins among them
// exist is not known here.
func ParseSets(text string) ([]Set, error) {
	var sets []Set
	for name := range strings.SplitSeq(text, ",") {
		set := Set(strings.TrimSpace(name))
		if !catalog.ValidName(string(set)) {
			return nil, UnknownSet(string(set))
		}
		if !slices.Contains(sets, set) {
			sets = append(sets, set)
		}
	}
	return sets, nil
}

// UnknownSet is the error about a set that is neither of swarm nor a plugin with tools.
func UnknownSet(name string) error {
	return fmt.Errorf("unknown set of tools '%s': use one or more of %s, separated by commas, or plugins whose tools your config turns on",
		name, JoinSets(Sets()))
}

// JoinSets writes sets as [ParseSets] reads them.
func JoinSets(sets []Set) string {
	names := make([]string, len(sets))
	for i, set := range sets {
		names[i] = string(set)
	}
	return strings.Join(names, ",")
}
