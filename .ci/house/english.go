package main

import (
	"fmt"
	"go/ast"
	"go/token"
	"regexp"
	"strconv"
	"strings"
)

// begin matches the beginning of a sentence.
const begin = `(?:\A|[.:;!?]\s+|\n\n\s*)`

// A pattern matches sentences that are not plain English.
type pattern struct {
	name string
	re   *regexp.Regexp
	// unless matches what re matches and is plain English.
	unless *regexp.Regexp
}

// patterns are the sentences that the house style rules out: clauses without a noun
// to hang on, and processes as persons. Questions are fine.
var patterns = []pattern{
	{name: "headless who", re: regexp.MustCompile(begin + `(Who|Whom|Whose)\s[^.?!]*([.!]|\z)`)},
	{name: "headless what", re: regexp.MustCompile(begin + `What\s[^.?!]*([.!]|\z)`)},
	{name: "headless that", re: regexp.MustCompile(begin + `(That|Those)\s+(of|which|who)\b`)},
	{
		name:   "is none",
		re:     regexp.MustCompile(`\w+\s+(is|are|was|were)\s+none\b`),
		unless: regexp.MustCompile(`^[Tt]here\s`),
	},
	{
		name:   "is no X",
		re:     regexp.MustCompile(`\w+\s+(is|are|was|were)\s+no\s+\w+`),
		unless: regexp.MustCompile(`^([Tt]here|which|that)\s|\sno\s+(longer|more|less|better|worse|other|different|such|one|way|reason|matter)$`),
	},
	{name: "is as it was", re: regexp.MustCompile(`\b(is|are|was|were|be|stays?|stayed|left)\s+as\s+(it|they|he|she)\s+(is|are|was|were)\b`)},
	{name: "wanted is", re: regexp.MustCompile(`\bwanted\s+(is|are)\b`)},
	{name: "what is left", re: regexp.MustCompile(`\b(what|What)\s+(is|was)\s+left\b`)},
	{
		name: "process as person",
		re:   regexp.MustCompile(`\b([Pp]rocess|program|shim|worker|plugin|backend|host|call|child|server|command|courier|keeper)(es|s)?,?\s+(who|whom)\b`),
	},
}

// measureEnglish counts the sentences of comments, strings and pages that match a
// pattern, those of tests by themselves.
func measureEnglish(sources []source) ([]measure, error) {
	code := measure{name: "headless sentences in code and pages"}
	tests := measure{name: "headless sentences in tests"}
	for _, s := range sources {
		if strings.HasPrefix(s.path, ".ci/house/") {
			continue // it quotes them
		}
		texts := pageTexts(s)
		if s.isGo() {
			var err error
			if texts, err = goTexts(s); err != nil {
				return nil, err
			}
		}
		m := &code
		if s.isTest() {
			m = &tests
		}
		for _, t := range texts {
			m.places = append(m.places, t.headless(s.path)...)
		}
	}
	code.value, tests.value = len(code.places), len(tests.places)
	return []measure{code, tests}, nil
}

// headless returns the places in t that match a pattern.
func (t text) headless(path string) []string {
	var places []string
	for _, p := range patterns {
		for _, at := range p.re.FindAllStringIndex(t.text, -1) {
			match := strings.TrimLeft(t.text[at[0]:at[1]], ".:;!? \t\n")
			if p.unless != nil && p.unless.MatchString(match) {
				continue
			}
			line := t.line
			if t.manyLines {
				line += strings.Count(t.text[:at[1]-len(match)], "\n")
			}
			places = append(places, fmt.Sprintf("%s:%d: %s: %s", path, line, p.name, oneLine(match)))
		}
	}
	return places
}

// oneLine returns the beginning of text on one line.
func oneLine(text string) string {
	const limit = 80
	text = strings.Join(strings.Fields(text), " ")
	if runes := []rune(text); len(runes) > limit {
		return string(runes[:limit]) + "…"
	}
	return text
}

// A text is a comment, a string or a page.
type text struct {
	text string
	line int
	// manyLines is set if a line break in text is one in the file.
	manyLines bool
}

// goTexts returns the comments and strings of a Go file.
func goTexts(s source) ([]text, error) {
	files, file, err := parse(s)
	if err != nil {
		return nil, err
	}
	var all []text
	for _, group := range file.Comments {
		var lines strings.Builder
		for _, c := range group.List {
			lines.WriteString(strings.TrimPrefix(strings.TrimPrefix(c.Text, "//"), " ") + "\n")
		}
		all = append(all, text{strings.TrimSuffix(lines.String(), "\n"), files.Position(group.Pos()).Line, true})
	}
	ast.Inspect(file, func(n ast.Node) bool {
		if _, ok := n.(*ast.ImportSpec); ok {
			return false
		}
		literal, ok := n.(*ast.BasicLit)
		if !ok || literal.Kind != token.STRING {
			return true
		}
		if value, err := strconv.Unquote(literal.Value); err == nil {
			all = append(all, text{value, files.Position(literal.Pos()).Line, literal.Value[0] == '`'})
		}
		return true
	})
	return all, nil
}

// pageTexts returns the text of a page, its code blocks blank.
func pageTexts(s source) []text {
	var page strings.Builder
	code := false
	for line := range strings.Lines(string(s.text)) {
		fence := strings.HasPrefix(strings.TrimSpace(line), "```")
		if fence {
			code = !code
		}
		if fence || code {
			line = "\n"
		}
		page.WriteString(line)
	}
	return []text{{page.String(), 1, true}}
}
