package talk

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/swarmhost/swarm/cmd/swarm/internal/app"
	"github.com/swarmhost/swarm/cmd/swarm/internal/command"
	"github.com/swarmhost/swarm/cmd/swarm/internal/output"
	"github.com/swarmhost/swarm/cmd/swarm/internal/view"
	"github.com/swarmhost/swarm/host"
	"github.com/swarmhost/swarm/host/dash"
	"github.com/swarmhost/swarm/host/profile"
	"github.com/swarmhost/swarm/host/question"
	"github.com/swarmhost/swarm/host/registry"
	"github.com/swarmhost/swarm/host/watch"
	"github.com/swarmhost/swarm/host/worker"
	"github.com/swarmhost/swarm/shared/errtext"
	"github.com/swarmhost/swarm/shared/humane"
	"github.com/swarmhost/swarm/shared/wake"
)

type questionsOptions struct {
	tag         string
	json, watch bool
}

func NewQuestions(a *app.App) *cobra.Command {
	o := &questionsOptions{}
	cmd := &cobra.Command{
		Use:   "questions [flags]",
		Short: "List what agents ask",
		Long: `Print the open questions of agents, the oldest first: the
whole dialog with its choices, the worker, its project, and the command that answers
it. 'swarm answer' without a name takes the questions one after the other.

--watch stays and shows the questions as they come and go. It is 'swarm watch' as well:
it records what happens, and the rules in [[answers]] of ~/.config/swarm/config.toml
answer what they decide, here as in 'swarm watch', 'swarm top' and 'swarm web'. See
docs/questions.md.

--json prints an array; with --watch it prints one on a line after each change.
docs/question.schema.json describes its elements.`,
		Example: `  swarm questions
  swarm questions --watch
  swarm questions --json | jq -r '.[] | select(.may_answer) | .name'`,
		Args:              command.Arguments(0, 0, ""),
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE:              func(cmd *cobra.Command, _ []string) error { return runQuestions(cmd.Context(), a, o) },
	}
	f := cmd.Flags()
	f.StringVar(&o.tag, "tag", "", "only questions of workers with this tag")
	f.BoolVar(&o.json, "json", false, "print the questions as JSON")
	f.BoolVar(&o.watch, "watch", false, "stay, and show the questions as they come and go")
	return cmd
}

func runQuestions(ctx context.Context, a *app.App, o *questionsOptions) error {
	return a.WithHost(ctx, func(h *host.Host) error {
		if o.watch {
			return watchQuestions(ctx, a, h, o)
		}
		open, err := openQuestions(ctx, a, h, o.tag)
		if err != nil {
			return err
		}
		if o.json {
			return a.PrintJSON(output.List(open, questionJSONOf))
		}
		if len(open) == 0 {
			a.Tip("no agent asks anything")
			return nil
		}
		for i, q := range open {
			if i > 0 {
				a.Printf("\n")
			}
			printQuestion(a, q, time.Now())
		}
		return nil
	})
}

func openQuestions(ctx context.Context, a *app.App, h *host.Host, tag string) ([]question.Question, error) {
	open, warnings, err := h.Questions(ctx, worker.Selection{All: tag == "", Tag: tag})
	a.WarnAll(warnings)
	return open, err
}

// printQuestion prints a question with its dialog and its choices.
func printQuestion(a *app.App, q question.Question, now time.Time) {
	s := q.Worker.State
	since := ""
	if !q.Since.IsZero() {
		since = " since " + humane.Age(now.Sub(q.Since))
	}
	a.Printf("%s (%s) asks%s, in %s\n", q.Worker.Name, s.Profile, since, q.Project)
	lines := dash.DialogLines(s.Dialog, len(s.Choices) == 0)
	if len(lines) == 0 {
		lines = []string{output.Visible(s.Question)}
	}
	for _, line := range lines {
		a.Printf("  %s\n", output.Made(line))
	}
	for _, c := range s.Choices {
		a.Printf("    %s\n", output.Made(output.Visible(choiceLine(c))))
	}
	switch {
	case q.Refusal != nil:
		a.Printf("  you may not answer it: %s\n", errtext.Line(q.Refusal))
	case len(s.Choices) == 0:
		a.Printf("  swarm attach %s\n", q.Worker.Name)
	default:
		a.Printf("  %s\n", output.Made(answerLine(q)))
	}
	if q.Leader {
		a.Printf("  the leader of team %s may answer it, too\n", q.Worker.Team)
	}
}

func choiceLine(c profile.Choice) string {
	if c.Key == "" || strings.EqualFold(c.Key, c.Label) {
		return c.Label
	}
	return c.Key + "  " + c.Label
}

// answerLine is the command that answers a question, but for the choice.
func answerLine(q question.Question) string {
	line := "swarm answer " + q.Worker.Name + " CHOICE"
	if d := q.Worker.State.Dialog.Digest; d != "" {
		line += " --digest " + d
	}
	return line
}

