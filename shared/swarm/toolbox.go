package swarm

import "context"

// Toolbox offers tools: named functions with JSON in and out, which people call with
// `swarm tool call` and agents over the Model Context Protocol. A plugin of the kind "tools"
// implements this interface alone; a plugin of another kind may implement it in addition,
// which is [CapTools].
//
// The user turns the tools of a plugin on by name, and calls one as PLUGIN.TOOL.
type Toolbox interface {
	// ListTools returns the tools, at most [MaxTools], in the order in which they are to be
	// listed. It changes nothing, and every process of the plugin with the same settings
	// returns the same.
	ListTools(ctx context.Context) ([]Tool, error)

	// CallTool calls a tool and returns its answer, a JSON object that fits the tool's output
	// schema, of at most [MaxToolAnswer] bytes. The host has checked that the input fits the
	// input schema and that the caller has the right of the tool.
	//
	// The host repeats a call whose plugin process has ended only if the tool is read-only or
	// idempotent. A tool that the plugin does not have is [ErrNotFound]; input that is wrong
	// for a reason that the schema can't say is [ErrInvalidSpec]. The text of an error is for
	// the caller, a person or a model: what is wrong, and what to change.
	CallTool(ctx context.Context, call ToolCall) (answer []byte, err error)
}

// The bounds of tools. The SDK and the host refuse a plugin that exceeds one.
const (
	// MaxTools is the largest number of tools of one plugin.
	MaxTools = 100
	// MaxToolName is the largest length of the name of a tool.
	MaxToolName = 48
	// MaxToolText is the largest size of a title and of a description, in bytes. Every byte
	// is in each request that a client makes to its model.
	MaxToolText = 4 << 10
	// MaxToolSchema is the largest size of a schema, in bytes.
	MaxToolSchema = 32 << 10
	// MaxToolInput is the largest size of the input of a call, in bytes.
	MaxToolInput = 1 << 20
	// MaxToolAnswer is the largest size of an answer, in bytes.
	MaxToolAnswer = 4 << 20
)

// Tool describes one tool of a [Toolbox].
type Tool struct {
	// Name is unique in its plugin and valid by [ValidToolName].
	Name string
	// Title is the name for people, one line; empty: the name. Description is what a model
	// reads to decide when to call the tool and how; never empty.
	Title, Description string
	// Input and Output are JSON Schemas, of the type "object" and without references: "$ref"
	// could make a check endless. An empty Input is an object without fields, an empty
	// Output any object.
	Input, Output []byte
	// ReadOnly says that it changes nothing. Destructive says that it may delete or end
	// something; it is never set together with ReadOnly. Idempotent says that the same call
	// again changes nothing more.
	ReadOnly, Destructive, Idempotent bool
	// Right is what a caller needs; empty: [RightPerson].
	Right ToolRight
}

// ToolRight says who may call a tool. A right that a reader does not know is [RightPerson].
type ToolRight string

// The rights, from the narrowest to the widest.
const (
	RightPerson ToolRight = "person" // a person outside of all workers
	RightLeader ToolRight = "leader" // and the leader of a team
	RightMember ToolRight = "member" // and the agents of teams
	RightAnyone ToolRight = "anyone" // and all other workers and programs of the user
)

// ToolCall is one call of a tool.
type ToolCall struct {
	// Name is that of the tool, without the name of the plugin.
	Name string
	// Input is a JSON object of at most [MaxToolInput] bytes that fits the input schema.
	Input []byte
	// Caller is the identity of the caller, as the host has proved it.
	Caller ToolCaller
	// Dir is the working directory of the caller, absolute; empty if it is not known.
	Dir string
}

// ToolCaller is the identity of the caller of a tool. The zero value is a program of which
// nothing is proved; it has [RightAnyone] alone.
type ToolCaller struct {
	// Person says that the caller is a person, or a program that acts for one alone.
	Person bool
	// WorkerID and Worker are the id and the name of the worker in which the caller runs.
	WorkerID, Worker string
	// Team is the team that it belongs to or leads, Agent the id of the agent that it is.
	// Leader says that it leads the team.
	Team, Agent string
	Leader      bool
	// Session is the id of the client's session, such as that of an MCP server; calls of one
	// session have the same. Empty: none.
	Session string
}

// Has reports whether the caller has a right.
func (c ToolCaller) Has(r ToolRight) bool {
	switch r {
	case RightAnyone:
		return true
	case RightMember:
		return c.Person || c.Leader || c.Agent != ""
	case RightLeader:
		return c.Person || c.Leader
	default:
		return c.Person
	}
}

// ValidToolName reports whether a tool can have that name: letters, digits, '-' and '_',
// beginning with a letter, at most [MaxToolName].
func ValidToolName(name string) bool {
	if name == "" || len(name) > MaxToolName {
		return false
	}
	for i := range len(name) {
		c := name[i]
		letter := c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
		if !letter && (i == 0 || (c < '0' || c > '9') && c != '-' && c != '_') {
			return false
		}
	}
	return true
}

// CheckTools returns an error unless a list of tools keeps the rules of [Toolbox], as far as
// that can be seen without reading the schemas.
func CheckTools(tools []Tool) error {
	if len(tools) > MaxTools {
		return toolError{"", "there are more tools than the contract allows"}
	}
	seen := make(map[string]bool, len(tools))
	for _, t := range tools {
		if !ValidToolName(t.Name) {
			return toolError{"", "the name of a tool is not valid: letters, digits, '-' and '_', beginning with a letter, at most 48"}
		}
		if seen[t.Name] {
			return toolError{t.Name, "its name is listed twice"}
		}
		seen[t.Name] = true
		if why := t.wrong(); why != "" {
			return toolError{t.Name, why}
		}
	}
	return nil
}

func (t Tool) wrong() string {
	switch {
	case t.Description == "":
		return "it has no description"
	case len(t.Title) > MaxToolText || len(t.Description) > MaxToolText:
		return "its title or description is larger than 4 KiB"
	case len(t.Input) > MaxToolSchema || len(t.Output) > MaxToolSchema:
		return "a schema of it is larger than 32 KiB"
	case t.ReadOnly && t.Destructive:
		return "it is read-only and destructive at once"
	}
	return ""
}

// toolError is an error about a tool of a list; the contract does not link fmt.
type toolError struct{ name, text string }

func (e toolError) Error() string {
	if e.name == "" {
		return e.text
	}
	return "tool '" + e.name + "': " + e.text
}
