package view

import (
	"fmt"

	"github.com/swarmhost/swarm/shared/swarm"
)

// FileJSON is a changed file. The counts of lines are null if it is not text.
type FileJSON struct {
	Path    string `json:"path"`
	Added   *int   `json:"added"`
	Removed *int   `json:"removed"`
}

// FilesJSON converts changed files; without any it is an empty list.
func FilesJSON(files []swarm.FileChange) []FileJSON {
	list := make([]FileJSON, len(files))
	for i, f := range files {
		list[i].Path = f.Path
		if f.Added >= 0 {
			list[i].Added, list[i].Removed = &f.Added, &f.Removed
		}
	}
	return list
}

// FileRows are the rows of a table of changed files, such as "main.go  +12 -3".
func FileRows(files []swarm.FileChange) [][]string {
	rows := make([][]string, len(files))
	for i, f := range files {
		rows[i] = []string{f.Path, "binary"}
		if f.Added >= 0 {
			rows[i][1] = fmt.Sprintf("+%d -%d", f.Added, f.Removed)
		}
	}
	return rows
}
