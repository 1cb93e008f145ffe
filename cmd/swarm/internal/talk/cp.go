package talk

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/swarmhost/swarm/cmd/swarm/internal/app"
	"github.com/swarmhost/swarm/cmd/swarm/internal/command"
	"github.com/swarmhost/swarm/cmd/swarm/internal/output"
	"github.com/swarmhost/swarm/host"
	"github.com/swarmhost/swarm/shared/archive"
	"github.com/swarmhost/swarm/shared/humane"
	"github.com/swarmhost/swarm/shared/swarm"
)

func NewCp(a *app.App) *cobra.Command {
	asJSON := false
	cmd := &cobra.Command{
		Use:   "cp NAME:PATH DEST | SRC NAME:PATH",
		Short: "Copy files out of a worker, or into it",
		Long: `Copy a file or a directory, with all that is in it, from a worker to this machine or from
this machine to a worker, wherever the worker runs. A path in a worker is absolute or
relative to the worker's directory, which a relative one does not leave. A path on this
machine that looks like NAME:PATH begins with ./ or /.

If the destination is a directory, the copy is made in it, under the name of the original;
otherwise the copy gets the name of the destination, whose parent directory must exist. A
source that ends with /. is a directory of which the entries are copied, without its name. A
file replaces a file, and a directory is merged with one. Files keep their permissions and
times, and belong to the user who copies, or in the worker to the worker's user.

With - in the place of a path on this machine, swarm writes a tar stream to stdout, or reads one
from stdin and makes its files in the directory PATH. It writes none to a terminal.

No symbolic link below the destination is followed: a worker can't have a file written
somewhere else. A link in the source is copied as a link; one that leads out of what is
copied is left out, and so are devices, FIFOs and sockets. Each is named in a warning.

A sandboxed worker has files of its own only in its directory: other paths are refused. The
files of a worker that has ended can be copied as long as its directory, or its container,
exists.`,
		Example: `  swarm cp build:dist/app.tar.gz .
  swarm cp config.json build:etc/
  swarm cp assets/. build:public
  swarm cp build:logs - | tar t`,
		Args:              command.Arguments(2, 2, "source and a destination"),
		ValidArgsFunction: a.CompleteOneWorkerPath,
		RunE: func(cmd *cobra.Command, args []string) error {
			from, isFrom := inWorker(args[0])
			to, isTo := inWorker(args[1])
			switch {
			case isFrom && isTo:
				return output.Usagef("cannot copy from one worker to another; copy to this machine first")
			case !isFrom && !isTo:
				return &output.UsageError{Text: "expected a path in a worker, as NAME:PATH", Hint: "try 'swarm cp NAME:PATH DEST' or 'swarm cp SRC NAME:PATH'"}
			case isFrom && args[1] == stream && asJSON:
				return output.Usagef("--json can't be used with a tar stream on stdout")
			case isFrom && args[1] == stream && a.OutWidth() > 0:
				// The terminal would read what files of the worker hold as commands for itself.
				return output.Usagef("cannot write a tar stream to a terminal; redirect it, or give it to a command such as 'tar t'")
			}
			return runCp(cmd.Context(), a, asJSON, func(ctx context.Context, h *host.Host) (archive.Result, string, error) {
				s := h.Input()
				var r archive.Result
				var err error
				switch {
				case isFrom && args[1] == stream:
					r, err = s.StreamOut(ctx, from.name, from.path, a.Out)
					return r, "", err
				case isFrom:
					r, err = s.CopyOut(ctx, from.name, from.path, args[1])
					return r, "from " + from.name, err
				case args[0] == stream:
					r, err = s.StreamIn(ctx, to.name, to.path, cmd.InOrStdin())
				default:
					r, err = s.CopyIn(ctx, to.name, args[0], to.path)
				}
				return r, "to " + to.name, err
			})
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print what was copied as JSON")
	return cmd
}

// stream stands for a tar stream on stdin or stdout.
const stream = "-"

type workerPath struct{ name, path string }

// inWorker returns the parts of NAME:PATH, and whether a text has them.
func inWorker(text string) (workerPath, bool) {
	name, path, ok := strings.Cut(text, ":")
	if !ok || !swarm.ValidName(name) {
		return workerPath{}, false
	}
	if path == "" {
		path = "."
	}
	return workerPath{name, path}, true
}

type copiedJSON struct {
	Files int64 `json:"files"`
	Bytes int64 `json:"bytes"`
	// LeftOut are names with reasons, and more is how many others were left out.
	LeftOut []string `json:"left_out"`
	More    int      `json:"more"`
}

func runCp(ctx context.Context, a *app.App, asJSON bool, run func(context.Context, *host.Host) (archive.Result, string, error)) error {
	return a.WithHost(ctx, func(h *host.Host) error {
		r, where, err := run(ctx, h)
		for _, name := range r.Skipped {
			a.Warn(archive.LeftOut+strings.TrimPrefix(name, archive.LeftOut), "")
		}
		if r.More > 0 {
			a.Warn(fmt.Sprintf("%s%d more", archive.LeftOut, r.More), "")
		}
		switch {
		case err != nil:
			return err
		case asJSON:
			return a.PrintJSON(copiedJSON{Files: r.Files, Bytes: r.Bytes, LeftOut: append([]string{}, r.Skipped...), More: r.More})
		case where == "":
			return a.Out.Err
		case r.Files == 0:
			a.Printf("copied %s\n", where)
		default:
			files := "files"
			if r.Files == 1 {
				files = "file"
			}
			a.Printf("copied %d %s %s (%s)\n", r.Files, files, where, humane.Bytes(r.Bytes))
		}
		return nil
	})
}
