package dash

import (
	"cmp"
	"strconv"

	"github.com/swarmhost/swarm/host/condition"
	"github.com/swarmhost/swarm/host/worker"
	"github.com/swarmhost/swarm/shared/swarm"
)

// Refusal says in one line why a verb does not suit a worker, and what does if something
// does. It is for verbs of which [Verb.Suits] is false.
func (v Verb) Refusal(i Item) string {
	return "cannot " + cmp.Or(verbTexts[v].toward, string(v)) + " '" + i.Name + "': " + v.obstacle(i)
}

func (v Verb) obstacle(i Item) string {
	switch {
	case v == Clean && i.Status == worker.StatusLost && len(i.Survivors) == 0:
		return i.Perhaps() + "; 'swarm clean --forget' removes its record"
	case v == Clean:
		return "it has not ended; kill it first"
	case i.Gone() && v == Kill:
		return "it has already ended"
	case i.Gone():
		return "it has ended (" + condition.Of(i.Worker).Text + ")"
	case i.Status != worker.StatusRunning:
		return "it is " + condition.Of(i.Worker).Text
	case v == Answer:
		return "its agent asks nothing"
	case v == Attach:
		return "it has no terminal"
	case !can(i, swarm.CapInput):
		return "its backend '" + i.Backend + "' takes no input"
	case v == Send:
		return "it has no terminal, and was spawned without --stdin"
	default:
		return "it has no terminal"
	}
}

// Skipped says of how many of the workers that a person chose a verb was not carried out,
// and why; empty if n is 0.
func (v Verb) Skipped(n int) string {
	if n == 0 {
		return ""
	}
	others, has, does := "others", "have", "do"
	if n == 1 {
		others, has, does = "other", "has", "does"
	}
	why := map[Verb]string{
		Kill: "had already ended", Clean: has + " not ended", Respawn: "can't be started again now",
	}[v]
	return strconv.Itoa(n) + " " + others + " " + cmp.Or(why, does+" not take it")
}
