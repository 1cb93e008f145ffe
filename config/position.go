package config

import (
	"slices"
	"unicode/utf8"
)

// source is the text of a file.
type source struct {
	file, text string
	// lines are the offsets at which the lines begin.
	lines []int
}

func newSource(file, text string) source {
	s := source{file: file, text: text, lines: []int{0}}
	for i := range len(text) {
		if text[i] == '\n' {
			s.lines = append(s.lines, i+1)
		}
	}
	return s
}

// position turns an offset into line and column.
func (s source) position(at int) Position {
	at = min(max(at, 0), len(s.text))
	line, begins := slices.BinarySearch(s.lines, at)
	if begins {
		line++
	}
	return Position{File: s.file, Line: line, Column: utf8.RuneCountInString(s.text[s.lines[line-1]:at]) + 1}
}
