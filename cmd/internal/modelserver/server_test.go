package modelserver_test

import (
	"context"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/swarmhost/swarm/cmd/internal/modelserver"
)

// apis has one request of an agent for each API: its path, its body, and what of the
// answer shows that it is streamed to its end.
var apis = map[string]struct{ path, body, end string }{
	"anthropic": {
		"/v1/messages", `{"stream":true,"tools":[{"name":"Bash"}],"messages":[
			{"role":"user","content":[{"type":"text","text":"context"},{"type":"text","text":"fix it!\n"}]},
			{"role":"assistant","content":"yes"},
			{"role":"user","content":[{"type":"tool_result","tool_use_id":"1","content":"42"}]}]}`, "event: message_stop",
	},
	"responses": {
		"/v1/responses", `{"stream":true,"tools":[{"type":"function","name":"Bash"}],"input":[
			{"type":"message","role":"user","content":[{"type":"input_text","text":"context"}]},
			{"type":"message","role":"user","content":[{"type":"input_text","text":"fix it!"}]},
			{"type":"function_call_output","call_id":"1","output":"42"}]}`, "event: response.completed",
	},
	"chat": {
		"/v1/chat/completions", `{"stream":true,"tools":[{"type":"function","function":{"name":"Bash"}}],"messages":[
			{"role":"system","content":"be good"},{"role":"user","content":"context"},
			{"role":"user","content":[{"type":"text","text":"fix it!"}]},{"role":"tool","content":"42"}]}`, "data: [DONE]",
	},
	"gemini": {
		"/v1beta/models/test:streamGenerateContent?alt=sse", `{"tools":[{"functionDeclarations":[{"name":"Bash"}]}],"contents":[
			{"role":"user","parts":[{"text":"context"},{"text":"fix it!"}]},
			{"role":"user","parts":[{"functionResponse":{"name":"Bash","response":42}}]}]}`, `"finishReason":"STOP"`,
	},
}

func start(t *testing.T) *modelserver.Server {
	t.Helper()
	s := modelserver.Start()
	t.Cleanup(s.Close)
	return s
}

func post(t *testing.T, s *modelserver.Server, path, body string) (int, string) {
	t.Helper()
	r, err := http.Post(s.URL+path, "application/json", strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = r.Body.Close() }()
	b, err := io.ReadAll(r.Body)
	if err != nil {
		t.Fatal(err)
	}
	return r.StatusCode, string(b)
}

func TestEveryAPIAnswersTheScript(t *testing.T) {
	t.Parallel()
	for name, api := range apis {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := start(t)
			s.Script(
				modelserver.Turn{Text: "two words"},
				modelserver.Turn{Tool: "Bash", Input: map[string]any{"command": "ls -l"}},
				modelserver.Turn{Status: http.StatusTooManyRequests, Text: "limit reached"},
			)
			for i, want := range []struct {
				status int
				parts  []string
			}{
				{http.StatusOK, []string{`"two "`, `"words"`, api.end}},
				{http.StatusOK, []string{"Bash", "command", "ls -l", api.end}},
				{http.StatusTooManyRequests, []string{"limit reached"}},
				{http.StatusOK, []string{`"ok"`, api.end}},
			} {
				status, got := post(t, s, api.path, api.body)
				if status != want.status {
					t.Errorf("answer %d: the status is %d, want %d", i, status, want.status)
				}
				for _, part := range want.parts {
					if !strings.Contains(got, part) {
						t.Errorf("answer %d has no %q:\n%s", i, part, got)
					}
				}
			}
		})
	}
}

func TestRequestsAreRecorded(t *testing.T) {
	t.Parallel()
	for name, api := range apis {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := start(t)
			post(t, s, api.path, api.body)
			got := s.Requests()
			if len(got) != 1 {
				t.Fatalf("%d requests are recorded, want 1", len(got))
			}
			if n := got[0].Prompted("fix it!"); n != 1 {
				t.Errorf("the prompt is there %d times, want once: %q", n, got[0].User)
			}
			if n := got[0].Prompted("fix it"); n != 0 {
				t.Errorf("a part of the prompt counts as the prompt: %q", got[0].User)
			}
			if diff := cmp.Diff([]string{"42"}, got[0].Results); diff != "" {
				t.Errorf("results (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff([]string{"Bash"}, got[0].Tools); diff != "" {
				t.Errorf("tools (-want +got):\n%s", diff)
			}
		})
	}
}

