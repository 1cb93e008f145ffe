package workers

import (
	"context"
	"hash/fnv"
	"slices"
	"strconv"

	"github.com/swarmhost/swarm/cmd/swarm/internal/app"
	"github.com/swarmhost/swarm/cmd/swarm/internal/output"
	"github.com/swarmhost/swarm/host"
)

// labelColours are the colours of names, as parameters of SGR. Red is left to errors.
var labelColours = []int{36, 33, 32, 35, 34, 96, 93, 92, 95, 94}

// mostLabel is the largest width of a name on a terminal. A pipe gets the whole name.
const mostLabel = 24

func labelsOf(ctx context.Context, a *app.App, h *host.Host, sel host.Selection, terminal bool) (map[string]string, error) {
	names, err := h.Names(ctx, sel)
	if err != nil {
		return nil, err
	}
	return labels(names, terminal, a.Colours()), nil
}

// labels returns a label for each worker, all of the same width.
func labels(names []string, terminal, coloured bool) map[string]string {
	most := 0
	shown := map[string]string{}
	for _, name := range names {
		shown[name] = name
		if terminal {
			shown[name] = output.Cut(name, mostLabel)
		}
		most = max(most, output.Columns(shown[name]))
	}
	colours := coloursOf(names)
	all := map[string]string{}
	for name, text := range shown {
		text = output.Padded(text, most)
		if coloured {
			text = "\x1b[" + strconv.Itoa(colours[name]) + "m" + text + " |\x1b[0m "
		} else {
			text += " | "
		}
		all[name] = text
	}
	return all
}

// coloursOf returns a colour for each name. A name has the same colour in every call,
// unless another name has taken it: as long as there are enough, no two are the same.
func coloursOf(names []string) map[string]int {
	names = slices.Clone(names)
	slices.Sort(names)
	taken := make([]bool, len(labelColours))
	all := map[string]int{}
	for i, name := range names {
		sum := fnv.New32a()
		sum.Write([]byte(name))
		at := int(sum.Sum32() % uint32(len(labelColours)))
		for i < len(labelColours) && taken[at] {
			at = (at + 1) % len(labelColours)
		}
		taken[at] = true
		all[name] = labelColours[at]
	}
	return all
}
