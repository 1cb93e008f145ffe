package main

import (
	"maps"
	"slices"
	"strings"
	"testing"
)

// file returns a source.
func file(path, text string) source {
	return source{path: path, text: []byte(text), lines: strings.Count(text, "\n")}
}

// want fails t unless m has exactly the places that begin with prefixes.
func want(t *testing.T, m measure, prefixes ...string) {
	t.Helper()
	if m.value != len(m.places) {
		t.Errorf("%s: value %d, but %d places", m.name, m.value, len(m.places))
	}
	if !slices.EqualFunc(m.places, prefixes, strings.HasPrefix) {
		t.Errorf("%s:\n got %q\nwant %q", m.name, m.places, prefixes)
	}
}

func TestDialect(t *testing.T) {
	got, err := measureDialect([]source{
		file("a/a.go", `package a

// Tell writes to
// those that look
// after workers.
func Tell() {
	text := "goes on"
	inter := "The interface is over 3 lines; besides, an office"
	x.tellNews(text, inter)
}
`),
		file("a/a_test.go", "package a\n\nvar seesTo, hindsight int\n"),
		file("docs/page.md", "Nobody reads it.\n\n```\nnobody\n```\n"),
	})
	if err != nil {
		t.Fatal(err)
	}
	want(t, got[0], "a/a.go:3: Tell", "a/a.go:4: look after", "a/a.go:6: tell", "a/a.go:7: goes on",
		"a/a.go:8: office", "a/a.go:9: news", "docs/page.md:1: Nobody")
	want(t, got[1], "a/a_test.go:3: sees to")
}

// TestExceptions: an exception holds in its files alone, and each has a reason.
func TestExceptions(t *testing.T) {
	for _, e := range exceptions {
		if e.reason == "" {
			t.Errorf("%s in %q has no reason", e.phrase, e.path)
		}
	}
	for phrase, want := range map[string]int{"it is over 5 KiB": 0, "it is over": 1, "it is over 5 and then is over": 1} {
		if got := dialectLines("a.md", []text{{text: phrase, line: 1}}); len(got) != want {
			t.Errorf("%q: %q, want %d", phrase, got, want)
		}
	}
}

func TestNameWords(t *testing.T) {
	for name, want := range map[string]string{
		"tellOfLoop": "tell of loop", "TakeNews": "take news", "HTTPServer": "http server", "toID": "to id",
		"max_room": "max room", "_": "", "x": "x",
	} {
		if got := strings.Join(nameWords(name), " "); got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
}

func TestGerunds(t *testing.T) {
	got, err := measureGerunds([]source{file("a/a.go", `package a

type (
	upping   struct{}
	swarming = int
	settings int
	setting  int
	Binding  int
)

func (u upping) killing() {}
func running() bool       { return true }
func listeningOf() int    { return 0 }
func String() string      { return "" }
`)})
	if err != nil {
		t.Fatal(err)
	}
	want(t, got[0], "a/a.go:4: upping", "a/a.go:5: swarming", "a/a.go:8: Binding")
	want(t, got[1], "a/a.go:11: killing")
}

func TestCallbacks(t *testing.T) {
	got, err := measureCallbacks([]source{
		file("host/kill/doc.go", `package kill

import "example/host/store"

type Options struct {
	Name     string
	Warn     func(string)
	A, B     store.Reader
	Observe  observer
	Registry store.Registry
}

type observer func()

type Request struct{ Done func() }
`),
		file("host/store/store.go", "package store\n\ntype Reader func()\n\ntype Registry struct{}\n"),
		file("cmd/swarm/main.go", "package main\n\ntype Options struct{ Done func() }\n"),
	})
	if err != nil {
		t.Fatal(err)
	}
	at := "host/kill/doc.go:5: host/kill."
	want(t, got[0], at+"A", at+"B", at+"Observe", at+"Warn")
	want(t, got[1], at+"A", at+"B", at+"Observe", at+"Warn")
}

func TestUntested(t *testing.T) {
	long := "package p\n" + strings.Repeat("\n", untestedLinesMax)
	want(t, measureUntested([]source{
		file("host/bare/a.go", long),
		file("host/small/a.go", "package p\n"),
		file("host/tested/a.go", long),
		file("host/tested/a_test.go", "package p_test\n"),
		file("host/hosttest/a.go", long),
		file("shared/plugintest/fake/a.go", long),
	}), "host/bare: 201 lines")
}

func TestAliases(t *testing.T) {
	got, err := measureAliases([]source{
		file("host/names.go", "package host\n\ntype (\n\tOwn int\n\tKill = kill.Request\n)\n"),
		file("host/names_test.go", "package host\n\ntype Spawn = spawn.Request\n"),
		file("host/kill/a.go", "package kill\n\ntype Record = registry.Record\n"),
	})
	if err != nil {
		t.Fatal(err)
	}
	want(t, got, "host/names.go:5: Kill")
}

// TestTestSupport: lines of packages that only tests import do not count, nor do those of
// packages that only such packages import.
func TestTestSupport(t *testing.T) {
	imports := func(dirs ...string) string {
		text := "package p\n"
		for _, dir := range dirs {
			text += "import _ \"" + modulePath + dir + "\"\n"
		}
		return text
	}
	sources := []source{
		file("cmd/swarm/main.go", imports("host", "shared/plugin/plugintest")),
		file("host/host.go", "package p\n"),
		file("host/host_test.go", imports("host", "host/hosttest")),
		file("host/hosttest/rig.go", imports("host", "host/hosttest/fake")),
		file("host/hosttest/fake/fake.go", "package p\n\n\n"),
		file(".ci/bench/main.go", imports("cmd/internal/server")),
		file("cmd/internal/server/server.go", "package p\n\n\n\n"),
		file("shared/plugin/plugintest/kit.go", "package p\n\n"),
		file("shared/alone/alone.go", "package p\n"),
	}
	support, err := testSupport(sources)
	if err != nil {
		t.Fatal(err)
	}
	if got, want := slices.Sorted(maps.Keys(support)), []string{"cmd/internal/server", "host/hosttest", "host/hosttest/fake"}; !slices.Equal(got, want) {
		t.Errorf("support %q, want %q", got, want)
	}
	all, err := measureSize(sources)
	if err != nil {
		t.Fatal(err)
	}
	at := slices.IndexFunc(all, func(m measure) bool { return m.name == "production lines in all" })
	if got := all[at].value; got != 3+1+2+1 {
		t.Errorf("%d lines, want 7", got)
	}
}
