package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"sync"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/swarmhost/swarm/host"
	"github.com/swarmhost/swarm/host/agent"
	"github.com/swarmhost/swarm/host/registry"
	"github.com/swarmhost/swarm/host/tool"
)

// tools are the tools and inboxes that the SDK's server offers.
type tools struct {
	mu sync.Mutex
	// offered are the tools' descriptions by their names.
	offered map[string]string
	// ofPlugins are the tools of each plugin that is to be offered, as it last listed them.
	ofPlugins map[string][]tool.Tool
	// inboxes and inbox say that the inboxes of all teams and the caller's own are offered.
	inboxes, inbox bool
	// teams are the teams and their leaders that followTeams, which one goroutine calls, has
	// seen.
	teams string
}

// membership returns the caller for whom the tools are offered.
func (s *server) membership() agent.Membership {
	s.callerMu.RLock()
	defer s.callerMu.RUnlock()
	return s.caller
}

// offer offers the tools and inboxes that suit the caller, and no others. The SDK notifies
// the client if that changes what is offered.
func (s *server) offer() {
	s.tools.mu.Lock()
	defer s.tools.mu.Unlock()
	s.offerTools()
	s.offerInbox()
}

func (s *server) offerTools() {
	all := tool.All()
	for _, plugin := range tool.Plugins(s.Tools) {
		all = append(all, s.tools.ofPlugins[plugin]...)
	}
	var gone []string
	for name := range s.tools.offered {
		if !slices.ContainsFunc(all, func(t tool.Tool) bool { return t.Name == name && s.offers(t) }) {
			gone = append(gone, name)
			delete(s.tools.offered, name)
		}
	}
	for _, t := range all {
		before, offered := s.tools.offered[t.Name]
		if !s.offers(t) {
			continue
		}
		about := s.describe(t)
		now, err := json.Marshal(about)
		if err == nil && offered && before == string(now) {
			continue
		}
		s.tools.offered[t.Name] = string(now)
		s.sdk.AddTool(about, func(ctx context.Context, r *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
			return s.call(ctx, t, r)
		})
	}
	if gone != nil {
		s.sdk.RemoveTools(gone...)
	}
}

// askPlugins asks the plugins among the sets for their tools. One that can't be asked keeps those
// that it has listed before.
func (s *server) askPlugins(ctx context.Context) {
	for _, plugin := range tool.Plugins(s.Tools) {
		listed, err := s.askPlugin(ctx, plugin)
		if err != nil {
			s.Logger.Error("the tools of a plugin can't be listed", "plugin", plugin, "error", err)
			continue
		}
		s.tools.mu.Lock()
		s.tools.ofPlugins[plugin] = listed
		s.tools.mu.Unlock()
	}
}

func (s *server) askPlugin(ctx context.Context, plugin string) ([]tool.Tool, error) {
	h, err := s.Env(plugin + ".").Open(ctx)
	if err != nil {
		return nil, err
	}
	listed, errs := tool.OfPlugins(ctx, h, plugin)
	return listed, errors.Join(append(errs, h.Close())...)
}

// followTeams is offerTo if a team was created or deleted, or got another leader, since the
// last call.
func (s *server) followTeams(ctx context.Context, h *host.Host) {
	var teams []registry.Team
	err := h.Store().View(ctx, func(ctx context.Context, tx *registry.Tx) (err error) {
		teams, _, err = tx.Teams(ctx)
		return err
	})
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		s.Logger.Debug("the teams can't be read", "error", err)
		return
	}
	var now strings.Builder
	for _, t := range teams {
		fmt.Fprintln(&now, t.Name, t.LeaderWorker)
	}
	if s.tools.teams == now.String() {
		return
	}
	s.tools.teams = now.String()
	s.offerTo(ctx, h)
}

// offerTo identifies the caller again, and offers what suits it now. A caller that can't be
// identified keeps its tools.
func (s *server) offerTo(ctx context.Context, h *host.Host) {
	if s.Outside {
		return // its tools are always the same
	}
	caller, err := agent.Identify(ctx, h)
	if err != nil {
		s.Logger.Debug("the tools are offered as before", "error", err)
		return
	}
	s.callerMu.Lock()
	s.caller = caller
	s.callerMu.Unlock()
	s.offer()
}

// offerAgain is offerTo with a host of its own.
func (s *server) offerAgain(ctx context.Context) {
	if s.Outside {
		return
	}
	h, err := s.Open(ctx)
	if err != nil {
		s.Logger.Debug("the tools are offered as before", "error", err)
		return
	}
	s.offerTo(ctx, h)
	_ = h.Close()
}
