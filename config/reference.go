package config

import (
	"fmt"
	"strings"
)

// WorkerKeys returns a table in Markdown of all keys of [workers.NAME], and OtherKeys one of all
// others. They are made of the fields that decode them; docs/config.md has them, and a test
// holds it.
func WorkerKeys() string {
	var b strings.Builder
	keyTable(&b, "", "workers.*.", workerFields(), nil)
	return b.String()
}

// OtherKeys is explained at [WorkerKeys].
func OtherKeys() string {
	var b strings.Builder
	keyTable(&b, "", "", fields(), new(Default()))
	keyRows(&b, "plugins.NAME.", "plugins.*.", pluginFields(), nil)
	keyRows(&b, "hooks.", "hooks.", hookFields(), nil)
	keyRows(&b, answersKey+".", answersKey+".", answerFields(), nil)
	return b.String()
}

func keyTable[T any](b *strings.Builder, shown, ruled string, fields []field[T], defaults *T) {
	b.WriteString("| key | | default | in a project's file that is not trusted |\n|---|---|---|---|\n")
	keyRows(b, shown, ruled, fields, defaults)
}

func keyRows[T any](b *strings.Builder, shown, ruled string, fields []field[T], defaults *T) {
	for _, f := range fields {
		otherwise := ""
		if defaults != nil {
			if value := f.show(defaults); value != "" {
				otherwise = "`" + value + "`"
			}
		}
		fmt.Fprintf(b, "| `%s` | %s | %s | %s |\n", shown+f.key, strings.ReplaceAll(f.doc, "|", "\\|"), otherwise, ruleOf(ruled+f.key).inDocs())
	}
}

// inDocs says what a file may do that is not trusted.
func (r rule) inDocs() string {
	switch {
	case r.why == whyOwn:
		return "no: in your own file only"
	case r.why == whyAsk:
		return "only with answer = \"ask\", trusted or not"
	case r.refused == nil:
		return "yes"
	case r.inside:
		return "within the project"
	case r.paths != nil:
		return "no path that leads out of the project"
	case r.why == whyLoosens:
		return "no looser than your own"
	default:
		return "no"
	}
}

// firstWorker is what the example of a project has in addition: a worker with which "swarm up"
// works as the file is.
const firstWorker = `# The first one: put your own command in its place, and run "swarm up".
[workers.hello]
command = ["sh", "-c", "echo hello; exec sleep 3600"]
#
`

// beforeWorkers is the line of the example before which the first worker is inserted.
const beforeWorkers = "# [workers.db]\n"

// ProjectExample is [Example] with a worker that can be started.
func ProjectExample() string {
	return strings.Replace(example, beforeWorkers, firstWorker+beforeWorkers, 1)
}
