package talk

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/swarmhost/swarm/cmd/swarm/internal/apptest"
	"github.com/swarmhost/swarm/cmd/swarm/internal/jsontest"
	"github.com/swarmhost/swarm/cmd/swarm/internal/output"
	"github.com/swarmhost/swarm/host/judgement"
	"github.com/swarmhost/swarm/host/profile"
	"github.com/swarmhost/swarm/host/question"
	"github.com/swarmhost/swarm/host/registry"
	"github.com/swarmhost/swarm/host/worker"
)

func fullQuestion() question.Question {
	w := jsontest.Full()
	w.State.Dialog = profile.Dialog{Digest: "5f0c", Lines: []string{"Proceed?", "1. Yes"}, Text: []string{"Proceed?"}, Command: []string{"a", "b"}, Framed: true}
	return question.Question{Worker: w, Project: "/r", Since: time.Unix(1, 0), Leader: true}
}

func emptyQuestion() question.Question {
	w := worker.Worker{Spec: registry.Spec{ID: "k3x9", Name: "w"}, State: &judgement.State{Profile: "claude", State: profile.Blocked}}
	return question.Question{Worker: w, Project: "/r", Refusal: errors.New("only a person may")}
}

func TestQuestionJSONFollowsTheSchema(t *testing.T) {
	t.Parallel()
	schema := jsontest.ReadSchema(t, "question")
	for _, q := range []question.Question{fullQuestion(), emptyQuestion()} {
		var v map[string]any
		if err := json.Unmarshal([]byte(jsontest.Compact(t, questionJSONOf(q))), &v); err != nil {
			t.Fatal(err)
		}
		for _, problem := range jsontest.Violations("question", schema, v) {
			t.Error(problem)
		}
		delete(v, "choices")
		if got := jsontest.Violations("question", schema, v); len(got) != 1 {
			t.Errorf("one violation, found %q", got)
		}
	}
	if got := jsontest.Compact(t, output.List[question.Question](nil, questionJSONOf)); got != "[]" {
		t.Errorf("no questions are %s, want an array", got)
	}
}

// Control characters of a question never reach the terminal.
func TestPrintQuestion(t *testing.T) {
	t.Parallel()
	q := fullQuestion()
	q.Worker.State.Dialog.Text = []string{"rm \x1b[2Jx", "Proceed?\u202e"}
	q.Worker.State.Choices[0].Label = "Yes\x1b]0;t\a"
	a, stdout, _ := apptest.WithState(t)
	printQuestion(a, q, time.Unix(61, 0))
	got := stdout.String()
	for _, want := range []string{
		"w.1 (claude) asks since 1m, in /r\n", `  rm \x1b[2Jx` + "\n", `    1  Yes\x1b]0;t\a` + "\n",
		"  swarm answer w.1 CHOICE --digest 5f0c\n", "  the leader of team crew may answer it, too\n",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("lacks %q:\n%s", want, got)
		}
	}
	if strings.ContainsAny(got, "\x1b\a\u202e") {
		t.Errorf("%q", got)
	}
	stdout.Reset()
	printQuestion(a, emptyQuestion(), time.Now())
	if got := stdout.String(); !strings.Contains(got, "you may not answer it: only a person may\n") || strings.Contains(got, "swarm answer") {
		t.Errorf("refused: %q", got)
	}
}
