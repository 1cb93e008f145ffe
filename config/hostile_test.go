package config

import (
	"errors"
	"fmt"
	"runtime"
	"strings"
	"testing"
)

// TestHostile: whatever a file holds, reading it costs little. The cost is measured in
// allocated bytes, which do not depend on the load of the machine.
func TestHostile(t *testing.T) {
	const most = 256 << 20 // for documents of up to 1 MiB
	repeat := func(s string, size int) string { return strings.Repeat(s, size/len(s)) }
	lines := func(format string, n int) string {
		var b strings.Builder
		for i := range n {
			b.WriteString(strings.ReplaceAll(format, "#", fmt.Sprint(i)))
		}
		return b.String()
	}
	for name, c := range map[string]struct{ src, want string }{
		"dotted key":              {repeat("a.", 16<<10) + "a = 1", "1:1: keys and values are nested more than 24 deep"},
		"long dotted key":         {repeat("a.", 900<<10) + "a = 1", "1:1: keys and values are nested more than 24 deep"},
		"quoted dotted key":       {"x = 1\n" + repeat(`"a.=" . `, 64<<10) + "a = 1", "2:1: keys and values are nested more than 24 deep"},
		"table":                   {"[" + repeat("a.", 64<<10) + "a]", "1:2: keys and values are nested more than 24 deep"},
		"array of tables":         {"[[" + repeat("a.", 64<<10) + "a]]", "1:3: keys and values are nested more than 24 deep"},
		"table and key":           {"[" + repeat("a.", 40) + "a]\n" + repeat("b.", 20) + "b = 1", "2:1: keys and values are nested more than 24 deep"},
		"arrays":                  {"a = " + repeat("[", 900<<10), "1:1: keys and values are nested more than 24 deep"},
		"inline tables":           {"a = " + repeat("{a=", 900<<10), "nested more than 24 deep"},
		"dots in inline tables":   {"a = " + strings.Repeat("{a.a.a.a = ", 10), "nested more than 24 deep"},
		"many keys":               {lines("k# = 1\n", 80_000), "too many keys"},
		"many deep keys":          {lines("k#.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a = 1\n", 15_000), "too many keys"},
		"many tables":             {lines("[k#]\n", 100_000), "too many keys"},
		"many keys in one line":   {"a = {" + lines("k#=1,", 90_000), "too many keys"},
		"unknown keys":            {lines("k# = 1\n", 40_000), "k39999: unknown key"},
		"one long key":            {repeat("k", 900<<10) + " = 1", "unknown key"},
		"long names":              {"[workers.a]\ncommand = ['x']\ndepends_on = ['" + repeat("k", 900<<10) + "']", "unknown worker"},
		"values of tables":        {"[workers.a]\ncommand = ['x']\n" + lines("env.k#.x = 1\n", 9_000), "env.k8999: expected a string"},
		"cycles":                  {lines("[workers.w#]\ncommand = ['x']\ndepends_on = ["+lines("'w#',", 300)+"]\n", 300), "a cycle: w0 -> w0"},
		"cycle with itself":       {"[workers.w]\ncommand = ['x']\ndepends_on = [" + repeat("'w',", 900<<10) + "]", "a cycle: w -> w"},
		"brackets that never end": {repeat("[}", 900<<10), ""},
		"invalid values":          {repeat("a = [}\n", 900<<10), ""},
		"quotes":                  {repeat("\"\"\"", 900<<10), ""},
	} {
		t.Run(name, func(t *testing.T) {
			if len(c.src) > maxFile {
				t.Fatalf("%d bytes are more than a file may have", len(c.src))
			}
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			_, err := Load(Options{Project: write(t, ProjectFile, c.src)})
			runtime.ReadMemStats(&after)
			if cost := after.TotalAlloc - before.TotalAlloc; cost > most {
				t.Errorf("%d bytes cost %d MiB", len(c.src), cost>>20)
			}
			problems, ok := errors.AsType[Problems](err)
			if !ok {
				t.Fatalf("error %v, want Problems", err)
			}
			if text := problems.Error(); !strings.Contains(text, c.want) {
				t.Errorf("%.300s, want %s", text, c.want)
			}
		})
	}
}

// The limits leave space for a large project.
func TestManyWorkers(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	for i := range 1000 {
		fmt.Fprintf(&b, "[workers.w%d]\ncommand = ['x']\nenv = { A = 1, B = 2, C = 3 }\ntags = ['x']\nready.timeout = 5\nretain = 'none'\n", i)
	}
	l, err := Load(Options{Project: write(t, ProjectFile, b.String())})
	if err != nil || len(l.Config.Workers) != 1000 {
		t.Errorf("%d workers, %v", len(l.Config.Workers), err)
	}
}
