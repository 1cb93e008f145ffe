package ralph

import (
	"context"
	"fmt"
	"time"

	"github.com/swarmhost/swarm/cmd/swarm/internal/app"
	"github.com/swarmhost/swarm/cmd/swarm/internal/output"
	"github.com/swarmhost/swarm/cmd/swarm/internal/workers"
	"github.com/swarmhost/swarm/host"
	"github.com/swarmhost/swarm/host/deliver"
	"github.com/swarmhost/swarm/host/history"
	"github.com/swarmhost/swarm/host/profile"
	"github.com/swarmhost/swarm/host/ralph"
	"github.com/swarmhost/swarm/host/registry"
	"github.com/swarmhost/swarm/host/spawn"
	"github.com/swarmhost/swarm/shared/swarm"
)

// agentOfLoop records the profile of the agent that a loop runs. here says that it runs on
// this machine.
func agentOfLoop(a *app.App, h *host.Host, o *spawnOptions, here bool, st *ralph.State, request *spawn.Request) error {
	profiles, _ := h.Profiles() // 'swarm agent profiles' reports mistakes in a profile
	if o.Profile != "" && o.Profile != profile.None && profiles.Named(o.Profile) == nil {
		return output.WithHint(fmt.Errorf("unknown profile '%s'", o.Profile), "'swarm agent profiles' lists them")
	}
	st.Command = ralph.WithPlace(profiles, o.Profile, st.Command)
	st.Headless = ralph.Headless(profiles, o.Profile, st.Command)
	if st.Headless && o.inactivity == nil {
		st.Inactivity = 0 // it works in silence, and ends
	}
	workers.WarnOfFlags(a, h, spawn.Request{Command: st.Command, Profile: o.Profile})
	// The worker itself runs the loop; what its screen shows is the agent.
	request.Profile = ""
	if !here && o.continues {
		return output.Usagef("--continue is for agents on this machine")
	}
	if !here && o.noProgress != nil && *o.noProgress > 0 {
		return output.Usagef("--no-progress is for agents on this machine")
	}
	if !here {
		st.NoProgress = 0 // its files are not here
		return ralph.CheckFar(st.Command)
	}
	st.Profile = o.Profile
	if o.continues {
		if err := ralph.Resumes(profiles, st); err != nil {
			return err
		}
	}
	if p := ralph.ProfileOf(profiles, st); deliver.Supports(p) {
		request.Profile = p.Name()
	}
	return nil
}

// recordLimit is how long a write into the history may take.
const recordLimit = 10 * time.Second

// recorder returns a function that records in the history what happens to the loop.
func recorder(ctx context.Context, a *app.App) func(ralph.Note, string) {
	return func(n ralph.Note, text string) {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), recordLimit)
		defer cancel()
		loaded, err := a.Setup().LoadUser()
		if loaded == nil || err != nil {
			return // other commands report what is wrong
		}
		// The log of the loop has it in any case.
		_ = a.With(ctx, loaded.Config, func(h *host.Host) error {
			return h.Display().RecordLoop(ctx, a.Getenv(swarm.EnvWorkerID), loopEvents[n], text)
		})
	}
}

var loopEvents = map[ralph.Note]registry.EventKind{
	ralph.NoteAsks:    history.Blocked,
	ralph.NoteLimited: history.Limited,
	ralph.NotePaused:  history.LoopPaused,
}
