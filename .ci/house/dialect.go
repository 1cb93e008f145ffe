package main

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"regexp"
	"slices"
	"strings"
	"unicode"
)

const (
	maxDialectLines = 25
	maxGerundTypes  = 3
)

// dialect are words that mean something else here than elsewhere, and what plain English
// says for them. They match identifiers too, whose words are separated for it.
var dialect = []struct {
	re      *regexp.Regexp
	instead string
}{
	{words(`tells?|told|telling|retold|retells?`), "report, notify, say, distinguish, or the noun"},
	{words(`beside`), "next to, concurrently, in addition to"},
	{words(`nobody|somebody|whoever`), "the noun"},
	{words(`rooms?`), "package; space"},
	{words(`faces?`), "facade"},
	{words(`couriers?|offices?`), "notifier"},
	{words(`keepers?`), "the noun: rescues, shim"},
	{words(`sights?`), "liveness"},
	{words(`fallen`), "interrupted"},
	{words(`news`), "notices"},
	{words(`standing`), "membership"},
	{words(`for ?ever`), "permanently, without limit"},
	{words(`look(s|ed|ing)? after`), "supervise, watch"},
	{words(`(see|sees|saw|seeing) to`), "ensure"},
	{words(`(go|goes|went|going|gone) on`), "continue"},
	{words(`(is|are|was|were) over`), "has ended, has expired"},
	{words(`of no use`), "useless"},
	{words(`(do|does|did|doing) without`), "needs no"},
	{words(`(give|gives|gave|giving) way`), "yields"},
}

// words returns a pattern of whole words, which may be on two lines.
func words(pattern string) *regexp.Regexp {
	return regexp.MustCompile(`(?i)\b(` + strings.ReplaceAll(pattern, " ", `\s+`) + `)\b`)
}

// An exception is a use of a word of the dialect that stays.
type exception struct {
	// path is the beginning of the paths of the files that may hold phrase; "" is all.
	path string
	// phrase holds the word and as much around it as it takes to know it.
	phrase *regexp.Regexp
	reason string
}

var exceptions = []exception{
	{"", regexp.MustCompile(`(?i)\b(is|are|was|were)\s+over\s+(\d|the (limit|budget))`), "over a number"},
	{"host/answers/", regexp.MustCompile(`and tell (\\S\+|Claude|Codex) what to do differently`), "a choice of agents' dialogs"},
	{"host/registry/shutdown.go", regexp.MustCompile(`json:"told,omitempty"`), "a field of stored documents, which docs/stability.md promises"},
	{"cmd/swarm/agentsdialogs_test.go", regexp.MustCompile(`Tell Claude what to change`), "a choice of Claude Code"},
}

// measureDialect counts the lines with words of the dialect, those of tests by themselves.
func measureDialect(sources []source) ([]measure, error) {
	code := measure{name: "lines with words of the dialect in code and pages", max: maxDialectLines}
	tests := measure{name: "lines with words of the dialect in tests", max: maxDialectLines}
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
			names, err := goNames(s)
			if err != nil {
				return nil, err
			}
			texts = append(texts, names...)
		}
		m := &code
		if s.isTest() {
			m = &tests
		}
		m.places = append(m.places, dialectLines(s.path, texts)...)
	}
	code.value, tests.value = len(code.places), len(tests.places)
	return []measure{code, tests}, nil
}

// dialectLines returns the lines of a file with words of the dialect.
func dialectLines(path string, texts []text) []string {
	found := map[int]string{}
	for _, t := range texts {
		excepted := exceptedParts(path, t.text)
		for _, d := range dialect {
			for _, at := range d.re.FindAllStringIndex(t.text, -1) {
				if slices.ContainsFunc(excepted, func(e []int) bool { return e[0] <= at[0] && at[1] <= e[1] }) {
					continue
				}
				line := t.line
				if t.manyLines {
					line += strings.Count(t.text[:at[0]], "\n")
				}
				found[line] = fmt.Sprintf("%s:%d: %s: %s", path, line, oneLine(t.text[at[0]:at[1]]), d.instead)
			}
		}
	}
	var places []string
	for _, line := range sortedKeys(found) {
		places = append(places, found[line])
	}
	return places
}

