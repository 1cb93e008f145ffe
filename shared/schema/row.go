package schema

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// Row is one setting as tables show it. Its texts have no line ends.
type Row struct {
	// Name is the whole key: "tls.ca_cert"; "constraints[].value" is in each table of a list.
	Name string
	// Type is in the words of a user, such as "list of strings".
	Type string
	// Default is the default in the notation of TOML; empty: there is none.
	Default string
	// Required and Secret have the meaning that they have in [Schema].
	Required, Secret bool
	// Help says what it is for.
	Help string
}

// Rows returns the settings, sorted, those of inner tables after the table.
func (s *Schema) Rows() []Row {
	var rows []Row
	s.rows("", 0, &rows)
	return rows
}

func (s *Schema) rows(path string, depth int, rows *[]Row) {
	if depth > MaxDepth {
		return
	}
	for _, name := range s.Names() {
		p := s.Properties[name]
		key := join(path, name)
		*rows = append(*rows, Row{
			Name: key, Type: p.typeText(), Default: p.DefaultText(),
			Required: slices.Contains(s.Required, name), Secret: p.Secret, Help: p.Description,
		})
		below := p
		for below.Items != nil {
			below, key = below.Items, key+"[]"
		}
		below.rows(key, depth+1, rows)
	}
}

// OptionText returns the default as it is written in an option.
func (s *Schema) OptionText() string {
	value, err := readJSON(s.Default)
	if err != nil {
		return ""
	}
	list, ok := value.([]any)
	if !ok {
		list = []any{value}
	}
	texts := make([]string, len(list))
	for i, item := range list {
		texts[i] = fmt.Sprint(item)
	}
	return strings.Join(texts, ",")
}

// DefaultText returns the default as it is written in TOML.
func (s *Schema) DefaultText() string {
	if s.Secret && s.Default != nil {
		return Hidden
	}
	return string(s.Default)
}

func (s *Schema) typeText() string {
	switch {
	case len(s.Enum) > 0:
		words := make([]string, len(s.Enum))
		for i, word := range s.Enum {
			quoted, _ := json.Marshal(word) // a string always has JSON
			words[i] = string(quoted)
		}
		return strings.Join(words, ", ")
	case s.Type == "":
		return "any value"
	case s.Type == TypeArray && s.Items != nil:
		return "list of " + plural[s.Items.Type]
	case s.Type == TypeArray:
		return "list"
	case s.Type == TypeObject && s.Values != nil && s.Values.Type != "":
		return "table of " + plural[s.Values.Type]
	case s.Type == TypeObject:
		return "table"
	case s.Type == TypeBoolean:
		return "true or false"
	default:
		return strings.TrimSuffix(strings.TrimPrefix(words[s.Type], "a ")+" "+s.rangeText(), " ")
	}
}

var plural = map[string]string{
	"": "values", TypeString: "strings", TypeBoolean: "booleans", TypeInteger: "whole numbers", TypeNumber: "numbers",
	TypeArray: "lists", TypeObject: "tables",
}

// Markdown returns a table of the settings, or a sentence if there are none.
func (s *Schema) Markdown() string {
	rows := s.Rows()
	if len(rows) == 0 {
		return "There are none.\n"
	}
	var b strings.Builder
	b.WriteString("| key | type | default | |\n|---|---|---|---|\n")
	for _, r := range rows {
		b.WriteString("| " + code(r.Name) + " | " + cell(r.Type) + " | " + code(r.Default) + " | " + cell(r.Remarks()) + " |\n")
	}
	return b.String()
}

// Remarks returns the help together with what else there is to know.
func (r Row) Remarks() string {
	text := r.Help
	if r.Required {
		text = strings.TrimSpace(text + " It is required.")
	}
	if r.Secret {
		text = strings.TrimSpace(text + " It is a secret: swarm never shows it.")
	}
	return text
}

func code(text string) string {
	if text == "" {
		return ""
	}
	return "`" + strings.NewReplacer("`", "'", "|", `\|`).Replace(text) + "`"
}

// cell makes a text of a plugin one cell of a table, without tags.
func cell(text string) string { return strings.NewReplacer("|", `\|`, "<", "&lt;").Replace(text) }
