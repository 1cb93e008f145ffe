package schema

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/swarmhost/swarm/shared/nearest"
)

// Problem is one mistake in a value.
type Problem struct {
	// Key is where it is, such as "tls.ca_cert" or "servers[1].path"; empty: the value itself.
	Key string
	// Text says what is wrong with the key.
	Text string
	// unknown says that there is no such key.
	unknown bool
	// option says that the key is that of an option.
	option bool
}

// Error returns key and text.
func (p Problem) Error() string {
	noun := "key"
	if p.option {
		noun = "option"
	}
	switch {
	case p.unknown:
		return fmt.Sprintf("unknown %s %q%s", noun, p.Key, p.Text)
	case p.Key == "":
		return p.Text
	case p.option:
		return fmt.Sprintf("option %q %s", p.Key, p.Text)
	default:
		return fmt.Sprintf("%q %s", p.Key, p.Text)
	}
}

// Problems are the mistakes in a value, in the order of their keys.
type Problems []Problem

// Error returns the problems in one line.
func (ps Problems) Error() string {
	texts := make([]string, len(ps))
	for i, p := range ps {
		texts[i] = p.Error()
	}
	return strings.Join(texts, "; ")
}

// Check returns the mistakes in a value that encoding/json or a TOML library decoded.
func (s *Schema) Check(v any) Problems {
	var c checker
	c.value(s, v, "")
	return c.found
}

// CheckOptions is [Schema.Check] for options, whose values are texts.
func (s *Schema) CheckOptions(options map[string]string) Problems {
	_, problems := s.readOptions(options)
	return problems
}

// readOptions returns the values of options, as the types of the schema have them.
func (s *Schema) readOptions(options map[string]string) (map[string]any, Problems) {
	var unread Problems
	values := make(map[string]any, len(options))
	c := checker{option: true}
	for key, text := range options {
		p := s.Properties[key]
		if p == nil {
			values[key] = text
			continue
		}
		value, ok := p.parse(text)
		if !ok {
			unread = append(unread, Problem{Key: key, Text: "must be " + p.expected() + p.not(strconv.Quote(text)), option: true})
		} else {
			values[key] = value
		}
	}
	c.value(s.without(unread), values, "")
	found := append(unread, c.found...)
	slices.SortFunc(found, func(a, b Problem) int { return strings.Compare(a.Key, b.Key) })
	return values, found
}

// without returns the schema without the need for options that were given, but can't be read.
func (s *Schema) without(unread Problems) *Schema {
	relaxed := *s
	relaxed.Required = slices.DeleteFunc(slices.Clone(s.Required), func(name string) bool {
		return slices.ContainsFunc(unread, func(p Problem) bool { return p.Key == name })
	})
	return &relaxed
}

// parse reads a value as it is written in a tag or in an option: a list has commas between its
// elements.
func (s *Schema) parse(text string) (any, bool) {
	switch s.Type {
	case TypeBoolean:
		return text == "true", text == "true" || text == "false"
	case TypeInteger:
		n, err := strconv.ParseInt(text, 10, 64)
		return n, err == nil
	case TypeNumber:
		n, err := strconv.ParseFloat(text, 64)
		return n, err == nil && !math.IsNaN(n) && !math.IsInf(n, 0)
	case TypeArray:
		list := []any{}
		for part := range strings.SplitSeq(text, ",") {
			item, ok := any(part), true
			if s.Items != nil {
				item, ok = s.Items.parse(part)
			}
			if !ok {
				return nil, false
			}
			list = append(list, item)
		}
		return list, true
	default:
		return text, true
	}
}

type checker struct {
	option bool
	found  Problems
}

func (c *checker) wrong(key, format string, args ...any) {
	c.found = append(c.found, Problem{Key: key, Text: fmt.Sprintf(format, args...), option: c.option})
}

func (c *checker) value(s *Schema, v any, path string) {
	if s == nil || s.Type == "" {
		return
	}
	kind := kindOf(v)
	if kind != s.Type && (kind != TypeInteger || s.Type != TypeNumber) {
		switch {
		case path == "":
			c.wrong("", "want a table, got %s", words[kind])
		case kind == TypeNumber && s.Type == TypeInteger:
			c.wrong(path, "must be %s%s", s.expected(), s.not(number(numberOf(v))))
		default:
			c.wrong(path, "must be %s, not %s", s.expected(), words[kind])
		}
		return
	}
	switch s.Type {
	case TypeString:
		c.word(s, v.(string), path)
	case TypeInteger, TypeNumber:
		c.bounds(s, v, path)
	case TypeArray:
		for i, item := range elements(v) {
			c.value(s.Items, item, fmt.Sprintf("%s[%d]", path, i))
		}
	case TypeObject:
		c.table(s, v.(map[string]any), path)
	default:
	}
}

