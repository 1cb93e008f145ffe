package jsonc

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"
)

// Edit is a replacement of a part of a text.
type Edit struct {
	At       int `json:"at"`
	Old, New string
}

func (e Edit) Apply(text string) string { return text[:e.At] + e.New + text[e.At+len(e.Old):] }

// Undo returns the text before the edit, and false if the edit was not made on it.
func (e Edit) Undo(text string) (string, bool) {
	if e.At < 0 || e.At > len(text) || !strings.HasPrefix(text[e.At:], e.New) {
		return text, false
	}
	return Edit{At: e.At, Old: e.New, New: e.Old}.Apply(text), true
}

// Document is a text that is edited. The zero value is an empty one.
type Document struct {
	Text  string
	Edits []Edit
}

// Replace replaces the part old of the text, which is at a place, as it is.
func (d *Document) Replace(at int, old, to string) {
	e := Edit{At: at, Old: old, New: to}
	d.Text = e.Apply(d.Text)
	d.Edits = append(d.Edits, e)
}

// Set sets the member at a path of keys to what encoding/json makes of value. Objects
// that are missing on the way are made. It does nothing if the member has that value.
func (d *Document) Set(value any, path ...string) error {
	return d.put(value, path, false)
}

// Append appends a value to the array at a path of keys, which is made if it is missing.
func (d *Document) Append(value any, path ...string) error {
	return d.put(value, path, true)
}

func (d *Document) put(value any, path []string, element bool) error {
	if strings.TrimSpace(strings.TrimPrefix(d.Text, "\ufeff")) == "" {
		d.Replace(len(d.Text), "", "{}\n")
	}
	at, err := Parse(d.Text)
	if err != nil {
		return err
	}
	for i, key := range path {
		if at.kind != '{' {
			return d.notA("an object", at, path[:i])
		}
		next := at.At(key)
		if next == nil {
			// The inserted value includes the objects that the path lacks.
			if element {
				value = []any{value}
			}
			for j := len(path) - 1; j > i; j-- {
				value = map[string]any{path[j]: value}
			}
			return d.insert(at, key, value)
		}
		at = *next
	}
	switch {
	case element && at.kind != '[':
		return d.notA("an array", at, path)
	case element:
		return d.insert(at, "", value)
	case same(&at, value):
		return nil
	}
	text, err := d.format(value, d.indentAt(at.Start))
	if err == nil {
		d.Replace(at.Start, d.Text[at.Start:at.End], text)
	}
	return err
}

func (d *Document) notA(what string, v Value, path []string) error {
	p := parser{text: d.Text, at: v.Start}
	return p.wrong(fmt.Sprintf("expected %s as the value of '%s'", what, strings.Join(path, ".")))
}

// insert inserts a member, or an element if the key is empty, at the end of an object or
// an array.
func (d *Document) insert(into Value, key string, value any) error {
	parts := into.parts()
	indent := d.indentAt(into.Start) + d.unit()
	oneLine := len(parts) > 0 && !strings.Contains(d.Text[into.Start:into.End], "\n")
	if len(parts) > 0 && !oneLine {
		indent = d.indentAt(parts[0].start)
	}
	text, err := d.format(value, indent)
	if oneLine {
		text, err = encode(value, "", "")
	}
	if err != nil {
		return err
	}
	if key != "" {
		name, err := encode(key, "", "")
		if err != nil {
			return err
		}
		text = name + ": " + text
	}
	nl := d.newline()
	if len(parts) == 0 {
		after := nl + d.indentAt(into.Start)
		if rest := strings.TrimLeft(d.Text[into.Start+1:into.End], " \t"); strings.HasPrefix(rest, "\n") || strings.HasPrefix(rest, "\r\n") {
			after = ""
		}
		d.Replace(into.Start+1, "", nl+indent+text+after)
		return nil
	}
	last := parts[len(parts)-1].end
	if oneLine {
		d.Replace(last, "", ", "+text)
		return nil
	}
	p := parser{text: d.Text, at: last}
	c, err := p.peek()
	switch {
	case err != nil:
		return err
	case c == ',': // a trailing one stays the last
		d.Replace(d.lineRest(p.at+1), "", nl+indent+text+",")
	default:
		d.Replace(d.lineRest(last), "", nl+indent+text)
		d.Replace(last, "", ",")
	}
	return nil
}

// lineRest returns the end of the comments behind a place that are on its line.
func (d *Document) lineRest(at int) int {
	for {
		rest := strings.TrimLeft(d.Text[at:], " \t")
		start := len(d.Text) - len(rest)
		if strings.HasPrefix(rest, "//") {
			return start + len(strings.TrimRight(firstLine(rest), "\r"))
		}
		if !strings.HasPrefix(rest, "/*") {
			return at
		}
		n := blockComment(rest)
		if n < 0 || strings.Contains(rest[:n], "\n") {
			return at
		}
		at = start + n
	}
}

