package rundir

import (
	"os"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// page is what authors in other languages read.
const page = "../../../docs/shim.md"

// rows returns the cells of the rows of the first table in a section of the page whose heading ends
// with the given text, without those of the head.
func rows(t *testing.T, heading, first string) [][]string {
	t.Helper()
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	_, section, found := strings.Cut(string(text), "\n"+heading+"\n")
	_, table, head := strings.Cut(section, "\n| "+first+" |")
	if !found || !head {
		t.Fatalf("%s has no table %q in %q", page, first, heading)
	}
	table, _, _ = strings.Cut(table, "\n\n")
	var all [][]string
	for _, line := range strings.Split(table, "\n")[2:] {
		cells := strings.Split(strings.Trim(line, "|"), "|")
		for i := range cells {
			cells[i] = strings.TrimSpace(cells[i])
		}
		all = append(all, cells)
	}
	return all
}

var code = regexp.MustCompile("`([^`]*)`")

// names returns what a cell has as code.
func names(cell string) []string {
	var all []string
	for _, match := range code.FindAllStringSubmatch(cell, -1) {
		all = append(all, match[1])
	}
	return all
}

// column returns the names in the first column.
func column(rows [][]string) []string {
	var all []string
	for _, row := range rows {
		all = append(all, names(row[0])...)
	}
	return all
}

func TestPageHasTheLaunchFile(t *testing.T) {
	t.Parallel()
	table := rows(t, "## The launch file", "key")
	var want []string
	for _, f := range launchFields {
		want = append(want, f.key)
	}
	if diff := cmp.Diff(want, column(table)); diff != "" {
		t.Errorf("the keys of a launch file (-codec +page):\n%s", diff)
	}
	// The keys that an empty launch leaves out are optional.
	for i, f := range launchFields {
		left := len(f.values(new(Launch))) == 0 && f.key != "arg" && f.key != "env"
		if says := strings.HasPrefix(table[i][1], "optional"); says != left {
			t.Errorf("%s: the page says optional: %v, the codec: %v", f.key, says, left)
		}
	}
}

func TestPageHasTheRequests(t *testing.T) {
	t.Parallel()
	got := make(map[string]struct{ must, may []string })
	for _, row := range rows(t, "## The control socket", "request") {
		got[names(row[0])[0]] = struct{ must, may []string }{names(row[1]), names(row[2])}
	}
	if !reflect.DeepEqual(got, requestKeys) {
		t.Errorf("the requests are %v, the page has %v", requestKeys, got)
	}
	want := []string{
		AnswerAccepted, AnswerEnded, AnswerSurvivors, AnswerOK, AnswerChanged, AnswerLate, AnswerPending, AnswerBusy, AnswerReady, AnswerExit, AnswerStale, AnswerError,
	}
	if diff := cmp.Diff(want, column(rows(t, "## The control socket", "answer"))); diff != "" {
		t.Errorf("the answers (-codec +page):\n%s", diff)
	}
	for _, kind := range want {
		if _, err := ParseAnswer(kind + map[string]string{AnswerExit: " 0"}[kind]); err != nil {
			t.Errorf("%s: %v", kind, err)
		}
	}
}

func TestPageHasTheStatus(t *testing.T) {
	t.Parallel()
	var want []string
	for field := range reflect.TypeFor[Status]().Fields() {
		want = append(want, field.Tag.Get("json"))
	}
	if diff := cmp.Diff(want, column(rows(t, "## status.json", "field"))); diff != "" {
		t.Errorf("the fields of status.json (-type +page):\n%s", diff)
	}
}

func TestPageHasTheFiles(t *testing.T) {
	t.Parallel()
	got := column(rows(t, "## The run directory", "file"))
	for _, name := range []string{
		WorkerFile, JournalLink, LaunchFile, ReadyFIFO, StatusFile, FinalFile, UpdateFile, Socket, LogFile, LogName(Segments - 1), ScreenFile, OrderFile, "transcript",
	} {
		if !slices.Contains(got, name) {
			t.Errorf("the page does not have the file %s", name)
		}
	}
}

func TestPageHasTheVersions(t *testing.T) {
	t.Parallel()
	got := make(map[string]string)
	for _, row := range rows(t, "## Versions", "format") {
		if found := names(row[1]); len(found) > 0 {
			got[row[0]] = found[0]
		}
	}
	want := map[string]string{
		"launch file": launchVersion, "status.json": strconv.Itoa(StatusVersion), "control socket": strconv.Itoa(Protocol), "handle of the verbs": "1",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("the versions (-code +page):\n%s", diff)
	}
}
