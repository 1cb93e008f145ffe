package hookstate

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"time"
	"unicode/utf8"

	"github.com/swarmhost/swarm/shared/lazyregexp"
	"github.com/swarmhost/swarm/shared/proc"
	"github.com/swarmhost/swarm/shared/safefile"
	"github.com/swarmhost/swarm/shared/safetext"
)

// File is the name of the file in a run directory.
const File = "hook.json"

const (
	version = 1
	// maxFile bounds the file, maxText the texts in it.
	maxFile = 256 << 10
	maxText = 500
	// maxCommand bounds the command of a question, in which a quote needs two bytes of the
	// file, and some letters six.
	maxCommand = 32 << 10
)

// The states that a hook can report.
const (
	Working = "working"
	Idle    = "idle"
	Blocked = "blocked"
	// Background: the turn has ended, and background work of the agent runs on.
	Background = "background"
	// Compacting: the agent summarizes its conversation.
	Compacting = "compacting"
	// Limited and Broken: the turn ended with a usage limit, or with another error.
	Limited = "limited"
	Broken  = "broken"
)

// States returns all states that a hook can report.
func States() []string {
	return []string{Working, Idle, Blocked, Background, Compacting, Limited, Broken}
}

// Claim is the report of an agent's hooks.
type Claim struct {
	Version int `json:"version"`
	// Client names the agent's program: claude, codex, gemini, opencode, qwen.
	Client string `json:"client"`
	// Session is the id of the agent's conversation; empty if it is not known. It stays
	// when the agent ends.
	Session string `json:"session,omitempty"`
	// Main is the main process of the worker when the hook ran, and Agent the process
	// that ran it.
	Main  proc.Identity `json:"main"`
	Agent proc.Identity `json:"agent"`
	// State is one of the states; empty if it is not known.
	State string `json:"state,omitempty"`
	// Question is the agent's question; only if State is [Blocked].
	Question string `json:"question,omitempty"`
	// Tool is the tool that the agent asks for, and Command the command that it wants to
	// run, or the tool's input as JSON, in as many lines as it has; only if State is
	// [Blocked]. Partial says that the end of Command is missing.
	Tool    string `json:"tool,omitempty"`
	Command string `json:"command,omitempty"`
	Partial bool   `json:"partial,omitempty"`
	// Ask is set if the hook of the question waits for a decision.
	Ask *Ask `json:"ask,omitempty"`
	// Reason is the error with which the turn ended, or the background work that runs on;
	// only if State is [Limited], [Broken] or [Background].
	Reason string `json:"reason,omitempty"`
	// Since is when the state began, and At the time of the last report.
	Since time.Time `json:"since,omitzero"`
	At    time.Time `json:"at,omitzero"`
}

// Holds reports whether the claim is about processes that live: main is the main process
// of the worker now. A state outlives neither that nor the agent itself.
func (c *Claim) Holds(main proc.Identity) bool {
	return c.State != "" && c.Main == main && c.Agent.Alive()
}

// Read returns the claim in a run directory. A file that is not there is an
// [io/fs.ErrNotExist]; one that is not what [Write] writes is another error.
func Read(run string) (Claim, error) {
	var c Claim
	path := filepath.Join(run, File)
	b, err := safefile.Read(path, maxFile)
	if err != nil {
		return Claim{}, err
	}
	if err := json.Unmarshal(b, &c); err != nil {
		return Claim{}, fmt.Errorf("%s: %w", path, err)
	}
	if c.Version != version {
		return Claim{}, fmt.Errorf("%s: expected version %d, got %d", path, version, c.Version)
	}
	c.clean()
	return c, nil
}

// Session returns the id of the conversation of the agent that lives, or lived, in a run
// directory; empty if it is not known. It begins with a letter or digit and has nothing
// but these and "._:-" in it, so it is one argument of a command and no option.
func Session(run string) string {
	c, err := Read(run)
	if err != nil {
		return ""
	}
	return c.Session
}

// Write replaces the claim in a run directory, whole or not at all.
func Write(run string, c Claim) error {
	c.Version = version
	c.clean()
	b, err := json.Marshal(c)
	if err != nil {
		return err
	}
	return safefile.ReplaceCache(filepath.Join(run, File), append(b, '\n'))
}

func (c *Claim) clean() {
	if !slices.Contains(States(), c.State) {
		c.State = ""
	}
	if c.State != Blocked {
		c.Question, c.Tool, c.Command, c.Partial, c.Ask = "", "", "", false, nil
	}
	if c.State != Background && c.State != Limited && c.State != Broken {
		c.Reason = ""
	}
	c.Client, c.Question, c.Tool, c.Reason = text(c.Client), text(c.Question), text(c.Tool), text(c.Reason)
	c.Command = safetext.Block(c.Command)
	if cut := safetext.Cut(c.Command, maxCommand); cut != c.Command {
		c.Command, c.Partial = cut, true
	}
	if !validSession().MatchString(c.Session) {
		c.Session = ""
	}
	// A time in the future was not observed, and would hold permanently.
	if now := time.Now(); c.At.After(now) || c.Since.After(c.At) {
		c.At, c.Since = now, now
	}
}

// text returns a text of one line, harmless and not too long.
func text(s string) string {
	for at := range s {
		if at >= maxText {
			s = s[:at] + "…"
			break
		}
	}
	if !utf8.ValidString(s) {
		s = s[:min(len(s), maxText)]
	}
	return safetext.Line(s)
}

// validSession bounds a session id, too. The ids of the known agents have less than 50 bytes.
var validSession = lazyregexp.New(`^[a-zA-Z0-9][a-zA-Z0-9._:-]{0,127}$`)
