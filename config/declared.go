package config

import (
	"fmt"
	"slices"
	"strings"

	"github.com/BurntSushi/toml"

	"github.com/swarmhost/swarm/shared/nearest"
	"github.com/swarmhost/swarm/shared/tomlscan"
)

func (d *decoder) keyOfWorker(key toml.Key, at tomlscan.Spot) {
	name, table := key[1], joined(key[:2])
	w, seen := d.into.Workers[name]
	if !seen {
		if err := d.checks.of("workers.*", name); err != nil {
			d.reject(table, at.Key, err.Error())
			return
		}
		if len(key) == 2 && !d.table(key, at) {
			return
		}
		d.origins[table] = d.source.position(at.Key)
		d.into.Workers[name] = w
	}
	if len(key) > 2 && apply(d, d.worker, &w, key, 2, at) {
		d.into.Workers[name] = w
	}
}

// checkWorkers makes the checks that need all workers.
func (d *decoder) checkWorkers() {
	names := sortedKeys(d.into.Workers)
	for _, name := range names {
		if table := WorkerKey(name, ""); !d.done[table] && !d.done[WorkerKey(name, "command")] {
			d.wrong(table, "a command is missing, such as command = [\"npm\", \"start\"]")
		}
		d.checkWorkspace(name)
		key := WorkerKey(name, "depends_on")
		for _, other := range d.into.Workers[name].DependsOn {
			if _, ok := d.into.Workers[other]; ok {
				continue
			}
			text := fmt.Sprintf("unknown worker '%s'", other)
			if len(d.problems) < maxSuggestions {
				text += didYouMean(nearest.Name(other, names))
			}
			d.wrong(key, text)
		}
	}
	for _, cycle := range cycles(d.into.Workers) {
		d.wrong(WorkerKey(cycle[0], "depends_on"), "a cycle: "+strings.Join(cycle, " -> "))
	}
}

// checkWorkspace refuses two ways to ask for one workspace: the one that is read last would hold.
func (d *decoder) checkWorkspace(name string) {
	var asked [2]string
	for i, key := range []string{"workspace", "worktree"} {
		for _, f := range d.worker.fields {
			key, below := WorkerKey(name, f.key), f.key == key || strings.HasPrefix(f.key, key+".")
			if _, set := d.origins[key]; set && below && asked[i] == "" {
				asked[i] = key
			}
		}
	}
	if asked[0] != "" && asked[1] != "" {
		d.wrong(asked[1], "a worker has one workspace: leave out either workspace or worktree")
	}
}

// wrong reports a key that was read without a problem.
func (d *decoder) wrong(key, text string) {
	d.problems = append(d.problems, Problem{At: d.origins[key], Key: key, Text: text})
}

// WorkerKey returns the whole key of a field of [workers.NAME], as in
// [Loaded.Origins]; with an empty key that of the worker.
func WorkerKey(name, key string) string {
	table := joined(toml.Key{"workers", name})
	if key == "" {
		return table
	}
	return table + "." + key
}

// maxCycles is how many cycles are reported. Their number, and the length of each, can grow
// with the size of the file.
const maxCycles = 20

// cycles returns cycles among dependencies, each with its first worker again at the end.
// Removing them removes all cycles, unless there are maxCycles.
func cycles(workers map[string]Worker) [][]string {
	const (
		unseen = iota
		open
		closed
	)
	state := map[string]int{}
	var found [][]string
	var path []string
	var visit func(name string)
	visit = func(name string) {
		state[name] = open
		path = append(path, name)
		for _, next := range workers[name].DependsOn {
			switch state[next] {
			case unseen:
				visit(next)
			case open:
				if len(found) == maxCycles {
					continue
				}
				cycle := slices.Clone(path[slices.Index(path, next):])
				found = append(found, append(cycle, next))
			}
		}
		path = path[:len(path)-1]
		state[name] = closed
	}
	for _, name := range sortedKeys(workers) {
		if state[name] == unseen {
			visit(name)
		}
	}
	return found
}
