package profile

import (
	"fmt"
	"strings"
)

// Verdict is what became of a recording.
type Verdict struct {
	*Recording
	// Look is how the client's profile reads the screen.
	Look Look
	// Problems are the differences from what is expected; nil: there are none.
	Problems []string
	// Trials are the rules that were tried, in their order.
	Trials []Trial
}

// Replay reads a recorded screen with all profiles, and compares the result with what its name
// and its header say: the profile of its client knows it, and no other one takes it for what it
// is not.
func (s *Set) Replay(r *Recording) Verdict {
	v := Verdict{Recording: r}
	p := s.Named(r.Client)
	if p == nil {
		v.Problems = []string{fmt.Sprintf("there is no profile %q", r.Client)}
		return v
	}
	v.Look, v.Trials = p.Explain(r.Screen)
	v.Problems = r.problems(p, v.Look)
	dialog := r.kind() == "blocked"
	for _, other := range s.All() {
		if other == p || !other.Bare() && !dialog {
			continue
		}
		switch l := other.Look(r.Screen); {
		case other.Bare() && l.State != Unknown:
			v.Problems = append(v.Problems, fmt.Sprintf("the profile of a shell, %s, reads it as %s (rule %s)", other.Name(), l.State, l.Rule))
		case dialog && l.State == Working:
			v.Problems = append(v.Problems, fmt.Sprintf("the profile %s reads a dialog as working (rule %s)", other.Name(), l.Rule))
		}
	}
	return v
}

// problems compares how the client's profile reads the screen, which is l, with what is expected.
func (r *Recording) problems(p *Profile, l Look) (all []string) {
	wrong := func(format string, args ...any) { all = append(all, fmt.Sprintf(format, args...)) }
	want := recordedAs[r.kind()]
	if r.state != "" {
		want = r.state
	}
	if want != "" && l.State != want {
		wrong("state %s, want %s", l.State, want)
	}
	if r.rule != "" && l.Rule != r.rule {
		wrong("rule %q, want %q", l.Rule, r.rule)
	}
	if r.asks != "" && l.Question != r.asks {
		wrong("question %q, want %q", l.Question, r.asks)
	}
	if r.choices > 0 && len(l.Choices) != r.choices {
		wrong("%d choices, want %d", len(l.Choices), r.choices)
	}
	switch r.kind() {
	case "prompt":
		if l.Draft != "" || l.Broken != "" || l.Limit != "" {
			wrong("at an empty prompt: draft %q, error %q, limit %q", l.Draft, l.Broken, l.Limit)
		}
	case "draft":
		if l.Draft == "" {
			wrong("no draft at the prompt")
		}
		pasted := strings.Contains(r.Name, "paste") || strings.Contains(r.Name, "image")
		if pasted != p.Unsubmitted(l, "something else") {
			wrong("the draft %q stands for a paste: %t, want %t", l.Draft, !pasted, pasted)
		}
	case "blocked":
		if l.State == Blocked {
			r.dialogProblems(l, wrong)
		}
	case "limit":
		if l.Limit == "" || l.Broken != "" {
			wrong("limit %q, error %q", l.Limit, l.Broken)
		}
	case "error":
		if l.Broken == "" {
			wrong("no error is seen")
		}
	case "other":
		if l.State == Working {
			wrong("state working: the agent does not work")
		}
	}
	return all
}

// leastQuestion is how many bytes a question has at least.
const leastQuestion = 5

func (r *Recording) dialogProblems(l Look, wrong func(string, ...any)) {
	if len(l.Question) < leastQuestion {
		wrong("question %q", l.Question)
	}
	for _, c := range l.Choices {
		if c.Label != "" && strings.Contains(l.Question, c.Label) && len(c.Label) > leastQuestion {
			wrong("the question %q has the choice %q", l.Question, c.Label)
		}
	}
	if len(l.Choices) < 2 {
		wrong("%d choices, want 2 or more", len(l.Choices))
	}
	if asksCommand := strings.Contains(r.Name, "bash") || strings.Contains(r.Name, "command"); asksCommand && len(l.Dialog.Command) == 0 {
		wrong("the question %q names no command", l.Question)
	}
}
