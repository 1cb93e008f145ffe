package config

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestAnswers(t *testing.T) {
	t.Parallel()
	path := write(t, "config.toml", `
[[answers]]
profile = "claude"
tool = "Bash"
command = "git status*"
worker = "review-*"
project = "~/src/shop"
answer = "Allow"
for = "session"

[[answers]]
answer = "Yes, and"
command = "ls"

[[answers]]
answer = "DENY"
`)
	l, err := Load(Options{User: path, Home: "/home/me"})
	if err != nil {
		t.Fatal(err)
	}
	want := []Answer{
		{Profile: "claude", Tool: "Bash", Command: "git status*", Worker: "review-*", Project: "/home/me/src/shop", Answer: AnswerAllow, For: ForSession, Source: "rule 1 of " + path},
		{Answer: "Yes, and", Command: "ls", Source: "rule 2 of " + path},
		{Answer: AnswerDeny, Source: "rule 3 of " + path},
	}
	if diff := cmp.Diff(want, l.Config.Answers); diff != "" {
		t.Errorf("answers (-want +got):\n%s", diff)
	}
	at := slices.IndexFunc(l.Values(), func(v Value) bool { return v.Key == "answers" })
	if at < 0 || l.Values()[at].Origin == nil || l.Values()[at].Origin.Line != 2 ||
		!strings.HasPrefix(l.Values()[at].Value, `[{profile = "claude", tool = "Bash"`) || !strings.HasSuffix(l.Values()[at].Value, `, {answer = "deny"}]`) {
		t.Errorf("shown: %+v", l.Values())
	}
}

func TestAnswersWithMistakes(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ src, want string }{
		{"[answers]\nanswer = \"ask\"", ":1:2: answers: expected an array of tables: begin each rule with [[answers]]"},
		{"answers = [1]", ":1:1: answers: expected an array of tables"},
		{"[[answers]]\nanswer = \"ask\"\n[[answers]]\ntool = \"Bash\"", ":3:3: answers[2]: the answer is missing"},
		{"[[answers]]\nanswer = \"allow\"", ":1:3: answers[1]: a rule that allows something needs a tool or a command"},
		{"[[answers]]\nanswer = \"Yes\"\nworker = \"*\"", "answers[1]: a rule that allows something needs a tool or a command"},
		{"[[answers]]\nanswer = \"deny\"\nfor = \"always\"", ":3:1: answers[1].for: it is only for a rule that allows something"},
		{"[[answers]]\nanswer = \"ask\"\ncomand = \"ls\"", ":3:1: answers[1].comand: unknown key (did you mean 'command'?)"},
		{"[[answers]]\nanswer = \"ask\"\ncommand = \"\"", ":3:11: answers[1].command: expected a text that is not empty"},
		{"answers = [{ answer = \"ask\" }, { answer = 1 }]", ":1:11: answers[2].answer: expected a string"},
	} {
		l, err := Load(Options{User: write(t, "config.toml", c.src)})
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%q: %v", c.src, err)
		}
		for _, a := range l.Config.Answers {
			if a.Answer != AnswerAsk {
				t.Errorf("%q: used: %+v", c.src, a)
			}
		}
	}
}

// A project's file adds rules that ask, and nothing else, whether or not it is trusted.
func TestProjectOnlyAsks(t *testing.T) {
	t.Parallel()
	const user = "[team]\nanswers = \"person\"\n[[answers]]\ncommand = \"git *\"\nanswer = \"allow\"\n"
	const ask = "[[answers]]\ncommand = \"git push*\"\nanswer = \"ask\"\n"
	for _, trusted := range []bool{true, false} {
		for _, more := range []string{
			"[[answers]]\ncommand = \"rm *\"\nanswer = \"allow\"\n", "[[answers]]\ncommand = \"rm *\"\nanswer = \"Yes\"\n",
			"[[answers]]\nanswer = \"deny\"\n", "[[answers]]\ntool = \"Bash\"\nanswer = \"1\"\nfor = \"always\"\n",
		} {
			o := Options{
				User: write(t, "config.toml", user), Project: write(t, ProjectFile, ask+more+"[team]\nanswers = \"leader\"\n"),
				Trusted: func(string, []byte) bool { return trusted },
			}
			l, err := Load(o)
			if err != nil {
				t.Fatal(err)
			}
			var commands []string
			for _, a := range l.Config.Answers {
				commands = append(commands, a.Command+": "+a.Answer)
			}
			if diff := cmp.Diff([]string{"git *: allow", "git push*: ask"}, commands); diff != "" {
				t.Errorf("%q, trusted %t (-want +got):\n%s", more, trusted, diff)
			}
			var ignored []string
			for _, i := range l.Ignored {
				if i.UserOnly {
					ignored = append(ignored, i.Key)
				}
			}
			if slices.Sort(ignored); !slices.Equal(ignored, []string{"answers", "team.answers"}) || l.Config.Team.Answers != AnswersPerson {
				t.Errorf("%q, trusted %t: ignored %q, %q may answer", more, trusted, ignored, l.Config.Team.Answers)
			}
			own, err := ProjectAnswers(t.TempDir(), "", nil)
			if err != nil || own != nil {
				t.Errorf("without a project: %v, %v", own, err)
			}
		}
	}
}