func (c *checker) word(s *Schema, v, path string) {
	if s.Enum == nil || slices.Contains(s.Enum, v) {
		return
	}
	text := "must be " + s.expected() + s.not(strconv.Quote(v))
	if near := near(v, s.Enum); near != "" {
		text += fmt.Sprintf(", did you mean %q?", near)
	}
	c.wrong(path, "%s", text)
}

func (c *checker) bounds(s *Schema, v any, path string) {
	n := numberOf(v)
	if s.Minimum != nil && n < *s.Minimum || s.Maximum != nil && n > *s.Maximum {
		c.wrong(path, "must be %s%s", s.expected(), s.not(number(n)))
	}
}

func (c *checker) table(s *Schema, table map[string]any, path string) {
	for _, key := range slices.Sorted(maps.Keys(table)) {
		p, known := s.Properties[key]
		switch {
		case known:
			c.value(p, table[key], join(path, key))
		case s.Values != nil || s.Properties == nil:
			c.value(s.Values, table[key], join(path, key))
		default:
			c.unknown(s, key, path)
		}
	}
	for _, key := range s.Required {
		if _, given := table[key]; !given {
			c.wrong(join(path, key), "is required")
		}
	}
}

func (c *checker) unknown(s *Schema, key, path string) {
	text := ", there are no settings"
	if c.option {
		text = ", there are no options"
	}
	if names := s.Names(); len(names) > 0 {
		text = ", known are " + strings.Join(names, ", ")
		if near := near(key, names); near != "" {
			text = fmt.Sprintf(", did you mean %q?", join(path, near))
		}
	}
	c.found = append(c.found, Problem{Key: join(path, key), Text: text, unknown: true, option: c.option})
}

// near returns the one of names that name was probably meant to be, or "". Capitals don't count.
func near(name string, names []string) string {
	lower := make([]string, len(names))
	for i, n := range names {
		lower[i] = strings.ToLower(n)
	}
	if i := slices.Index(lower, nearest.Name(strings.ToLower(name), lower)); i >= 0 {
		return names[i]
	}
	return ""
}

// expected says what a value has to be.
func (s *Schema) expected() string {
	switch {
	case len(s.Enum) > 0:
		return "one of " + strings.Join(s.Enum, ", ")
	case s.Type == TypeInteger || s.Type == TypeNumber:
		return strings.TrimSuffix(words[s.Type]+" "+s.rangeText(), " ")
	case s.Type == TypeArray:
		return "a list"
	case s.Type == TypeBoolean:
		return "true or false"
	default:
		return words[s.Type]
	}
}

func (s *Schema) rangeText() string {
	switch {
	case s.Minimum != nil && s.Maximum != nil:
		return "from " + number(*s.Minimum) + " to " + number(*s.Maximum)
	case s.Minimum != nil:
		return "of at least " + number(*s.Minimum)
	case s.Maximum != nil:
		return "of at most " + number(*s.Maximum)
	default:
		return ""
	}
}

// not names the wrong value, unless it is secret.
func (s *Schema) not(shown string) string {
	if s.Secret {
		return ""
	}
	return ", not " + shown
}

// words are the kinds of values in the words of a user.
var words = map[string]string{
	TypeString: "a string", TypeBoolean: "a boolean", TypeInteger: "a whole number", TypeNumber: "a number",
	TypeArray: "a list", TypeObject: "a table", kindDate: "a date", kindNull: "null",
}

// Kinds of values that no setting has.
const (
	kindDate = "date"
	kindNull = "null"
)

func kindOf(v any) string {
	switch v := v.(type) {
	case string:
		return TypeString
	case bool:
		return TypeBoolean
	case int64:
		return TypeInteger
	case json.Number:
		if _, err := v.Int64(); err == nil {
			return TypeInteger
		}
		return TypeNumber
	case float64:
		return TypeNumber
	case map[string]any:
		return TypeObject
	case nil:
		return kindNull
	case time.Time:
		return kindDate
	default:
		return TypeArray
	}
}

func numberOf(v any) float64 {
	switch v := v.(type) {
	case int64:
		return float64(v)
	case json.Number:
		n, _ := v.Float64()
		return n
	case float64:
		return v
	default:
		return math.NaN()
	}
}

func number(n float64) string { return strconv.FormatFloat(n, 'f', -1, 64) }

func elements(v any) []any {
	switch v := v.(type) {
	case []any:
		return v
	case []map[string]any:
		return listOf(v)
	default:
		return nil
	}
}

func listOf(tables []map[string]any) []any {
	list := make([]any, len(tables))
	for i, t := range tables {
		list[i] = t
	}
	return list
}

// readJSON reads one value and keeps the digits of its numbers.
func readJSON(data []byte) (v any, err error) {
	d := json.NewDecoder(bytes.NewReader(data))
	d.UseNumber()
	if err := d.Decode(&v); err != nil {
		return nil, err
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("there is more after the value")
	}
	return v, nil
}
