package task

import (
	"github.com/spf13/cobra"

	"github.com/swarmhost/swarm/cmd/swarm/internal/app"
	"github.com/swarmhost/swarm/cmd/swarm/internal/command"
)

func New(a *app.App) *cobra.Command {
	return command.NewGroup(&cobra.Command{
		Use:   "task",
		Short: "Create, claim, finish and list the tasks of a team",
		Long: `Create, claim, finish and list the tasks of a team. A task is pending, then
in_progress with a member as its owner, then completed. It never moves back, with one
exception: when an agent ends, its tasks in progress are pending again. A task that
depends on others can be claimed once these are completed. If several members claim a
task at the same time, one gets it.`,
		Example: `  swarm task create "write the parser" --team web --priority high
  swarm task create "test the parser" --team web --depends-on task-1
  swarm task claim task-1
  swarm task update task-1 completed
  swarm task ls --team web --status pending`,
	}, newCreate(a), newClaim(a), newUpdate(a), newLs(a))
}
