package modelserver

import (
	"encoding/json"
	"net/http"
	"strings"
)

type gemini struct{}

func (gemini) parse(r *http.Request, body []byte) (question, error) {
	var in struct {
		Contents []struct {
			Role  string
			Parts []struct {
				Text             string
				FunctionResponse *struct{ Response json.RawMessage }
			}
		}
		Tools []struct {
			FunctionDeclarations []struct{ Name string }
		}
	}
	if err := json.Unmarshal(body, &in); err != nil {
		return question{}, err
	}
	q := question{stream: strings.HasSuffix(r.URL.Path, ":streamGenerateContent")}
	for _, t := range in.Tools {
		for _, f := range t.FunctionDeclarations {
			q.tools = append(q.tools, f.Name)
		}
	}
	for _, c := range in.Contents {
		if c.Role != "user" && c.Role != "" {
			continue
		}
		for _, p := range c.Parts {
			if p.FunctionResponse != nil {
				q.results = append(q.results, string(p.FunctionResponse.Response))
			} else if p.Text != "" {
				q.user = append(q.user, p.Text)
			}
		}
	}
	return q, nil
}

func (gemini) content(parts []object, finish string) object {
	candidate := object{"index": 0, "content": object{"role": "model", "parts": parts}}
	if finish != "" {
		candidate["finishReason"] = finish
	}
	return object{
		"candidates": []object{candidate}, "modelVersion": "test",
		"usageMetadata": object{"promptTokenCount": 10, "candidatesTokenCount": 10, "totalTokenCount": 20},
	}
}

func (gemini) call(turn Turn) object {
	return object{"functionCall": object{"id": callID(), "name": turn.Tool, "args": json.RawMessage(turn.arguments())}}
}

func (g gemini) whole(w http.ResponseWriter, turn Turn) {
	parts := []object{}
	if turn.Text != "" {
		parts = append(parts, object{"text": turn.Text})
	}
	if turn.Tool != "" {
		parts = append(parts, g.call(turn))
	}
	reply(w, http.StatusOK, g.content(parts, "STOP"))
}

func (g gemini) stream(e *events, turn Turn) {
	e.flush() // the headers
	if !e.each(turn.Text, func(word string) { e.send("", g.content([]object{{"text": word}}, "")) }) {
		return
	}
	last := []object{{"text": ""}}
	if turn.Tool != "" {
		last = []object{g.call(turn)}
	}
	e.send("", g.content(last, "STOP"))
}

func (gemini) fail(w http.ResponseWriter, turn Turn) {
	kind := turn.kind("INTERNAL", map[int]string{
		http.StatusBadRequest: "INVALID_ARGUMENT", http.StatusUnauthorized: "UNAUTHENTICATED",
		http.StatusForbidden: "PERMISSION_DENIED", http.StatusTooManyRequests: "RESOURCE_EXHAUSTED",
	})
	reply(w, turn.Status, object{"error": object{"code": turn.Status, "message": turn.Text, "status": kind}})
}
