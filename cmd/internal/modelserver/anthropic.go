package modelserver

import (
	"encoding/json"
	"net/http"
)

type anthropic struct{}

func (anthropic) parse(_ *http.Request, body []byte) (question, error) {
	var in struct {
		Stream   bool
		Tools    []struct{ Name string }
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
		q.tools = append(q.tools, t.Name)
	}
	for _, m := range in.Messages {
		if m.Role != "user" {
			continue
		}
		user, err := texts(m.Content, "text")
		if err != nil {
			return q, err
		}
		q.user = append(q.user, user...)
		var parts []struct {
			Type    string
			Content json.RawMessage
		}
		if json.Unmarshal(m.Content, &parts) != nil {
			continue // one string
		}
		for _, p := range parts {
			if p.Type == "tool_result" {
				results, err := texts(p.Content, "text")
				if err != nil {
					return q, err
				}
				q.results = append(q.results, results...)
			}
		}
	}
	return q, nil
}

func (anthropic) message(content []object, stop any) object {
	return object{
		"id": "msg_1", "type": "message", "role": "assistant", "model": "test", "content": content,
		"stop_reason": stop, "stop_sequence": nil, "usage": object{"input_tokens": 10, "output_tokens": 10},
	}
}

func (a anthropic) whole(w http.ResponseWriter, turn Turn) {
	content := []object{}
	if turn.Text != "" {
		content = append(content, object{"type": "text", "text": turn.Text})
	}
	if turn.Tool != "" {
		content = append(content, object{"type": "tool_use", "id": "toolu_" + callID(), "name": turn.Tool, "input": json.RawMessage(turn.arguments())})
	}
	reply(w, http.StatusOK, a.message(content, a.stop(turn)))
}

func (anthropic) stop(turn Turn) string {
	if turn.Tool != "" {
		return "tool_use"
	}
	return "end_turn"
}

func (a anthropic) stream(e *events, turn Turn) {
	e.send("message_start", object{"type": "message_start", "message": a.message([]object{}, nil)})
	index := 0
	block := func(start object, deltas func(delta func(object)) bool) bool {
		e.send("content_block_start", object{"type": "content_block_start", "index": index, "content_block": start})
		if !deltas(func(d object) {
			e.send("content_block_delta", object{"type": "content_block_delta", "index": index, "delta": d})
		}) {
			return false
		}
		e.send("content_block_stop", object{"type": "content_block_stop", "index": index})
		index++
		return true
	}
	if turn.Text != "" || turn.Hold != nil {
		if !block(object{"type": "text", "text": ""}, func(delta func(object)) bool {
			return e.each(turn.Text, func(word string) { delta(object{"type": "text_delta", "text": word}) })
		}) {
			return
		}
	}
	if turn.Tool != "" {
		block(object{"type": "tool_use", "id": "toolu_" + callID(), "name": turn.Tool, "input": object{}}, func(delta func(object)) bool {
			delta(object{"type": "input_json_delta", "partial_json": turn.arguments()})
			return true
		})
	}
	e.send("message_delta", object{"type": "message_delta", "delta": object{"stop_reason": a.stop(turn), "stop_sequence": nil}, "usage": object{"output_tokens": 10}})
	e.send("message_stop", object{"type": "message_stop"})
}

func (anthropic) fail(w http.ResponseWriter, turn Turn) {
	kind := turn.kind("api_error", map[int]string{
		http.StatusBadRequest: "invalid_request_error", http.StatusUnauthorized: "authentication_error",
		http.StatusTooManyRequests: "rate_limit_error",
	})
	reply(w, turn.Status, object{"type": "error", "error": object{"type": kind, "message": turn.Text}})
}
