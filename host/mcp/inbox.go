package mcp

import (
	"context"
	"fmt"
	"slices"
	"strings"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/swarmhost/swarm/host"
	"github.com/swarmhost/swarm/host/agent"
	"github.com/swarmhost/swarm/host/team"
	"github.com/swarmhost/swarm/host/tool"
)

// inboxURI is the inbox of the caller in its own team; with "/" and the name of a team it
// is the one in that.
const inboxURI = "swarm://inbox"

var (
	inboxResource = &sdk.Resource{
		URI: inboxURI, Name: "inbox", Title: "Unread messages", MIMEType: textType,
		Description: "Your unread messages; read-messages marks them as read. Subscribe to be notified of new ones.",
	}
	inboxTemplate = &sdk.ResourceTemplate{
		URITemplate: inboxURI + "/{team}", Name: "inbox of a team", Title: inboxResource.Title, MIMEType: textType,
		Description: "Your unread messages in the team of that name.",
	}
)

// offerInbox offers the inbox of the caller's team, and those of all teams, where the caller
// is offered the tools of teams. The caller holds s.tools.mu.
func (s *server) offerInbox() {
	all := slices.Contains(s.sets(), tool.Teams)
	own := all && s.membership().Team() != ""
	switch {
	case all && !s.tools.inboxes:
		s.sdk.AddResourceTemplate(inboxTemplate, s.readInbox)
	case !all && s.tools.inboxes:
		s.sdk.RemoveResourceTemplates(inboxTemplate.URITemplate)
	}
	switch {
	case own && !s.tools.inbox:
		s.sdk.AddResource(inboxResource, s.readInbox)
	case !own && s.tools.inbox:
		s.sdk.RemoveResources(inboxURI)
	}
	s.tools.inboxes, s.tools.inbox = all, own
}

func isInbox(uri string) bool { return uri == inboxURI || strings.HasPrefix(uri, inboxURI+"/") }

// inbox returns the messages that wait in the inbox of a URI, and the team that it is in.
func (s *server) inbox(ctx context.Context, h *host.Host, uri string) (team.Inbox, string, error) {
	name, named := strings.CutPrefix(uri, inboxURI+"/")
	if !named {
		var err error
		if name, err = agent.CallerTeam(ctx, h); err != nil {
			return team.Inbox{}, "", err
		}
	}
	if !slices.Contains(s.sets(), tool.Teams) || name == "" {
		return team.Inbox{}, "", errNoWorker
	}
	box, err := agent.UnreadMessages(ctx, h, name)
	return box, name, err
}

func (s *server) readInbox(ctx context.Context, r *sdk.ReadResourceRequest) (*sdk.ReadResourceResult, error) {
	h, err := s.Open(ctx)
	if err != nil {
		return nil, err
	}
	defer func() { _ = h.Close() }()
	box, name, err := s.inbox(ctx, h, r.Params.URI)
	if err != nil {
		return nil, forClient(err, r.Params.URI)
	}
	return &sdk.ReadResourceResult{Contents: []*sdk.ResourceContents{{
		URI: r.Params.URI, MIMEType: textType, Text: inboxText(box, name),
		Meta: sdk.Meta{"unread": len(box.Messages) + box.Remaining},
	}}}, nil
}

func inboxText(box team.Inbox, name string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "Unread messages in team %s: %d\n", name, len(box.Messages)+box.Remaining)
	for _, m := range box.Messages {
		fmt.Fprintf(&b, "\n#%d from %s (%s), %s:\n%s\n", m.ID, m.Sender, m.Type, m.Time.UTC().Format("2006-01-02T15:04:05Z"), m.Body)
	}
	if box.Remaining > 0 {
		fmt.Fprintf(&b, "\n%d more are not shown.\n", box.Remaining)
	}
	return b.String()
}

// inboxState holds the facts about an inbox whose changes clients learn of.
type inboxState struct {
	unread int
	// oldest and newest are the ids of messages.
	oldest, newest int64
}

func (s *server) inboxStateOf(ctx context.Context, h *host.Host, uri string) (inboxState, error) {
	box, _, err := s.inbox(ctx, h, uri)
	at := inboxState{unread: len(box.Messages) + box.Remaining}
	if n := len(box.Messages); n > 0 {
		at.oldest, at.newest = box.Messages[0].ID, box.Messages[n-1].ID
	}
	return at, err
}

// subscribeInbox reads the inbox before it answers, so that the client is notified of each
// later message.
func (s *server) subscribeInbox(ctx context.Context, h *host.Host, uri string) error {
	at, err := s.inboxStateOf(ctx, h, uri)
	if err == nil {
		s.inboxes.Store(uri, at)
	}
	return err
}

// followInbox calls stir when messages come or are read, until ctx ends or something
// fails.
func (s *server) followInbox(ctx context.Context, uri string, stir func()) error {
	h, err := s.Open(ctx)
	if err != nil {
		return err
	}
	defer func() { _ = h.Close() }()
	return h.Store().AwaitChange(ctx, func(ctx context.Context) (bool, error) {
		now, err := s.inboxStateOf(ctx, h, uri)
		if err != nil {
			return false, err
		}
		if seen, _ := s.inboxes.Swap(uri, now); seen != now {
			stir()
		}
		return false, nil
	})
}
