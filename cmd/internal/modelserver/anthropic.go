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
		var err error
		if q.user, err = appendTexts(q.user, m.Content, "text"); err != nil {
			return q, err
		}
		var parts []struct {
			Type    string
			Content json.RawMessage
		}
		if json.Unmarshal(m.Content, &parts) != nil {
			continue // one string
		}
		for _, p := range parts {
			if p.Type != "tool_result" {
				continue
			}
			if q.results, err = appendTexts(q.results, p.Content, "text"); err != nil {
				return q, err
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
	e.typed("message_start", object{"message": a.message([]object{}, nil)})
	index := 0
	delta := func(d object) { e.typed("content_block_delta", object{"index": index, "delta": d}) }
	if turn.Text != "" || turn.Hold != nil {
		e.typed("content_block_start", object{"index": index, "content_block": object{"type": "text", "text": ""}})
		if !e.each(turn.Text, func(word string) { delta(object{"type": "text_delta", "text": word}) }) {
			return
		}
		e.typed("content_block_stop", object{"index": index})
		index++
	}
	if turn.Tool != "" {
		use := object{"type": "tool_use", "id": "toolu_" + callID(), "name": turn.Tool, "input": object{}}
		e.typed("content_block_start", object{"index": index, "content_block": use})
		delta(object{"type": "input_json_delta", "partial_json": turn.arguments()})
		e.typed("content_block_stop", object{"index": index})
	}
	e.typed("message_delta", object{"delta": object{"stop_reason": a.stop(turn), "stop_sequence": nil}, "usage": object{"output_tokens": 10}})
	e.typed("message_stop", object{})
}

func (anthropic) fail(w http.ResponseWriter, turn Turn) {
	kind := turn.kind("api_error", map[int]string{
		http.StatusBadRequest: "invalid_request_error", http.StatusUnauthorized: "authentication_error",
		http.StatusTooManyRequests: "rate_limit_error",
	})
	reply(w, turn.Status, object{"type": "error", "error": object{"type": kind, "message": turn.Text}})
}