// questionJSON is a question as docs/question.schema.json describes it. Fields are only ever
// added, at the end.
type questionJSON struct {
	Name     string           `json:"name"`
	ID       string           `json:"id"`
	Profile  string           `json:"profile"`
	Project  string           `json:"project"`
	Team     *string          `json:"team"`
	Agent    *string          `json:"agent"`
	Since    *string          `json:"since"`
	Question *string          `json:"question"`
	Command  *string          `json:"command"`
	Choices  []profile.Choice `json:"choices"`
	Dialog   *view.DialogJSON `json:"dialog"`
	// MayAnswer says that the caller may answer it, Refusal why not.
	MayAnswer bool    `json:"may_answer"`
	Refusal   *string `json:"refusal"`
	// Answerers are those who may answer it.
	Answerers []string `json:"answerers"`
}

func questionJSONOf(q question.Question) questionJSON {
	s := q.Worker.State
	j := questionJSON{
		Name: q.Worker.Name, ID: q.Worker.ID, Profile: s.Profile, Project: q.Project,
		Team: output.OrNull(q.Worker.Team), Agent: output.OrNull(q.Worker.Agent), Since: output.TimeJSON(q.Since),
		Question: output.OrNull(s.Question), Command: output.OrNull(strings.Join(q.Command(), "\n")),
		Choices: append([]profile.Choice{}, s.Choices...), Dialog: view.DialogJSONOf(s.Dialog),
		MayAnswer: q.Refusal == nil, Answerers: []string{"person"},
	}
	if q.Refusal != nil {
		j.Refusal = output.OrNull(errtext.Line(q.Refusal))
	}
	if q.Leader {
		j.Answerers = append(j.Answerers, "leader")
	}
	return j
}

// lookAgain is how often open questions are read again: no event says that an agent shows
// something that no rule knows.
const lookAgain = 3 * time.Second

// watchQuestions shows the open questions until ctx ends.
func watchQuestions(ctx context.Context, a *app.App, h *host.Host, o *questionsOptions) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	changed := make(chan struct{}, 1)
	signal := func() { wake.Up(changed) }
	ended := make(chan error, 1)
	go func() {
		ended <- h.Watch().Watch(ctx, watch.Request{
			Ready: signal, Changed: func(bool) { signal() }, Stopped: func(string) { signal() },
			Event: func(registry.Event) error { signal(); return nil },
			Warn:  func(text string) { a.Warn(text, "") },
		})
	}()
	shown := &shownQuestions{App: a, json: o.json}
	for {
		var again <-chan time.Time
		if len(shown.open) > 0 {
			again = time.After(lookAgain)
		}
		select {
		case err := <-ended:
			return err
		case <-changed:
		case <-again:
		}
		open, err := openQuestions(ctx, a, h, o.tag)
		if err == nil {
			err = shown.show(open)
		}
		if err != nil {
			cancel()
			if last := <-ended; !errors.Is(last, context.Canceled) {
				err = errors.Join(err, last)
			}
			return err
		}
	}
}

// shownQuestions prints the open questions whenever they have changed.
type shownQuestions struct {
	*app.App
	json  bool
	begun bool
	open  []question.Question
}

// identity distinguishes questions.
func identity(q question.Question) string {
	return q.Worker.ID + " " + q.Worker.State.Dialog.Digest + " " + q.Worker.State.Question
}

func (s *shownQuestions) show(open []question.Question) error {
	before := map[string]bool{}
	for _, q := range s.open {
		before[identity(q)] = true
	}
	same := s.begun && len(open) == len(s.open)
	for _, q := range open {
		same = same && before[identity(q)]
	}
	gone, first := s.open, !s.begun
	s.begun, s.open = true, open
	switch {
	case same:
		return nil
	case s.json:
		return s.PrintJSONLine(output.List(open, questionJSONOf))
	case s.OutWidth() > 0 && s.Getenv("TERM") != "dumb":
		s.repaint(open)
		return nil
	}
	if first && len(open) == 0 {
		s.Printf("%s\n", openHeading(0))
	}
	now := map[string]bool{}
	for _, q := range open {
		if now[identity(q)] = true; !before[identity(q)] {
			printQuestion(s.App, q, time.Now())
		}
	}
	for _, q := range gone {
		if !now[identity(q)] {
			s.Printf("%s no longer asks: %s\n", q.Worker.Name, output.Visible(q.Worker.State.Question))
		}
	}
	return nil
}

// repaint shows the questions in place of what the terminal shows.
func (s *shownQuestions) repaint(open []question.Question) {
	const home, clear = "\x1b[H", "\x1b[2J"
	s.Printf("%s%s\n", output.Made(clear+home), openHeading(len(open)))
	for _, q := range open {
		s.Printf("\n")
		printQuestion(s.App, q, time.Now())
	}
}

func openHeading(n int) string {
	switch n {
	case 0:
		return "no agent asks anything"
	case 1:
		return "1 open question"
	default:
		return fmt.Sprintf("%d open questions", n)
	}
}