// Remove removes the member at a path of keys, and the objects and arrays above it that
// it leaves empty, but not the outermost one. It does nothing if the
// member does not exist.
func (d *Document) Remove(path ...string) error {
	root, err := Parse(d.Text)
	if err == nil && root.At(path...) != nil {
		d.removeMember(root, path)
	}
	return err
}

// RemoveElements removes those elements of the array at a path of keys that match, and
// what that leaves empty.
func (d *Document) RemoveElements(match func(*Value) bool, path ...string) error {
	for {
		root, err := Parse(d.Text)
		if err != nil {
			return err
		}
		v := root.At(path...)
		if v == nil {
			return nil
		}
		at := -1
		for i := range v.Elements {
			if match(&v.Elements[i]) {
				at = i
			}
		}
		switch {
		case at < 0:
			return nil
		case len(v.Elements) == 1 && len(path) > 0 && !d.hasComment(*v):
			d.removeMember(root, path)
			return nil
		}
		d.cut(*v, at)
	}
}

// removeMember removes the member at a path and the objects that hold nothing else.
func (d *Document) removeMember(root Value, path []string) {
	for len(path) > 1 {
		above := root.At(path[:len(path)-1]...)
		if len(above.Members) > 1 || d.hasComment(*above) {
			break
		}
		path = path[:len(path)-1]
	}
	into := root.At(path[:len(path)-1]...)
	for i, m := range slices.Backward(into.Members) {
		if m.Key == path[len(path)-1] {
			d.cut(*into, i)
			return
		}
	}
}

func (d *Document) hasComment(v Value) bool {
	text := d.Text[v.Start:v.End]
	for _, p := range v.parts() {
		text = strings.Replace(text, d.Text[p.start:p.end], "", 1)
	}
	return strings.Contains(text, "/")
}

// cut removes the part at an index.
func (d *Document) cut(from Value, index int) {
	parts, before := from.parts(), from.Start+1
	start, end := parts[index].start, parts[index].end
	if index > 0 {
		before = parts[index-1].end
	}
	// Its line goes, too, if it begins one.
	line := before + len(strings.TrimRight(d.Text[before:start], " \t"))
	if text, begins := strings.CutSuffix(d.Text[before:line], "\n"); begins {
		line = before + len(strings.TrimSuffix(text, "\r"))
	} else if len(parts) > 1 {
		line = start
	}
	p := parser{text: d.Text, at: end}
	c, _ := p.peek() // it was parsed before
	switch {
	case len(parts) == 1:
		if c == ',' {
			end = p.at + 1
		}
		// Nothing is between the brackets any more.
		if strings.TrimSpace(d.Text[from.Start+1:line]+d.Text[end:from.End-1]) == "" {
			line, end = from.Start+1, from.End-1
		}
		d.Replace(line, d.Text[line:end], "")
	case c == ',' && (index < len(parts)-1 || line < start):
		end = p.at + 1
		if line == start { // not on a line of its own
			for strings.IndexByte(" \t", d.Text[end]) >= 0 {
				end++
			}
		}
		d.Replace(line, d.Text[line:end], "")
	default:
		// It is the last one: the comma before it is removed, and the text between stays.
		q := parser{text: d.Text, at: before}
		_, _ = q.peek() // it is at the comma then
		if line == start {
			line = q.at + 1
		}
		d.Replace(line, d.Text[line:end], "")
		d.Replace(q.at, ",", "")
	}
}

func (d *Document) indentAt(at int) string {
	line := d.Text[strings.LastIndexByte(d.Text[:at], '\n')+1 : at]
	return line[:len(line)-len(strings.TrimLeft(line, " \t"))]
}

// unit returns one step of the text's indentation.
func (d *Document) unit() string {
	root, err := Parse(d.Text)
	if err == nil && len(root.Members) > 0 {
		if indent := d.indentAt(root.Members[0].Start); indent != "" {
			return indent
		}
	}
	return "  "
}

func (d *Document) newline() string {
	if strings.Contains(d.Text, "\r\n") {
		return "\r\n"
	}
	return "\n"
}

func (d *Document) format(value any, indent string) (string, error) {
	text, err := encode(value, indent, d.unit())
	return strings.ReplaceAll(text, "\n", d.newline()), err
}

// encode encodes a value; with an empty indent and unit it is one line.
func encode(value any, indent, unit string) (string, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent(indent, unit)
	err := e.Encode(value)
	return strings.TrimSuffix(b.String(), "\n"), err
}

// same reports whether a value in a text is what encoding/json makes of another one.
func same(v *Value, value any) bool {
	want, err := json.Marshal(value)
	if err != nil {
		return false
	}
	var a, b any
	if v.Decode(&a) != nil || json.Unmarshal(want, &b) != nil {
		return false
	}
	return reflect.DeepEqual(a, b)
}