func TestAWholeAnswerOfChatIsAMessage(t *testing.T) {
	t.Parallel()
	s := start(t)
	s.Script(modelserver.Turn{Text: "two words"})
	_, got := post(t, s, apis["chat"].path, strings.Replace(apis["chat"].body, `"stream":true,`, "", 1))
	if want := `"message":{"content":"two words","role":"assistant"}`; !strings.Contains(got, want) {
		t.Errorf("the answer has no %s:\n%s", want, got)
	}
}

func TestASuggestionTakesNoTurn(t *testing.T) {
	t.Parallel()
	s := start(t)
	s.Script(modelserver.Turn{Text: "the turn"})
	api := apis["chat"]
	suggest := strings.Replace(api.body, "fix it!", "[SUGGESTION MODE: Suggest what the user might naturally type next.]", 1)
	if suggest == api.body {
		t.Fatal("the request is not changed")
	}
	if _, got := post(t, s, api.path, suggest); !strings.Contains(got, `"ok"`) {
		t.Errorf("a suggestion is answered with\n%s", got)
	}
	if _, got := post(t, s, api.path, api.body); !strings.Contains(got, `"turn"`) {
		t.Errorf("the turn is\n%s", got)
	}
	if n := len(s.Requests()); n != 1 {
		t.Errorf("%d requests are an agent's, want 1", n)
	}
}

func TestPromptedTakesOffWhatClientsAdd(t *testing.T) {
	t.Parallel()
	r := modelserver.Request{User: []string{
		"<current_datetime>2026-11-27T18:02:42.161+00:00</current_datetime>\n\none\ntwo",
		"one\ntwo\n\n<tagged_files>\n* /tmp/two (2 lines)\n</tagged_files>",
		"<system_info>The files below are attached</system_info>\n<file path='paste_1.txt'>\n\none\ntwo\n</file>\n",
		"one\ntwo\n<turn-context>\n<current-time>2026-11-27</current-time>\n</turn-context>",
	}}
	if n := r.Prompted("one\ntwo"); n != len(r.User) {
		t.Errorf("the prompt counts %d times, want %d", n, len(r.User))
	}
}

func TestPromptedTakesTheTagsOffAPaste(t *testing.T) {
	t.Parallel()
	r := modelserver.Request{User: []string{"<pasted_content id=\"87bd\">\none\ntwo\n</pasted_content id=\"87bd\">"}}
	if n := r.Prompted("one\ntwo\n"); n != 1 {
		t.Errorf("the paste counts %d times, want once", n)
	}
	if n := r.Prompted("one"); n != 0 {
		t.Errorf("a part of the paste counts as the prompt")
	}
}

func TestARequestWithoutToolsTakesNoTurn(t *testing.T) {
	t.Parallel()
	s := start(t)
	s.Script(modelserver.Turn{Text: "for the agent"})
	if _, got := post(t, s, "/v1/messages", `{"messages":[{"role":"user","content":"a title"}]}`); !strings.Contains(got, `"ok"`) {
		t.Errorf("the answer is %s", got)
	}
	if got := s.Requests(); len(got) != 0 {
		t.Errorf("it counts as an agent's: %v", got)
	}
	if _, got := post(t, s, "/v1/messages", apis["anthropic"].body); !strings.Contains(got, `"for "`) {
		t.Errorf("the agent's answer is %s", got)
	}
}

func TestHoldKeepsTheAnswerBack(t *testing.T) {
	t.Parallel()
	s := start(t)
	hold, answer := make(chan struct{}), make(chan string, 1)
	s.Script(modelserver.Turn{Text: "late", Hold: hold})
	go func() {
		r, err := http.Post(s.URL+"/v1/messages", "application/json", strings.NewReader(apis["anthropic"].body))
		if err != nil {
			answer <- err.Error()
			return
		}
		defer func() { _ = r.Body.Close() }()
		b, _ := io.ReadAll(r.Body)
		answer <- string(b)
	}()
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	if _, err := s.Wait(ctx, func(r modelserver.Request) bool { return r.Prompted("fix it!") == 1 }); err != nil {
		t.Fatal(err)
	}
	select {
	case got := <-answer:
		t.Fatalf("it answered before it was released: %s", got)
	default:
	}
	close(hold)
	select {
	case got := <-answer:
		if !strings.Contains(got, "late") {
			t.Errorf("the answer is %s", got)
		}
	case <-ctx.Done():
		t.Error("no answer after the release")
	}
}
