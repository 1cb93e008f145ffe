package agent

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/swarmhost/swarm/host"
	"github.com/swarmhost/swarm/host/profile"
	"github.com/swarmhost/swarm/host/registry"
	"github.com/swarmhost/swarm/host/spawn"
	"github.com/swarmhost/swarm/host/team"
	"github.com/swarmhost/swarm/host/worker"
	"github.com/swarmhost/swarm/shared/swarm"
)

// DefaultBackend owns the workers of agents that are spawned without a backend.
const DefaultBackend = "tmux"

const envServer = "SWARM_TEAM_SERVER"

// maxNumber is how many names are tried for the worker of an agent.
const maxNumber = 99

type SpawnRequest struct {
	Team string
	// Name is its name in the team; empty: its id.
	Name string
	// Role is empty for a worker.
	Role  registry.Role
	Model string
	// Prompt takes the place of {prompt} in Command. Without one there it is an argument if
	// the agent's profile says how, and the agent is respawned without it; else it is typed
	// once the agent shows that it is ready for input.
	Prompt string
	// Dir is the working directory, absolute.
	Dir string
	// Backend is empty for [DefaultBackend].
	Backend string
	// Command is the program and its arguments. {prompt}, {model}, {name} and {port}, the
	// port of the team's server, are replaced in it. Flags that its profile demands are
	// added.
	Command []string
	// DirGiven, Env, Tags, Workspace and Profile have the meaning that they have in
	// [host.SpawnRequest].
	DirGiven  bool
	Env, Tags []string
	Workspace *spawn.WorkspaceRequest
	Profile   string
	// Limits are what its worker may use.
	Limits swarm.Limits
	// Sandbox is what its worker is kept from, and Own the settings that are chosen for it, as in
	// [host.SpawnRequest].
	Sandbox *swarm.Sandbox
	Own     registry.Own
	// ReadyPattern matches a line of its screen or output once it is ready for its prompt;
	// nil means the known prompts of agents and shells.
	ReadyPattern *regexp.Regexp
	// PromptWait is how long it may take to be ready for its prompt, more than a few
	// seconds; 0 means [DefaultPromptWait], which is also the limit for an agent that shows
	// nothing. A dialog and an error on its screen end the wait.
	PromptWait time.Duration
}

// Spawned is a new agent, as the tool spawn-agent returns it.
type Spawned struct {
	AgentID string `json:"agentId" jsonschema:"ID of the agent"`
	Name    string `json:"name" jsonschema:"Its name"`
	Color   string `json:"color" jsonschema:"Its colour, as #RRGGBB"`
	// SessionID is the id of its worker, Worker the worker's name.
	SessionID string `json:"sessionId" jsonschema:"ID of the worker that it runs in"`
	Worker    string `json:"-"`
	// PaneID is empty if it has no tmux pane.
	PaneID   string   `json:"paneId,omitempty" jsonschema:"tmux pane that it runs in"`
	Warnings []string `json:"warnings,omitempty" jsonschema:"Problems that did not make the call fail"`
}

// Spawn starts an agent and returns when it is active. A prompt that it could not
// be given is a warning, and a message in its inbox.
func Spawn(ctx context.Context, h *host.Host, req SpawnRequest) (Spawned, error) {
	caller, warnings, err := begin(ctx, h, req.Team)
	if err != nil {
		return Spawned{}, err
	}
	if err := mayJoin(ctx, h, caller, &req); err != nil {
		return Spawned{}, err
	}
	port, release, err := serve(ctx, h, req.Team)
	if err != nil {
		return Spawned{}, err
	}
	s := spawnRun{h: h, req: req, port: port, out: Spawned{Warnings: warnings}}
	s.complete()
	w, err := s.start(ctx)
	release()
	if err != nil {
		s.out.Warnings = idle(context.WithoutCancel(ctx), h, req.Team, s.out.Warnings)
		return Spawned{}, err
	}
	if req.Prompt != "" && !takesPrompt(req.Command) && !s.given {
		s.prompt(ctx, caller, w)
	}
	return s.out, nil
}

// mayJoin refuses an invalid request before anything is started, and fills in its defaults.
func mayJoin(ctx context.Context, h *host.Host, caller team.Caller, req *SpawnRequest) error {
	err := h.Store().Change(ctx, func(ctx context.Context, tx *registry.Tx) error {
		if err := team.Lead(ctx, tx, caller, req.Team, "spawn agents"); err != nil {
			return err
		}
		return team.Touch(ctx, tx, caller, time.Now())
	})
	if err != nil {
		return err
	}
	if req.Name != "" {
		if err := team.CheckAgentName(req.Name); err != nil {
			return err
		}
	}
	roles := []registry.Role{"", registry.RoleLeader, registry.RoleWorker, registry.RoleReviewer}
	if !slices.Contains(roles, req.Role) {
		return fmt.Errorf("%w: role '%s' is not one of %s, %s, %s", team.ErrInvalid, req.Role, registry.RoleLeader, registry.RoleWorker, registry.RoleReviewer)
	}
	if req.Backend == "" {
		req.Backend = DefaultBackend
	}
	if req.PromptWait == 0 {
		req.PromptWait = DefaultPromptWait
	}
	if req.ReadyPattern != nil && (req.Prompt == "" || takesPrompt(req.Command)) {
		return fmt.Errorf("%w: a ready pattern needs a prompt that is typed in", team.ErrInvalid)
	}
	return nil
}

