package web

import (
	"context"

	"github.com/swarmhost/swarm/host/dash"
	"github.com/swarmhost/swarm/shared/humane"
	"github.com/swarmhost/swarm/shared/safetext"
)

type changes struct {
	Files []changedFile
	Parts []dash.DiffPart
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

// diffClasses are the classes of the style sheet for lines of a difference.
var diffClasses = [...]string{dash.DiffSame: "same", dash.DiffAdded: "add", dash.DiffRemoved: "del", dash.DiffPlace: "at", dash.DiffRemark: "at"}

const maxFiles = 300

func (s *Server) changesOf(ctx context.Context, i dash.Item) changes {
	c := changes{Line: "swarm " + humane.Command([]string{"diff", i.Name})}
	d, err := dash.Diff(ctx, s.differ, i.ID)
	if err != nil {
		c.Problem = safetext.Line(err.Error())
		return c
	}
	c.Cut, c.Parts = d.Cut, d.Parts
	for n, f := range d.Files {
		file := changedFile{safetext.Line(f.Path), max(f.Added, 0), max(f.Removed, 0), f.Added < 0}
		c.Added, c.Removed = c.Added+file.Added, c.Removed+file.Removed
		if n < maxFiles {
			c.Files = append(c.Files, file)
		} else {
			c.Rest++
		}
	}
	return c
}
