//go:build agents

package main_test

import (
	"bytes"
	"fmt"
	"image"
	"image/png"
	"path/filepath"
	"strings"
	"testing"

	"github.com/swarmhost/swarm/cmd/internal/modelserver"
)

// testAgentAnswers answers questions with several choices, with a text, and with both.
func testAgentAnswers(t *testing.T, l *lab) {
	if l.client.name != "claude" {
		t.Skip("only Claude Code asks with boxes and fields")
	}
	l.ready()
	question := func(text, header string, several bool, labels ...string) map[string]any {
		var options []any
		for _, label := range labels {
			options = append(options, map[string]string{"label": label, "description": "It is " + label})
		}
		return map[string]any{"question": text, "header": header, "multiSelect": several, "options": options}
	}
	ask := func(prompt string, questions ...any) {
		l.model.Script(modelserver.Turn{Tool: "AskUserQuestion", Input: map[string]any{"questions": questions}})
		l.swarm("send", "w", prompt)
		l.until("blocked")
	}
	// answered fails the test unless the model is given the answers.
	answered := func(wants ...string) {
		t.Helper()
		l.until("idle")
		screen := l.peek()
		for _, want := range wants {
			if !strings.Contains(screen, want) {
				t.Errorf("the answer lacks %q:\n%s", want, screen)
			}
		}
		if strings.Contains(screen, "Declined to answer") {
			t.Errorf("it was declined:\n%s", screen)
		}
	}
	bread := question("Which bread?", "Bread", false, "Rye", "Wheat")
	spreads := question("Which spreads do you like?", "Spreads", true, "Honey", "Jam", "Butter")

	ask("ask one", bread)
	if r := l.try("", "answer", "w", "Type something."); r.code == 0 || !strings.Contains(r.err, "is a field for a text of your own") {
		t.Errorf("a field without a text: exit %d\n%s%s", r.code, r.out, r.err)
	}
	t.Log(l.swarm("answer", "w", "--text", "Pumpernickel, 2 slices of it"))
	answered("Pumpernickel, 2 slices of it")

	ask("ask several", spreads)
	t.Log(l.swarm("answer", "w", "Butter"))
	r := l.try("", "answer", "w", "Honey", "Jam", "--submit")
	t.Log(r.out + r.err)
	if !strings.Contains(r.out, "(Honey, Jam)") {
		t.Fatalf("exit %d\n%s%s\n%s", r.code, r.out, r.err, l.peek())
	}
	if l.state().State == "blocked" {
		t.Log(l.swarm("answer", "w", "--submit"))
	}
	answered("Honey, Jam")

	ask("ask both", spreads, bread)
	t.Log(l.swarm("answer", "w", "Jam", "--text", "peanut butter", "--submit"))
	t.Log(l.swarm("answer", "w", "Rye"))
	t.Log(l.swarm("answer", "w", "--submit"))
	answered("Jam, peanut butter", "Rye")
	l.killed()
}

// testAgentImage sends the path of an image, which some clients take for the image.
func testAgentImage(t *testing.T, l *lab) {
	l.ready()
	path := filepath.Join(l.project, "dot.png")
	var dot bytes.Buffer
	if err := png.Encode(&dot, image.NewGray(image.Rect(0, 0, 1, 1))); err != nil {
		t.Fatal(err)
	}
	l.write(path, dot.String())
	for i := range 2 {
		before := len(l.model.Requests())
		r := l.try("", "send", "w", path)
		if l.client.name == "qwen" && r.code != 0 { // its first message can't be an image alone
			r = l.try("", "send", "w", "--anyway", fmt.Sprintf("look at image %d", i))
		}
		if r.code != 0 {
			t.Fatalf("exit %d\n%s%s\n%s", r.code, r.out, r.err, l.peek())
		}
		if !l.poll(func() bool { return len(l.model.Requests()) > before }) {
			t.Fatalf("the model was not asked:\n%s", l.peek())
		}
		l.until("idle")
		text := fmt.Sprintf("a text after image %d", i)
		l.swarm("send", "w", text)
		l.prompted(text)
		l.until("idle")
	}
	l.killed()
}

// testAgentDraft sends a text to an agent at whose prompt a person has begun to type.
func testAgentDraft(t *testing.T, l *lab) {
	l.ready()
	l.types("do not delete")
	l.shows("do not delete")
	for _, key := range []string{"C-e", "C-a"} {
		l.swarm("keys", "w", key)
		r := l.try("", "send", "w", "please")
		if r.code == 0 || !strings.Contains(r.err, "has an unsent text at its prompt, nothing was typed: do not delete") {
			t.Errorf("after %s: exit %d\n%s%s\n%s", key, r.code, r.out, r.err, l.peek())
		}
	}
	if screen := l.peek(); strings.Contains(screen, "please") {
		t.Errorf("it was typed:\n%s", screen)
	}
	l.swarm("keys", "w", "C-e", "C-u")
	l.swarm("send", "w", "the draft is gone")
	l.prompted("the draft is gone")
	l.until("idle")
	l.killed()
}

// types presses the keys of a text, as a person does.
func (l *lab) types(text string) {
	l.t.Helper()
	keys := strings.Split(text, "")
	for i := range keys {
		if keys[i] == " " {
			keys[i] = "Space"
		}
	}
	l.swarm(append([]string{"keys", "w"}, keys...)...)
}
