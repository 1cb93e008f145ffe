package modelserver

import (
	"encoding/json"
	"fmt"
	"net/http"
)

type chat struct{ openAI }

func (chat) parse(_ *http.Request, body []byte) (question, error) {
	var in struct {
		Stream   bool
		Tools    []struct{ Function struct{ Name string } }
		Messages []struct {
			Role    string
			Content json.RawMessage
		}
	}
	if err := json.Unmarshal(body, &in); err != nil {
		return question{}, err
	}
	q := question{stream: in.Stream}
	for _, t := range in.Tools {
		q.tools = append(q.tools, t.Function.Name)
	}
	for _, m := range in.Messages {
		var err error
		switch m.Role {
		case "user":
			q.user, err = appendTexts(q.user, m.Content, "text")
		case "tool":
			q.results, err = appendTexts(q.results, m.Content, "text")
		}
		if err != nil {
			return q, err
		}
	}
	return q, nil
}

func (chat) finish(turn Turn) string {
	if turn.Tool != "" {
		return "tool_calls"
	}
	return "stop"
}

func (chat) call(turn Turn) []object {
	return []object{{"index": 0, "id": "call_" + callID(), "type": "function", "function": object{"name": turn.Tool, "arguments": turn.arguments()}}}
}

var chatUsage = object{"prompt_tokens": 10, "completion_tokens": 10, "total_tokens": 20}

func (c chat) whole(w http.ResponseWriter, turn Turn) {
	message := object{"role": "assistant", "content": turn.Text}
	if turn.Tool != "" {
		message["tool_calls"] = c.call(turn)
	}
	reply(w, http.StatusOK, object{
		"id": "chatcmpl-1", "object": "chat.completion", "created": 1, "model": "test", "usage": chatUsage,
		"choices": []object{{"index": 0, "message": message, "finish_reason": c.finish(turn)}},
	})
}

func (c chat) stream(e *events, turn Turn) {
	chunk := func(delta object, finish any) {
		e.send("", object{
			"id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 1, "model": "test",
			"choices": []object{{"index": 0, "delta": delta, "finish_reason": finish}},
		})
	}
	chunk(object{"role": "assistant", "content": ""}, nil)
	if !e.each(turn.Text, func(word string) { chunk(object{"content": word}, nil) }) {
		return
	}
	if turn.Tool != "" {
		chunk(object{"tool_calls": c.call(turn)}, nil)
	}
	chunk(object{}, c.finish(turn))
	e.send("", object{"id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 1, "model": "test", "choices": []object{}, "usage": chatUsage})
	fmt.Fprint(e.w, "data: [DONE]\n\n")
	e.flush()
}
