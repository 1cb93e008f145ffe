package setup

import (
	"errors"
	"flag"
	"fmt"
	"io"

	"github.com/swarmhost/swarm/shared/humane"
	"github.com/swarmhost/swarm/shared/safetext"
)

// Companion is the command line of a part of swarm-serve, which swarm executes in its own place.
type Companion struct {
	*flag.FlagSet
	version string
}

// NewCompanion returns the command line of the part of that name, with the flags that all of
// them have. Program gets the path of swarm if it is given.
func NewCompanion(name string, program *string, errs io.Writer) *Companion {
	c := &Companion{FlagSet: flag.NewFlagSet(name, flag.ContinueOnError)}
	c.SetOutput(errs)
	c.StringVar(program, "swarm", "", "`path` of swarm, next to which plugins are looked for")
	c.StringVar(&c.version, "version", "", "`version` that this program must have")
	return c
}

// Parse reads the command line, and checks that swarm is of the same version.
func (c *Companion) Parse(args []string) error {
	if err := c.FlagSet.Parse(args); err != nil {
		return err
	}
	if c.NArg() > 0 {
		return fmt.Errorf("unexpected argument '%s'", c.Arg(0))
	}
	return CheckVersion(c.version)
}

// Finish prints err for the user, which may be nil, and returns the exit code of such a
// program.
func Finish(err error, errs io.Writer) int {
	if err == nil || errors.Is(err, flag.ErrHelp) {
		return 0
	}
	fmt.Fprintf(errs, "swarm: error: %s\n", safetext.Line(humane.Brief(Message(err))))
	return 1
}

// Warn prints an error that does not end the program.
func Warn(err error, errs io.Writer) {
	fmt.Fprintf(errs, "swarm: warning: %s\n", safetext.Line(humane.Brief(Message(err))))
}
