package app

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"

	"github.com/hashicorp/go-hclog"
	"golang.org/x/sys/unix"
	"golang.org/x/term"

	"github.com/swarmhost/swarm/cmd/internal/setup"
	"github.com/swarmhost/swarm/cmd/swarm/internal/output"
	"github.com/swarmhost/swarm/host/catalog"
	"github.com/swarmhost/swarm/shared/environ"
	"github.com/swarmhost/swarm/shared/programs"
	"github.com/swarmhost/swarm/shared/swarm"
)

// App is what every verb works with: the streams and the environment of one
// call. Fields are set once, before a verb runs.
type App struct {
	output.Printer
	Env []string
	// Colour is the value of --color; empty: auto.
	Colour string
	// Command is the command that is called, such as "swarm spawn".
	Command string
	// HelpError is the error of a request for help, which cobra can't return.
	HelpError error
}

func New(stdout, stderr *os.File, env []string) *App {
	widthOf := func(f *os.File) func() int {
		return func() int {
			width, _, err := term.GetSize(int(f.Fd()))
			if err == nil && width == 0 {
				return 80 // a terminal without a known size, such as a serial line
			}
			return width
		}
	}
	a := &App{Printer: output.Printer{
		Out: &output.Stream{W: stdout}, Err: stderr,
		OutWidth: widthOf(stdout), ErrWidth: widthOf(stderr),
	}, Env: env}
	a.ErrColours = func() bool { return output.WantsColour(a.Colour, a.Getenv, a.ErrWidth() > 0) }
	return a
}

// Getenv returns the last value of a variable in the environment.
func (a *App) Getenv(key string) string { return setup.Setup{Env: a.Env}.Getenv(key) }

// Logger is nil unless SWARM_LOG asks for more than a user wants to read.
func (a *App) Logger() hclog.Logger { return a.Setup().Logger }

// Colours reports whether stdout is to be coloured, see [output.WantsColour].
func (a *App) Colours() bool { return output.WantsColour(a.Colour, a.Getenv, a.OutWidth() > 0) }

// Plain reports whether symbols are to be ASCII: the locale has no Unicode.
func (a *App) Plain() bool { return !output.HasUnicode(a.Getenv) }

// WorkingDir makes a directory absolute, so that it means the same to a plugin.
func WorkingDir(path string) (string, error) {
	dir, err := filepath.Abs(path)
	if err != nil {
		return "", fmt.Errorf("cannot find the working directory: %w; use --cwd", err)
	}
	return dir, nil
}

// Companion returns the command of a part of swarm-serve, which takes the path and the version of
// swarm.
func (a *App) Companion(part string) ([]string, error) {
	own, err := setup.Executable()
	if err != nil {
		return nil, err
	}
	known, err := a.Setup().Catalog(nil)
	if err != nil {
		return nil, err
	}
	path, err := known.ProgramPath(programs.Serve)
	if missing, ok := errors.AsType[*catalog.MissingError](err); ok {
		err = output.WithHint(missing, "it comes with swarm: run 'make install', or go install github.com/swarmhost/swarm/cmd/...@latest")
	}
	return []string{path, part, "-swarm", own, "-version", setup.ReadBuild().Version}, err
}

// Become replaces this process by another program.
func (a *App) Become(to swarm.Program) error {
	path, err := exec.LookPath(to.Command[0])
	if err != nil {
		return err
	}
	env := environ.Set(environ.Unset(a.Env, to.Unset...), to.Env...)
	return fmt.Errorf("cannot run %s: %w", path, unix.Exec(path, to.Command, env))
}