// complete adds the flags that the agent's profile asks for.
func (s *spawnRun) complete() {
	profiles, _ := s.h.Profiles() // 'swarm agent profiles' reports mistakes in a profile
	p := profiles.Named(s.req.Profile)
	if s.req.Profile == "" {
		p = profiles.For(s.req.Command)
	}
	if p == nil {
		return
	}
	s.profile = p
	var missing []string
	s.req.Command, _, missing = p.WithFlags(s.req.Command)
	if len(missing) > 0 {
		s.out.Warnings = append(s.out.Warnings, fmt.Sprintf("%s needs %s as an agent of a team: add it to the command", p.Title(), strings.Join(missing, " ")))
	}
}

type spawnRun struct {
	h    *host.Host
	req  SpawnRequest
	port int
	out  Spawned
	// profile is the agent's; nil: none. given says that it has its prompt as an argument.
	profile *profile.Profile
	given   bool
}

// withPrompt returns a command with the prompt of the agent as an argument; nil if it is to be
// typed, or is in the command already. A model may trust a pasted text less than an argument.
func (s *spawnRun) withPrompt(command []string) []string {
	if s.profile == nil || s.req.Prompt == "" || takesPrompt(s.req.Command) || s.piped() || s.req.ReadyPattern != nil {
		return nil
	}
	return s.profile.WithPrompt(command, s.req.Prompt)
}

// start starts the worker of the agent, under the first of its names that is free.
func (s *spawnRun) start(ctx context.Context) (worker.Worker, error) {
	j := team.Entry{
		Team: s.req.Team, ID: "agent-" + strings.ToLower(rand.Text()[:6]), Name: s.req.Name, Role: s.req.Role, Model: s.req.Model,
		Dir: s.req.Dir, Prompt: s.req.Prompt,
	}
	if j.Name == "" {
		j.Name = j.ID
	}
	req := spawn.Request{
		Backend: s.req.Backend, Dir: s.req.Dir, Agent: &j, Options: s.options(),
		Command: s.fill(j.Name),
		Stdin:   s.piped(),
		Limits:  s.req.Limits,
		Sandbox: s.req.Sandbox,
		Own:     s.req.Own,
		Env:     s.req.Env, Tags: s.req.Tags, Workspace: s.req.Workspace, DirGiven: s.req.DirGiven, Profile: s.req.Profile,
		Warn: func(w worker.Warning) { s.out.Warnings = append(s.out.Warnings, w.Text) },
	}
	req.Run = s.withPrompt(req.Command)
	s.given = req.Run != nil
	if s.port != 0 {
		req.Env = append(slices.Clone(req.Env), envServer+"="+address(s.port))
	}
	for n := 1; ; n++ {
		req.Name = numbered(s.req.Team+"-"+j.Name, n)
		w, err := s.h.Spawn().Spawn(ctx, req)
		if errors.Is(err, worker.ErrExists) && n < maxNumber {
			continue
		}
		if err != nil {
			return w, err
		}
		return w, s.read(ctx, j.ID, w)
	}
}

// options has the windows of a team in a session of its own. Two state directories
// have different ones.
func (s *spawnRun) options() map[string]string {
	if s.req.Backend != DefaultBackend {
		return nil
	}
	sum := sha256.Sum256([]byte(s.h.Dir()))
	return map[string]string{"session": "swarm-" + hex.EncodeToString(sum[:4]) + "-" + s.req.Team}
}

func (s *spawnRun) read(ctx context.Context, id string, w worker.Worker) error {
	s.out.AgentID, s.out.Worker = id, w.Name
	return s.h.Store().View(context.WithoutCancel(ctx), func(ctx context.Context, tx *registry.Tx) error {
		a, err := tx.Agent(ctx, id)
		s.out.Name, s.out.Color, s.out.SessionID, s.out.PaneID = a.Name, a.Color, a.Session, a.Pane
		return err
	})
}

// numbered returns the n-th name to try. It is short enough for a worker.
func numbered(name string, n int) string {
	suffix := ""
	if n > 1 {
		suffix = "-" + strconv.Itoa(n)
	}
	return name[:min(len(name), swarm.MaxName-len(suffix))] + suffix
}

// The placeholders in the command of an agent or a server.
const (
	placePrompt = "{prompt}"
	placeModel  = "{model}"
	placeName   = "{name}"
	placePort   = "{port}"
)

// fill returns the command of the agent with that name. Without a server, the placeholder of
// the port stays.
func (s *spawnRun) fill(name string) []string {
	pairs := []string{placePrompt, s.req.Prompt, placeModel, s.req.Model, placeName, name}
	if s.port != 0 {
		pairs = append(pairs, placePort, strconv.Itoa(s.port))
	}
	return fill(s.req.Command, pairs...)
}

// fill replaces placeholders in a command, each once: the replacement text is not searched
// again.
func fill(command []string, pairs ...string) []string {
	r := strings.NewReplacer(pairs...)
	filled := make([]string, len(command))
	for i, arg := range command {
		filled[i] = r.Replace(arg)
	}
	return filled
}

func takesPrompt(command []string) bool {
	return slices.ContainsFunc(command, func(arg string) bool { return strings.Contains(arg, placePrompt) })
}
