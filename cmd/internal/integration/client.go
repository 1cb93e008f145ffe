package integration

import (
	"path/filepath"

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
	// again is the decision by which the answer to a stop makes the agent go on.
	again string
	// Hint tells the user what to do after an integration; it is empty if nothing is left
	// to do.
	Hint string
	// alwaysAgain says that the client marks every stop as one that follows a continuation
	// by a hook.
	alwaysAgain bool
	// changes returns what has to be done to its files.
	changes func(s Setup) ([]Change, error)
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
	interrupted
	ends
)

// Clients returns the clients by their names.
func Clients() []Client {
	return []Client{
		{
			Name: "claude", Title: "Claude Code", timeout: 5, again: "block", changes: claude,
			events: []event{
				{"SessionStart", begins},
				{"UserPromptSubmit", prompts},
				{"PreToolUse", usesTool},
				{"PostToolUse", usedTool},
				{"PermissionRequest", asks},
				{"Notification", notifies},
				{"Stop", stops},
				{"SessionEnd", ends},
			},
		},
		{
			Name: "codex", Title: "Codex", timeout: 5, again: "block", changes: codex,
			Hint: "Codex asks once whether to trust its new hooks, and runs none before",
			events: []event{
				{"SessionStart", begins},
				{"UserPromptSubmit", prompts},
				{"PreToolUse", usesTool},
				{"PostToolUse", usedTool},
				{"PermissionRequest", asks},
				{"Stop", stops},
				{"Interrupt", interrupted},
				{"SessionEnd", ends},
			},
		},
		{
			Name: "gemini", Title: "Gemini CLI", timeout: 5000, again: "deny", changes: gemini,
			events: []event{
				{"SessionStart", begins},
				{"BeforeAgent", prompts},
				{"BeforeTool", usesTool},
				{"AfterTool", usedTool},
				{"Notification", notifies},
				{"AfterAgent", stops},
				{"SessionEnd", ends},
			},
		},
		{
			// Its hooks are called by a plugin, which names them as Claude Code does.
			Name: "opencode", Title: "opencode", again: "block", changes: opencode,
			events: []event{
				{"SessionStart", begins},
				{"UserPromptSubmit", prompts},
				{"PreToolUse", usesTool},
				{"PostToolUse", usedTool},
				{"PermissionRequest", asks},
				{"Stop", stops},
				{"SessionEnd", ends},
			},
		},
		{
			Name: "qwen", Title: "Qwen Code", timeout: 5000, again: "block", alwaysAgain: true, changes: qwen,
			events: []event{
				{"SessionStart", begins},
				{"UserPromptSubmit", prompts},
				{"PreToolUse", usesTool},
				{"PostToolUse", usedTool},
				{"PermissionRequest", asks},
				{"Notification", notifies},
				{"Stop", stops},
				{"SessionEnd", ends},
			},
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

// Names returns the names of all clients.
func Names() (names []string) {
	for _, c := range Clients() {
		names = append(names, c.Name)
	}
	return names
}

// gemini integrates into Gemini CLI. Its own command would write a part of the file that
// is edited here anyway, and takes seconds.
func gemini(s Setup) ([]Change, error) { return s.settings(Named("gemini"), "", ".gemini") }

func qwen(s Setup) ([]Change, error) { return s.settings(Named("qwen"), "", ".qwen") }

// settings integrates into a client that has all in one file, settings.json.
func (s Setup) settings(c *Client, variable, name string) ([]Change, error) {
	dir, err := s.home(variable, name)
	if err != nil {
		return nil, err
	}
	file, err := s.edited(filepath.Join(dir, "settings.json"),
		func(d *jsonc.Document) error {
			if err := s.addServer(d); err != nil {
				return err
			}
			return s.addHooks(d, c, "swarm")
		},
		func(d *jsonc.Document) error {
			if err := removeServer(d); err != nil {
				return err
			}
			return removeAllHooks(d, c)
		})
	if err != nil {
		return nil, err
	}
	skill, err := s.skill(filepath.Join(dir, "skills"))
	return []Change{file, skill}, err
}
