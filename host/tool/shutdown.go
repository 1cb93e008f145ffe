package tool

import (
	"context"

	"github.com/swarmhost/swarm/host"
	"github.com/swarmhost/swarm/host/agent"
)

// RespondShutdownInput is an agent's answer to a shutdown request.
type RespondShutdownInput struct {
	TeamName string `json:"teamName" jsonschema:"Name of the team" schema:"min=1"`
	Approve  bool   `json:"approve" jsonschema:"Agree to shut down"`
	Ready    bool   `json:"ready" jsonschema:"End now; false: agreed, but first finish work" schema:"default=true"`
	Reason   string `json:"reason,omitempty" jsonschema:"Why, for the leader"`
}

// RespondShutdownOutput is how far the shutdown has come.
type RespondShutdownOutput struct {
	outcome
	Phase           string   `json:"phase,omitempty" jsonschema:"How far the shutdown has come; absent on an error" schema:"enum=confirmed|approved|rejected"`
	ReassignedTasks []string `json:"reassignedTasks" jsonschema:"Task IDs that were reassigned"`
	Warnings        []string `json:"warnings,omitempty" jsonschema:"What went wrong without making it fail"`
	Error           string   `json:"error,omitempty" jsonschema:"Why nothing was done"`
	later
}

// RespondShutdown answers a shutdown request.
var RespondShutdown = &definition[RespondShutdownInput, RespondShutdownOutput]{
	tool: Tool{
		Name:   "respond-shutdown",
		Title:  "Answer a shutdown request",
		Set:    Teams,
		Member: true,
		Description: `Answer a shutdown request. If you approve, your process ends after the answer; with ready
false you continue, and call again when ready. Else the leader gets the reason.`,
		Destructive: true,
	},
	run: func(ctx context.Context, h *host.Host, _ Env, in RespondShutdownInput) (RespondShutdownOutput, error) {
		r, err := agent.Respond(ctx, h, agent.RespondRequest{
			Team: in.TeamName, Approve: in.Approve, Ready: in.Ready, Reason: in.Reason,
		})
		if err != nil {
			return RespondShutdownOutput{}, err
		}
		return RespondShutdownOutput{
			outcome:         outcome{true},
			Phase:           string(r.Phase),
			ReassignedTasks: listed(r.Reassigned),
			Warnings:        r.Warnings,
			later:           later{r.AfterAnswer},
		}, nil
	},
	failed: func(_ RespondShutdownInput, text string) RespondShutdownOutput {
		return RespondShutdownOutput{ReassignedTasks: []string{}, Error: text}
	},
}
