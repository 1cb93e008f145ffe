package tool

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"time"

	"github.com/swarmhost/swarm/host"
	"github.com/swarmhost/swarm/host/agent"
	"github.com/swarmhost/swarm/host/registry"
	"github.com/swarmhost/swarm/host/team"
	"github.com/swarmhost/swarm/shared/humane"
)

type SendMessageInput struct {
	TeamName string `json:"teamName" jsonschema:"Name of the team" schema:"min=1"`
	To       string `json:"to" jsonschema:"Name or ID of an agent, leader, or all" schema:"min=1"`
	Message  string `json:"message" jsonschema:"Text of the message" schema:"min=1"`
}

type SendMessageOutput struct {
	outcome
	ID       string    `json:"id" jsonschema:"ID of the message; the first one if it went to several, empty if there is no other member"`
	Receipts []Receipt `json:"receipts,omitempty" jsonschema:"One for each recipient"`
	failure
}

// wakes are the members for whom a notifier process is running.
func (o *SendMessageOutput) wakes(members []string) {
	for i := range o.Receipts {
		o.Receipts[i].Notifier = slices.Contains(members, o.Receipts[i].To)
	}
}

// Receipt is how a message was brought to one recipient.
type Receipt struct {
	ID       string           `json:"id" jsonschema:"ID of the message"`
	To       string           `json:"to" jsonschema:"ID of the member"`
	Stored   humane.Timestamp `json:"stored" jsonschema:"When it was in the inbox"`
	How      string           `json:"how,omitempty" jsonschema:"How it was delivered; absent: not yet" schema:"enum=nudging|nudge|unproven|hook|read"`
	Brought  humane.Timestamp `json:"brought,omitzero" jsonschema:"When it was delivered"`
	Read     humane.Timestamp `json:"read,omitzero" jsonschema:"When it was read"`
	Notifier bool             `json:"notifier,omitempty" jsonschema:"A process waits until the agent is at its prompt"`
}

func receipt(m registry.Message) Receipt {
	return Receipt{
		ID: strconv.FormatInt(m.ID, 10), To: m.Recipient, Stored: humane.At(m.Time),
		How: string(m.How), Brought: humane.At(m.Delivered), Read: humane.At(m.Read),
	}
}

type ReadMessagesInput struct {
	TeamName   string `json:"teamName" jsonschema:"Name of the team" schema:"min=1"`
	UnreadOnly bool   `json:"unreadOnly" jsonschema:"Leave out read ones" schema:"default=true"`
	Wait       int    `json:"wait,omitempty" jsonschema:"Ms to wait for a new one" schema:"over=0"`
}

type ReadMessagesOutput struct {
	outcome
	Messages  []Message `json:"messages" jsonschema:"The messages, the oldest first"`
	Pending   bool      `json:"pending,omitempty" jsonschema:"No message came in time: call again"`
	Remaining int       `json:"remaining,omitempty" jsonschema:"Number of further messages: call again" schema:"number"`
	failure
}

type Message struct {
	ID        string           `json:"id" jsonschema:"ID of the message"`
	From      string           `json:"from" jsonschema:"ID of the sender, leader or system"`
	To        string           `json:"to" jsonschema:"ID of the member that it went to"`
	Type      string           `json:"type" jsonschema:"A shutdown message has a JSON object as its text" schema:"enum=plain|shutdown_request|shutdown_approved|system"`
	Message   string           `json:"message" jsonschema:"Its text"`
	Timestamp humane.Timestamp `json:"timestamp" jsonschema:"When it was sent"`
	Read      bool             `json:"read" jsonschema:"It had been read before this call"`
	How       string           `json:"how,omitempty" jsonschema:"How you were notified; absent: you were not" schema:"enum=nudging|nudge|unproven|hook|read"`
	Brought   humane.Timestamp `json:"brought,omitzero" jsonschema:"When you were notified"`
}

var SendMessage = &definition[SendMessageInput, SendMessageOutput]{
	tool: Tool{
		Name:        "send-message",
		Title:       "Send a message",
		Set:         Teams,
		Member:      true,
		Description: `Send a message to a member of the team, or to all others.`,
	},
	run: func(ctx context.Context, h *host.Host, _ Env, in SendMessageInput) (SendMessageOutput, error) {
		sent, err := change(ctx, h, in.TeamName, func(ctx context.Context, tx *registry.Tx, caller team.Caller, now time.Time) ([]registry.Message, error) {
			ids, err := team.Send(ctx, tx, caller, in.TeamName, in.To, in.Message, now)
			if err != nil {
				return nil, err
			}
			return tx.MessagesWith(ctx, ids...)
		})
		var out SendMessageOutput
		for _, m := range sent { // the team may have no other member
			out.Receipts = append(out.Receipts, receipt(m))
			out.ID = out.Receipts[0].ID
		}
		return out, err
	},
}

var ReadMessages = &definition[ReadMessagesInput, ReadMessagesOutput]{
	tool: Tool{
		Name:   "read-messages",
		Title:  "Read messages",
		Set:    Teams,
		Member: true,
		Description: `Read your messages, the oldest first, and mark them as read. Answer a shutdown_request with
respond-shutdown.`,
	},
	run: func(ctx context.Context, h *host.Host, env Env, in ReadMessagesInput) (ReadMessagesOutput, error) {
		pending, err := awaitMessage(ctx, h, env, in)
		if err != nil {
			return ReadMessagesOutput{}, err
		}
		inbox, err := change(ctx, h, in.TeamName, func(ctx context.Context, tx *registry.Tx, caller team.Caller, now time.Time) (team.Inbox, error) {
			return team.Read(ctx, tx, caller, in.TeamName, in.UnreadOnly, now)
		})
		return ReadMessagesOutput{
			Messages: messages(inbox.Messages), Remaining: inbox.Remaining,
			Pending: pending && len(inbox.Messages) == 0,
		}, err
	},
}

func messages(ms []registry.Message) []Message {
	list := make([]Message, len(ms))
	for i, m := range ms {
		list[i] = Message{
			ID: strconv.FormatInt(m.ID, 10), From: m.Sender, To: m.Recipient, Type: string(m.Type),
			Message: m.Body, Timestamp: humane.At(m.Time), Read: !m.Read.IsZero(),
			How: string(m.How), Brought: humane.At(m.Delivered),
		}
	}
	return list
}

// awaitMessage waits for an unread message, if and as long as the input says, and reports
// whether none came in time. If the client no longer waits for the answer, that is an
// error: the messages must stay unread then.
func awaitMessage(ctx context.Context, h *host.Host, env Env, in ReadMessagesInput) (pending bool, err error) {
	if in.Wait == 0 {
		return false, nil
	}
	limited, cancel := env.waitContext(ctx, in.Wait)
	defer cancel()
	err = agent.AwaitMessage(limited, h, in.TeamName)
	if limited.Err() != nil {
		return true, errors.Join(ctx.Err(), env.gone())
	}
	return false, errors.Join(err, env.gone())
}
