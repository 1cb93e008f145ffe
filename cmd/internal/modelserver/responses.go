package modelserver

import (
	"cmp"
	"encoding/json"
	"maps"
	"net/http"
)

type responses struct{ openAI }

func (responses) parse(_ *http.Request, body []byte) (question, error) {
	var in struct {
		Stream bool
		Tools  []struct{ Type, Name string }
		Input  json.RawMessage
	}
	if err := json.Unmarshal(body, &in); err != nil {
		return question{}, err
	}
	q := question{stream: in.Stream}
	for _, t := range in.Tools {
		q.tools = append(q.tools, cmp.Or(t.Name, t.Type))
	}
	var one string
	if json.Unmarshal(in.Input, &one) == nil {
		q.user = []string{one}
		return q, nil
	}
	var items []struct {
		Type, Role string
		Content    json.RawMessage
		Output     json.RawMessage
	}
	if err := json.Unmarshal(in.Input, &items); err != nil {
		return q, err
	}
	for _, item := range items {
		var err error
		if item.Role == "user" {
			q.user, err = appendTexts(q.user, item.Content, "input_text", "text")
		}
		if err == nil && (item.Type == "function_call_output" || item.Type == "custom_tool_call_output") {
			q.results, err = appendTexts(q.results, item.Output, "input_text", "output_text", "text")
		}
		if err != nil {
			return q, err
		}
	}
	return q, nil
}

func (responses) response(status string, output []object) object {
	return object{
		"id": "resp_1", "object": "response", "model": "test", "status": status, "output": output,
		"usage": object{
			"input_tokens": 10, "output_tokens": 10, "total_tokens": 20,
			"input_tokens_details": object{"cached_tokens": 0}, "output_tokens_details": object{"reasoning_tokens": 0},
		},
	}
}

func (responses) message(text string) object {
	return object{
		"id": "msg_1", "type": "message", "role": "assistant", "status": "completed",
		"content": []object{{"type": "output_text", "text": text, "annotations": []object{}}},
	}
}

func (responses) call(turn Turn) object {
	id := callID()
	call := object{"id": "fc_" + id, "type": "function_call", "call_id": "call_" + id, "name": turn.Tool, "arguments": turn.arguments(), "status": "completed"}
	if turn.Namespace != "" {
		call["namespace"] = turn.Namespace
	}
	return call
}

func (a responses) output(turn Turn) []object {
	output := []object{}
	if turn.Text != "" {
		output = append(output, a.message(turn.Text))
	}
	if turn.Tool != "" {
		output = append(output, a.call(turn))
	}
	return output
}

func (a responses) whole(w http.ResponseWriter, turn Turn) {
	reply(w, http.StatusOK, a.response("completed", a.output(turn)))
}

func (a responses) stream(e *events, turn Turn) {
	e.typed("response.created", object{"response": a.response("in_progress", []object{})})
	output := a.output(turn)
	if turn.Text == "" && !e.pause(0) {
		return
	}
	for i, item := range output {
		if item["type"] == "message" {
			e.typed("response.output_item.added", object{"output_index": i, "item": object{"id": "msg_1", "type": "message", "role": "assistant", "status": "in_progress", "content": []object{}}})
			e.typed("response.content_part.added", object{"item_id": "msg_1", "output_index": i, "content_index": 0, "part": object{"type": "output_text", "text": "", "annotations": []object{}}})
			if !e.each(turn.Text, func(word string) {
				e.typed("response.output_text.delta", object{"item_id": "msg_1", "output_index": i, "content_index": 0, "delta": word})
			}) {
				return
			}
			e.typed("response.output_text.done", object{"item_id": "msg_1", "output_index": i, "content_index": 0, "text": turn.Text})
		} else {
			e.typed("response.output_item.added", object{"output_index": i, "item": item})
		}
		e.typed("response.output_item.done", object{"output_index": i, "item": item})
	}
	e.typed("response.completed", object{"response": a.response("completed", output)})
}

// openAI is what the APIs of that vendor have in common.
type openAI struct{}

func (openAI) fail(w http.ResponseWriter, turn Turn) {
	kind := turn.kind("server_error", map[int]string{
		http.StatusBadRequest: "invalid_request_error", http.StatusUnauthorized: "invalid_api_key",
		http.StatusTooManyRequests: "rate_limit_exceeded",
	})
	e := object{"message": turn.Text, "type": kind, "code": kind, "param": nil}
	maps.Copy(e, turn.More)
	reply(w, turn.Status, object{"error": e})
}
