package talk

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/cobra"

	"github.com/swarmhost/swarm/cmd/swarm/internal/apptest"
	"github.com/swarmhost/swarm/cmd/swarm/internal/output"
	"github.com/swarmhost/swarm/host/worker"
	"github.com/swarmhost/swarm/shared/swarm"
)

func TestSendParse(t *testing.T) {
	t.Parallel()
	one := worker.Selection{Names: []string{"w"}}
	text := func(s string) swarm.Input { return swarm.Input{Data: []byte(s), Enter: true} }
	for line, c := range map[string]struct {
		sel worker.Selection
		in  swarm.Input
		// usage is a part of the usage error.
		usage string
	}{
		"w hello":              {one, text("hello"), ""},
		"w ":                   {one, text(""), ""},
		"w hello --no-enter":   {one, swarm.Input{Data: []byte("hello")}, ""},
		"-- w --all":           {one, text("--all"), ""},
		"w -- -x":              {one, text("-x"), ""},
		"--all hello":          {worker.Selection{All: true}, text("hello"), ""},
		"--tag t hello":        {worker.Selection{Tag: "t"}, text("hello"), ""},
		"w --stdin":            {one, text("from\nstdin"), ""},
		"w --stdin --no-enter": {one, swarm.Input{Data: []byte("from\nstdin\n")}, ""},
		"--all --stdin":        {worker.Selection{All: true}, text("from\nstdin"), ""},
		"":                     {usage: "missing arguments"},
		"w":                    {usage: "missing argument"},
		"--all":                {usage: "missing argument"},
		"w two words":          {usage: "needs quotes"},
		"w --stdin text":       {usage: "unexpected argument"},
		"w text --all":         {usage: "exclude each other"},
		"text --tag ":          {usage: "--tag is empty"},
		"w  --no-enter":        {usage: "nothing to send"},
		"w -x":                 {usage: "unknown shorthand flag"},
	} {
		var sel worker.Selection
		var in swarm.Input
		a, _, _ := apptest.New()
		o := &sendOptions{}
		cmd := newSendWith(a, o)
		cmd.RunE = func(cmd *cobra.Command, args []string) (err error) {
			sel, in, err = o.parse(cmd, args)
			return err
		}
		cmd.SilenceErrors, cmd.SilenceUsage = true, true
		cmd.SetIn(strings.NewReader("from\nstdin\n"))
		var args []string
		if line != "" {
			args = strings.Split(line, " ")
		}
		cmd.SetArgs(args)
		err := cmd.Execute()
		if c.usage != "" {
			usage, ok := errors.AsType[*output.UsageError](err)
			if !ok || !strings.Contains(usage.Text, c.usage) {
				t.Errorf("%q: %v, want a usage error about %q", line, err, c.usage)
			}
			continue
		}
		if err != nil {
			t.Errorf("%q: %v", line, err)
			continue
		}
		if diff := cmp.Diff(c.sel, sel); diff != "" {
			t.Errorf("%q: selection (-want +got):\n%s", line, diff)
		}
		if diff := cmp.Diff(c.in, in); diff != "" {
			t.Errorf("%q: input (-want +got):\n%s", line, diff)
		}
	}
}
