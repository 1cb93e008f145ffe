package web

import (
	"cmp"
	"context"
	"net/http"
	"slices"
	"time"

	"github.com/swarmhost/swarm/host/dash"
	"github.com/swarmhost/swarm/host/registry"
	"github.com/swarmhost/swarm/host/team"
	"github.com/swarmhost/swarm/shared/humane"
	"github.com/swarmhost/swarm/shared/safetext"
)

type teamView struct {
	Name, Description string
	Age               string
	Agents            []agentView
	Lanes             []lane
	Messages          []messageView
	Tasks             int
}

// agentView is a member of a team. Row is its worker; nil if that is gone.
type agentView struct {
	Name, Role, Model, Status string
	Row                       *row
}

type lane struct {
	Label string
	Tasks []taskView
}

type taskView struct {
	N                    int
	Title, Owner         string
	Priority             string
	Needs                []int
	Age, Since, Assignee string
}

type messageView struct {
	From, To, Body string
	Age, Since     string
	Unread         bool
}

// maxMessages is how many messages of a team are shown, the newest ones, and maxBodies how
// long those to one member may be together.
const maxMessages, maxBodies = 50, 64 << 10

func (s *Server) serveTeams(w http.ResponseWriter, r *http.Request) {
	teams, err := s.teams(r.Context(), time.Now())
	if err != nil {
		s.fail(w, r, err)
		return
	}
	s.show(w, page{Title: "Teams", Part: "teams", Nav: "teams", Live: "/teams/live", Data: teams})
}

func (s *Server) liveTeams(w http.ResponseWriter, r *http.Request) {
	s.livePart(w, r, "Teams", "teams", "teamlist", func() (any, error) { return s.teams(r.Context(), time.Now()) })
}

func (s *Server) teams(ctx context.Context, now time.Time) ([]teamView, error) {
	items := s.feed.first(ctx).Items
	var views []teamView
	err := s.opts.Host.View(ctx, func(ctx context.Context, tx *registry.Tx) error {
		teams, _, err := tx.Teams(ctx)
		if err != nil {
			return err
		}
		for _, t := range teams {
			v := teamView{Name: safetext.Line(t.Name), Description: safetext.Line(t.Description), Age: humane.Age(now.Sub(t.Created))}
			agents, err := tx.Members(ctx, t.Name)
			if err != nil {
				return err
			}
			names := map[string]string{team.Leader: team.Leader}
			for _, a := range agents {
				names[a.ID] = a.Name
				v.Agents = append(v.Agents, agentOf(a, items, now))
			}
			tasks, err := tx.Tasks(ctx, registry.TaskQuery{Team: t.Name})
			if err != nil {
				return err
			}
			v.Tasks, v.Lanes = len(tasks), lanesOf(tasks, names, now)
			messages, err := messages(ctx, tx, t.Name, names, now)
			if err != nil {
				return err
			}
			v.Messages = messages
			views = append(views, v)
		}
		return nil
	})
	return views, err
}

func agentOf(a registry.Agent, items []dash.Item, now time.Time) agentView {
	v := agentView{Name: safetext.Line(a.Name), Role: string(a.Role), Model: safetext.Line(a.Model), Status: string(a.Status)}
	if i := slices.IndexFunc(items, func(i dash.Item) bool { return i.ID == a.WorkerID }); i >= 0 {
		r := rowOf(items[i], now)
		v.Row = &r
	}
	return v
}

func lanesOf(tasks []registry.Task, names map[string]string, now time.Time) []lane {
	lanes := []lane{{Label: "Open"}, {Label: "In progress"}, {Label: "Done"}}
	for _, t := range tasks {
		at, since := 0, t.Created
		switch t.Status {
		case registry.TaskInProgress:
			at, since = 1, t.Claimed
		case registry.TaskCompleted:
			at, since = 2, t.Completed
		case registry.TaskPending:
		}
		v := taskView{
			N: t.N, Title: safetext.Line(t.Title), Owner: nameOf(names, t.Owner), Assignee: nameOf(names, t.Assignee), Needs: t.Needs,
			Age: humane.Age(now.Sub(since)), Since: stamp(since),
		}
		if t.Priority != registry.PriorityNormal {
			v.Priority = string(t.Priority)
		}
		lanes[at].Tasks = append(lanes[at].Tasks, v)
	}
	return lanes
}

func nameOf(names map[string]string, id string) string { return safetext.Line(cmp.Or(names[id], id)) }

// messages returns the newest messages to the members of a team, the leader included.
func messages(ctx context.Context, tx *registry.Tx, teamName string, names map[string]string, now time.Time) ([]messageView, error) {
	var all []registry.Message
	for id := range names {
		some, _, err := tx.Messages(ctx, registry.MessageQuery{Team: teamName, Recipient: id, Newest: true, Limit: maxMessages, Bytes: maxBodies})
		if err != nil {
			return nil, err
		}
		all = append(all, some...)
	}
	slices.SortFunc(all, func(a, b registry.Message) int { return cmp.Compare(b.ID, a.ID) })
	var views []messageView
	for _, m := range all[:min(len(all), maxMessages)] {
		views = append(views, messageView{
			From: nameOf(names, m.Sender), To: nameOf(names, m.Recipient), Body: safetext.Block(m.Body),
			Age: humane.Age(now.Sub(m.Time)), Since: stamp(m.Time), Unread: m.Read.IsZero(),
		})
	}
	return views, nil
}