// exceptedParts returns where text holds phrases that may stay in the file at path.
func exceptedParts(path, text string) [][]int {
	var parts [][]int
	for _, e := range exceptions {
		if strings.HasPrefix(path, e.path) {
			parts = append(parts, e.phrase.FindAllStringIndex(text, -1)...)
		}
	}
	return parts
}

func sortedKeys(m map[int]string) []int {
	var keys []int
	for key := range m {
		keys = append(keys, key)
	}
	slices.Sort(keys)
	return keys
}

// goNames returns the identifiers of a Go file, their words separated.
func goNames(s source) ([]text, error) {
	files, file, err := parse(s)
	if err != nil {
		return nil, err
	}
	var all []text
	ast.Inspect(file, func(n ast.Node) bool {
		if name, ok := n.(*ast.Ident); ok {
			all = append(all, text{text: strings.Join(nameWords(name.Name), " "), line: files.Position(name.Pos()).Line})
		}
		return true
	})
	return all, nil
}

// nameWords returns the words of an identifier in lower case.
func nameWords(name string) []string {
	var all []string
	runes := []rune(name)
	from := 0
	end := func(i int) {
		if from < i {
			all = append(all, strings.ToLower(string(runes[from:i])))
		}
		from = i
	}
	for i, r := range runes {
		switch {
		case r == '_':
			end(i)
			from = i + 1
		case i > 0 && unicode.IsUpper(r) && (!unicode.IsUpper(runes[i-1]) || i+1 < len(runes) && unicode.IsLower(runes[i+1])):
			end(i)
		}
	}
	end(len(runes))
	return all
}

// nouns are words that only end like gerunds.
var nouns = []string{
	"anything", "binding", "bring", "everything", "finding", "greeting", "heading", "listing",
	"missing", "nothing", "pending", "recording", "ring", "setting", "something", "string", "thing", "warning",
	"wording",
}

// counted are nouns that do count as names of types: the goal has space for these three.
var counted = []string{"binding", "finding", "recording"}

// measureGerunds counts the types and functions that are named by a gerund. A type is if its
// last word is one, a function if its name is one word. A function that reports one truth
// may be named by an adjective, as running.
func measureGerunds(sources []source) ([]measure, error) {
	types := measure{name: "types named by a gerund", max: maxGerundTypes}
	functions := measure{name: "functions named by a gerund"}
	for _, s := range sources {
		if !s.isGo() {
			continue
		}
		files, file, err := parse(s)
		if err != nil {
			return nil, err
		}
		place := func(name *ast.Ident) string {
			return fmt.Sprintf("%s:%d: %s", s.path, files.Position(name.Pos()).Line, name.Name)
		}
		ast.Inspect(file, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.TypeSpec:
				words := nameWords(n.Name.Name)
				if last := words[len(words)-1]; isGerund(last) || slices.Contains(counted, last) {
					types.places = append(types.places, place(n.Name))
				}
			case *ast.FuncDecl:
				words := nameWords(n.Name.Name)
				if len(words) == 1 && isGerund(words[0]) && !returnsBool(n) {
					functions.places = append(functions.places, place(n.Name))
				}
			}
			return true
		})
	}
	types.value, functions.value = len(types.places), len(functions.places)
	return []measure{types, functions}, nil
}

func isGerund(word string) bool {
	return len(word) > 4 && strings.HasSuffix(word, "ing") && !slices.Contains(nouns, word)
}

func returnsBool(f *ast.FuncDecl) bool {
	results := f.Type.Results
	if results == nil || len(results.List) != 1 {
		return false
	}
	name, ok := results.List[0].Type.(*ast.Ident)
	return ok && name.Name == "bool" && len(results.List[0].Names) < 2
}

// parse parses a Go file.
func parse(s source) (*token.FileSet, *ast.File, error) {
	files := token.NewFileSet()
	file, err := parser.ParseFile(files, s.path, s.text, parser.ParseComments|parser.SkipObjectResolution)
	return files, file, err
}
