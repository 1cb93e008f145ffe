package web

import (
	"context"
	"strconv"
	"strings"

	"github.com/swarmhost/swarm/host/dash"
	"github.com/swarmhost/swarm/shared/humane"
	"github.com/swarmhost/swarm/shared/safetext"
)

type changes struct {
	Files []changedFile
	Parts []changedPart
	// Rest is how many files are not listed.
	Rest int
	// Added and Removed are the lines of all files.
	Added, Removed int
	// Cut says that there is more than the parts show.
	Cut bool
	// Problem is why nothing is shown; empty: it is.
	Problem string
	// Line is the command line that shows all of it.
	Line string
}

// changedFile is a line of the summary. Binary says that its lines are not counted.
type changedFile struct {
	Path           string
	Added, Removed int
	Binary         bool
}

type changedPart struct {
	Path, Notes    string
	Added, Removed int
	Lines          []changedLine
}

// changedLine is a line of a difference. Class is what the style sheet calls its kind.
type changedLine struct{ Class, Number, Text string }

const maxFiles = 300

func (s *Server) changesOf(ctx context.Context, i dash.Item) changes {
	c := changes{Line: "swarm " + humane.Command([]string{"diff", i.Name})}
	d, err := dash.Diff(ctx, s.differ, i.ID)
	if err != nil {
		c.Problem = safetext.Line(err.Error())
		return c
	}
	c.Cut = d.Cut
	for n, f := range d.Files {
		file := changedFile{safetext.Line(f.Path), max(f.Added, 0), max(f.Removed, 0), f.Added < 0}
		c.Added, c.Removed = c.Added+file.Added, c.Removed+file.Removed
		if n < maxFiles {
			c.Files = append(c.Files, file)
		} else {
			c.Rest++
		}
	}
	for _, p := range d.Parts {
		part := changedPart{Path: p.Path, Notes: strings.Join(p.Notes, ", "), Added: p.Added, Removed: p.Removed}
		for _, l := range p.Lines {
			part.Lines = append(part.Lines, changedLine{classOf(l.Kind), numberOf(l.Number), l.Text})
		}
		c.Parts = append(c.Parts, part)
	}
	return c
}

func classOf(k dash.DiffKind) string {
	switch k {
	case dash.DiffAdded:
		return "add"
	case dash.DiffRemoved:
		return "del"
	case dash.DiffPlace, dash.DiffRemark:
		return "at"
	default:
		return "same"
	}
}

func numberOf(n int) string {
	if n == 0 {
		return ""
	}
	return strconv.Itoa(n)
}
