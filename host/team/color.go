package team

import (
	"fmt"
	"time"

	"github.com/swarmhost/swarm/host/registry"
)

// colors are the pool of a team.
var colors = []string{
	"#FF6B6B", "#4ECDC4", "#45B7D1", "#96CEB4", "#FFEAA7",
	"#DDA0DD", "#98D8C8", "#F7DC6F", "#BB8FCE", "#85C1E9",
}

// pickColor returns the colour of one more agent beside those that a team has: the
// first that none of them has. If there is none, it is that which an inactive
// agent got longest ago, and without inactive ones any agent; warning says so.
func pickColor(live []registry.Agent) (color, warning string) {
	// A colour that several have was used when the last of them got it, and is out
	// of use if all of them are.
	type use struct {
		at   time.Time
		away bool
	}
	uses := map[string]use{}
	for _, a := range live {
		u, known := uses[a.Color]
		if !known || a.ColorUsed.After(u.at) {
			u.at = a.ColorUsed
		}
		u.away = (!known || u.away) && a.Status == Inactive
		uses[a.Color] = u
	}
	color = colors[0]
	for _, c := range colors {
		u, used := uses[c]
		if !used {
			return c, ""
		}
		if best := uses[color]; u.away && !best.away || u.away == best.away && u.at.Before(best.at) {
			color = c
		}
	}
	return color, fmt.Sprintf("All %d colors are in use; %s is used twice", len(colors), color)
}
