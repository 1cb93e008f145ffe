package profile

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"
)

// maxGap is how many lines may be between two rows of a menu: descriptions and
// labels of several lines.
const maxGap = 4

// menu returns the indexes of the first and the last row of the menu at the bottom of the
// screen and its choices, or the reason why there is none.
func (r *rule) menu(v view) (first, last int, choices []Choice, why string) {
	last = len(v.lines) - 1
	for ; last >= 0; last-- {
		// Of rows without keys and boxes only the selected one is known by itself.
		if c, ok := r.row(v.lines[last]); ok && (r.certain() || c.Selected) {
			break
		}
	}
	if last < 0 {
		return 0, 0, nil, fmt.Sprintf("no menu: %s", r.choice)
	}
	if r.certain() {
		first, choices = r.certainRows(v.lines, last)
	} else {
		first, last, choices = r.alignedRows(v, last)
	}
	under := v.lines[last+1:]
	switch {
	case v.prompt > last:
		return 0, 0, nil, "the prompt is below the menu: " + bare(v.lines[v.prompt])
	case v.certain && first < v.end && last >= v.prompt:
		return 0, 0, nil, "the text at the prompt is not a menu: " + bare(v.lines[v.prompt])
	case filled(under) > r.below:
		return 0, 0, nil, fmt.Sprintf("%d lines are below the menu, which is not the bottom of the screen", filled(under))
	case r.choice.SubexpIndex("selected") >= 0 && !slices.ContainsFunc(choices, func(c Choice) bool { return c.Selected }):
		return 0, 0, nil, "no row of the menu is selected: " + bare(v.lines[first])
	case len(r.footer) > 0 && !slices.ContainsFunc(under, func(line string) bool { return matchesAny(r.footer, line) }):
		return 0, 0, nil, fmt.Sprintf("not below the menu: %s", r.footer[0])
	}
	return first, last, choices, ""
}

// certain reports whether each row of a menu is known by itself, by its key or its box.
func (r *rule) certain() bool {
	return r.choice.SubexpIndex("key") >= 0 || r.choice.SubexpIndex("box") >= 0
}

func (r *rule) row(line string) (Choice, bool) {
	if r.submitRow != nil {
		if m := r.submitRow.FindStringSubmatch(line); m != nil {
			return Choice{Label: bare(group(r.submitRow, m, "label")), Selected: group(r.submitRow, m, "selected") != "", Kind: KindSubmit}, true
		}
	}
	m := r.choice.FindStringSubmatch(line)
	if m == nil {
		return Choice{}, false
	}
	c := Choice{Key: group(r.choice, m, "key"), Label: bare(group(r.choice, m, "label")), Selected: group(r.choice, m, "selected") != ""}
	if box := group(r.choice, m, "box"); box != "" {
		c.Checked, c.Press = no, r.press
		if strings.Trim(box, emptyBox) != "" {
			c.Checked = yes
		}
	}
	switch {
	case matchesAny(r.submit, c.Label):
		c.Kind = KindSubmit
	case matchesAny(r.text, c.Label):
		c.Kind, c.Press = KindText, ""
	}
	c.Hazard = matchesAny(r.hazard, c.Label)
	return c, true
}

// emptyBox are the characters of a box that is not checked.
const emptyBox = " []()☐◯○"

// certainRows returns the rows of a menu that ends at last.
func (r *rule) certainRows(lines []string, last int) (first int, choices []Choice) {
	for at, gap := last, 0; at >= 0 && gap <= maxGap; at-- {
		c, ok := r.row(lines[at])
		if !ok {
			gap++
			continue
		}
		if below := firstKey(choices); below != "" && c.Key != "" && !before(c.Key, below) {
			break // a list above the menu
		}
		if c.Key == "0" && gap > 0 {
			break // menus begin with 1: the end of such a list
		}
		choices, first, gap = slices.Insert(choices, 0, c), at, 0
	}
	return first, choices
}

// firstKey returns the key of the first choice that has one.
func firstKey(choices []Choice) string {
	for _, c := range choices {
		if c.Key != "" {
			return c.Key
		}
	}
	return ""
}

// alignedRows returns the rows of a menu without keys around its selected row: those
// whose labels begin in the same column. Lines that are further in are descriptions.
func (r *rule) alignedRows(v view, selected int) (first, last int, choices []Choice) {
	lines := v.lines
	label := r.choice.SubexpIndex("label")
	column := func(line string) int {
		m := r.choice.FindStringSubmatchIndex(line)
		if m == nil || m[2*label] < 0 {
			return -1
		}
		return utf8.RuneCountInString(line[:m[2*label]])
	}
	want := column(lines[selected])
	c, _ := r.row(lines[selected])
	choices, first, last = []Choice{c}, selected, selected
	// within reports whether a line is in the menu.
	within := func(at int) bool {
		return at >= 0 && at < len(lines) && (column(lines[at]) >= want || r.spaced && unboxed(lines[at]) == "")
	}
	isRow := func(at int) bool {
		switch {
		case column(lines[at]) != want:
			return false
		case v.looks != nil && r.described != nil:
			m := r.choice.FindStringSubmatchIndex(lines[at])
			return !v.looks.has(at, m[2*label], m[2*label+1], r.described)
		}
		return !r.spaced || at > 0 && unboxed(lines[at-1]) == ""
	}
	for at := selected - 1; within(at); at-- {
		if isRow(at) {
			c, _ := r.row(lines[at])
			choices, first = slices.Insert(choices, 0, c), at
		}
	}
	for at := selected + 1; within(at); at++ {
		if isRow(at) {
			c, _ := r.row(lines[at])
			choices, last = append(choices, c), at
		}
	}
	return first, last, choices
}

// before reports whether a row with key a may be right above the one with key b. Keys other
// than digits may be in any order.
func before(a, b string) bool {
	if len(a) == 1 && len(b) == 1 && a[0] >= '0' && a[0] <= '9' && b[0] >= '0' && b[0] <= '9' {
		return a[0]+1 == b[0]
	}
	return true
}
