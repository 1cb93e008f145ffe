package integration

import (
	"cmp"
	"path/filepath"
	"slices"
	"strings"

	"github.com/swarmhost/swarm/cmd/internal/jsonc"
)

// Client is a coding agent that swarm can be integrated into.
type Client struct {
	// Name is the name in commands, Title that for people.
	Name, Title string
	// events are the hook events that are used, in the order of their configuration.
	events []event
	// timeout is the limit of a hook in the client's own unit: it is killed then.
	timeout int
	// answers is the limit of a hook that waits for an answer, in the same unit; 0: the client
	// has no hook that decides.
	answers int
	// again is the decision by which the answer to a stop makes the agent continue.
	again string
	// Hint says what the user can do after an integration; it is empty if nothing is left
	// to do.
	Hint string
	// alwaysAgain says that the client marks every stop as one that follows a continuation
	// by a hook.
	alwaysAgain bool
	// policies says that permissions are in policy files, and not in the settings.
	policies bool
	// changes returns what has to be done to its files.
	changes func(c *Client, s Setup) ([]Change, error)
}

type event struct {
	name string
	kind kind
}

type kind int

const (
	begins kind = iota + 1
	prompts
	usesTool
	usedTool
	asks
	notifies
	stops
	// fails: a turn ended with an error.
	fails
	interrupted
	compacts
	compacted
	ends
)

// eventsBut returns the events by the names that most clients have for them, without those that a
// client lacks.
func eventsBut(lacking ...kind) []event {
	return slices.DeleteFunc([]event{
		{"SessionStart", begins},
		{"UserPromptSubmit", prompts},
		{"PreToolUse", usesTool},
		{"PostToolUse", usedTool},
		{"PermissionRequest", asks},
		{"Notification", notifies},
		{"Stop", stops},
		{"StopFailure", fails},
		{"Interrupt", interrupted},
		{"PreCompact", compacts},
		{"PostCompact", compacted},
		{"SessionEnd", ends},
	}, func(e event) bool { return slices.Contains(lacking, e.kind) })
}

// AnswerLimit is how many seconds a client gives a hook that waits for an answer.
const AnswerLimit = 600

// Clients returns the clients by their names.
func Clients() []Client {
	return []Client{
		{
			Name: "claude", Title: "Claude Code", timeout: 5, answers: AnswerLimit, again: "block", changes: claude,
			events: eventsBut(interrupted),
		},
		{
			Name: "codex", Title: "Codex", timeout: 5, answers: AnswerLimit, again: "block", changes: codex,
			Hint:   "Codex asks once whether to trust its new hooks, and runs none before",
			events: eventsBut(notifies, fails),
		},
		{
			// Its own command would write a part of the file that is edited here anyway, and takes
			// seconds.
			Name: "gemini", Title: "Gemini CLI", timeout: 5000, again: "deny", policies: true, changes: settings(".gemini"),
			events: []event{
				{"SessionStart", begins},
				{"BeforeAgent", prompts},
				{"BeforeTool", usesTool},
				{"AfterTool", usedTool},
				{"Notification", notifies},
				{"AfterAgent", stops},
				{"PreCompress", compacts},
				{"SessionEnd", ends},
			},
		},
		{
			// Its hooks are called by a plugin, which names them as Claude Code does.
			Name: "opencode", Title: "opencode", again: "block", changes: opencode,
			events: eventsBut(notifies, interrupted),
		},
		{
			Name: "qwen", Title: "Qwen Code", timeout: 5000, answers: 1000 * AnswerLimit, again: "block", alwaysAgain: true,
			changes: settings(".qwen"), events: eventsBut(interrupted),
		},
	}
}

// Named returns the client with a name, or nil if no client has it.
func Named(name string) *Client {
	for _, c := range Clients() {
		if c.Name == name {
			return &c
		}
	}
	return nil
}

// Decides reports whether the client has a hook that can decide what it asks.
func (c *Client) Decides() bool { return c.answers > 0 }

func Names() (names []string) {
	for _, c := range Clients() {
		names = append(names, c.Name)
	}
	return names
}

// settings integrates into a client that has all in one file, settings.json, of a directory in
// the user's home.
func settings(name string) func(c *Client, s Setup) ([]Change, error) {
	return func(c *Client, s Setup) ([]Change, error) {
		dir, err := s.home("", name)
		if err != nil {
			return nil, err
		}
		var p plan
		p.add(s.edited(filepath.Join(dir, "settings.json"),
			func(d *jsonc.Document) error {
				added := addServer(s, d, "mcpServers", server{s.Swarm, []string{"mcp"}})
				return cmp.Or(added, s.addHooks(d, c, "swarm"), s.allowInSettings(d, c))
			},
			func(d *jsonc.Document) error {
				return cmp.Or(removeServer[server](d, "mcpServers"), removeAllHooks(d, c), s.disallowInSettings(d, c))
			}))
		if c.policies && (s.AllowTools || s.Remove) {
			p.add(s.whole(filepath.Join(dir, "policies", "swarm.toml"), s.geminiPolicy(), func(text string) bool { return strings.HasPrefix(text, policyMark) }))
		}
		p.add(s.skill(filepath.Join(dir, "skills")))
		return p.changes, p.err
	}
}
