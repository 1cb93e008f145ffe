package dash

import (
	"strconv"

	"github.com/swarmhost/swarm/host"
	"github.com/swarmhost/swarm/host/condition"
	"github.com/swarmhost/swarm/shared/swarm"
)

// Refusal says in one line why a verb does not suit a worker, and what does if something
// does. It is for verbs of which [Verb.Suits] is false.
func (v Verb) Refusal(i Item) string {
	return "cannot " + v.toward() + " '" + i.Name + "': " + v.obstacle(i)
}

// toward is a verb with the words that stand before the name of a worker.
func (v Verb) toward() string {
	switch v {
	case Attach:
		return "attach to"
	case Send:
		return "send to"
	case Keys:
		return "send keys to"
	default:
		return string(v)
	}
}

func (v Verb) obstacle(i Item) string {
	switch {
	case v == Clean:
		return "it has not ended; kill it first"
	case i.Gone() && v == Kill:
		return "it has already ended"
	case i.Gone():
		return "it has ended (" + condition.Of(i.Worker).Text + ")"
	case i.Status != host.StatusRunning:
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
	why := [2]string{"other does not take it", "others do not take it"}
	switch v {
	case Kill:
		why = [2]string{"other had already ended", "others had already ended"}
	case Clean:
		why = [2]string{"other has not ended", "others have not ended"}
	case Respawn:
		why = [2]string{"other can't be started again now", "others can't be started again now"}
	case Attach, Send, Answer, Keys, Interrupt:
	}
	if n == 1 {
		return "1 " + why[0]
	}
	return strconv.Itoa(n) + " " + why[1]
}
