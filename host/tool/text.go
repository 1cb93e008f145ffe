package tool

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
)

// texter is an output that has a better way to be read than the list of its fields.
type texter interface{ text() string }

// Text returns the output as people and models read it: the same facts as its JSON.
func (r Result) Text() string {
	if t, ok := r.Output.(texter); ok {
		if text := t.text(); text != "" {
			return text
		}
	}
	data, err := json.Marshal(r.Output)
	if err != nil {
		return "Error: " + message(err)
	}
	return jsonText(data)
}

// jsonText writes a JSON object as lines of "name: value", in the order of its fields.
// That it succeeded is not worth a line, and why it did not comes first.
func jsonText(data []byte) string {
	d := json.NewDecoder(bytes.NewReader(data))
	d.UseNumber()
	v, err := ordered(d)
	fields, ok := v.([]field)
	if err != nil || !ok {
		return string(data)
	}
	var b strings.Builder
	failed := false
	for _, f := range fields {
		switch f.name {
		case "success":
			failed = f.value == false
		case "error":
			fmt.Fprintf(&b, "Error: %v\n", f.value)
			failed = false
		}
	}
	if failed {
		b.WriteString("Error: it failed\n")
	}
	for _, f := range fields {
		if f.name != "success" && f.name != "error" {
			writeField(&b, "", f)
		}
	}
	if b.Len() == 0 {
		return "Done."
	}
	return strings.TrimSuffix(b.String(), "\n")
}

type field struct {
	name  string
	value any
}

// ordered decodes a JSON value; an object is its fields in their order.
func ordered(d *json.Decoder) (any, error) {
	token, err := d.Token()
	if err != nil {
		return nil, err
	}
	switch token {
	case json.Delim('{'):
		fields := []field{}
		for d.More() {
			name, err := d.Token()
			if err != nil {
				return nil, err
			}
			value, err := ordered(d)
			if err != nil {
				return nil, err
			}
			fields = append(fields, field{fmt.Sprint(name), value})
		}
		_, err = d.Token()
		return fields, err
	case json.Delim('['):
		items := []any{}
		for d.More() {
			item, err := ordered(d)
			if err != nil {
				return nil, err
			}
			items = append(items, item)
		}
		_, err = d.Token()
		return items, err
	case json.Delim('}'), json.Delim(']'):
		return nil, errors.New("unexpected end")
	default:
		return token, nil
	}
}

func writeField(b *strings.Builder, indent string, f field) {
	switch v := f.value.(type) {
	case []field:
		fmt.Fprintf(b, "%s%s:\n", indent, f.name)
		for _, inner := range v {
			writeField(b, indent+"  ", inner)
		}
	case []any:
		writeList(b, indent, f.name, v)
	case string:
		text := strings.TrimSuffix(v, "\n")
		if strings.Contains(text, "\n") {
			text = "\n" + indent + "  " + strings.ReplaceAll(text, "\n", "\n"+indent+"  ")
			fmt.Fprintf(b, "%s%s:%s\n", indent, f.name, text)
			return
		}
		fmt.Fprintf(b, "%s%s: %s\n", indent, f.name, text)
	default:
		fmt.Fprintf(b, "%s%s: %v\n", indent, f.name, v)
	}
}

// writeList writes one line for values, and a paragraph for each object.
func writeList(b *strings.Builder, indent, name string, items []any) {
	if len(items) == 0 {
		fmt.Fprintf(b, "%s%s: none\n", indent, name)
		return
	}
	if _, objects := items[0].([]field); !objects {
		texts := make([]string, len(items))
		for i, item := range items {
			texts[i] = fmt.Sprint(item)
		}
		fmt.Fprintf(b, "%s%s: %s\n", indent, name, strings.Join(texts, ", "))
		return
	}
	fmt.Fprintf(b, "%s%s:\n", indent, name)
	for _, item := range items {
		fields, _ := item.([]field)
		for i, f := range fields {
			if i == 0 {
				var first strings.Builder
				writeField(&first, indent+"  ", f)
				b.WriteString(indent + "- " + strings.TrimPrefix(first.String(), indent+"  "))
				continue
			}
			writeField(b, indent+"  ", f)
		}
	}
}
