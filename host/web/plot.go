package web

import (
	"fmt"
	"strings"

	"github.com/swarmhost/swarm/host/dash"
	"github.com/swarmhost/swarm/shared/humane"
)

type plot struct {
	Label, Now, Top string
	// Line and Area are the points of an SVG of 100 by 30.
	Line, Area string
}

func plotsOf(i dash.Item) []plot {
	var plots []plot
	cpus, memories := i.Series()
	if len(cpus) > 0 {
		plots = append(plots, plotOf("CPU", cpus, 0.05, percent))
	}
	if len(memories) > 0 {
		plots = append(plots, plotOf("Memory", memories, 1<<20, func(v float64) string { return humane.Bytes(int64(v)) }))
	}
	return plots
}

// plotOf draws values, the oldest on the left. The scale goes from 0 to the largest value,
// and at least to a given one, so that noise stays flat.
func plotOf(label string, values []float64, least float64, text func(float64) string) plot {
	top := least
	highest := 0.0
	for _, v := range values {
		top, highest = max(top, v), max(highest, v)
	}
	var line strings.Builder
	step := 100 / float64(dash.FiguresKept-1)
	x := 100 - step*float64(len(values)-1)
	begin := x
	for i, v := range values {
		if i > 0 {
			line.WriteByte(' ')
		}
		fmt.Fprintf(&line, "%.1f,%.1f", x, 29-27*v/top)
		x += step
	}
	return plot{
		Label: label, Now: text(values[len(values)-1]), Top: text(highest), Line: line.String(),
		Area: fmt.Sprintf("%.1f,30 %s 100,30", begin, line.String()),
	}
}
