package config

import (
	"io/fs"
	"os"
	"slices"
	"strings"

	"github.com/swarmhost/swarm/shared/trust"
)

// secretive reports whether a project's file may hold content of other users: a link can
// lead to any file of the user, and a file that others can write is not only the project's.
// The problems of such a file quote nothing of it, since they end in logs.
func secretive(path string) bool {
	if info, err := os.Lstat(path); err != nil || info.Mode()&fs.ModeSymlink != 0 {
		return true
	}
	return trust.Path(path) != nil
}

const notShown = " (what the file holds is not shown: it is a link, or others can write it)"

// Conceal removes all quotations from the problems of a project's file that is a link, or
// that others can write: only the position and the setting remain. Every problem with a
// value of [Loaded] passes through it.
func (l *Loaded) Conceal(problems Problems) Problems {
	if l.concealed == "" {
		return problems
	}
	problems = slices.Clone(problems)
	for i, p := range problems {
		if p.At.File != l.concealed || p.At.Line == 0 {
			continue
		}
		text := "wrong value"
		switch {
		case strings.HasSuffix(p.Text, notShown):
			continue
		case strings.HasSuffix(p.Text, adviceTrust):
			text = "holds in a trusted file only: " + adviceTrust
		case strings.HasPrefix(p.Text, "unknown key"):
			text = "unknown key"
		case p.Key == "":
			text = "this is not the TOML of a config file"
		}
		problems[i].Key, problems[i].Text = settingOf(p.Key), text+notShown
	}
	return problems
}

// ConcealValue replaces a value of a file of which nothing is shown by a remark, and its key by
// the setting. Every value that a user has not asked to be shown for trust passes through it.
func (l *Loaded) ConcealValue(v Value) Value {
	if v.Origin == nil || v.Origin.File != l.concealed {
		return v
	}
	return Value{Key: settingOf(v.Key), Value: strings.TrimSpace(notShown), Origin: v.Origin, Concealed: true}
}

// settingOf returns the key of a setting with a star for the name of a plugin or worker;
// empty if key is not a setting.
func settingOf(key string) string {
	if slices.Contains(keysOutside(), key) {
		return key
	}
	table, rest, _ := strings.Cut(key, ".")
	switch table {
	case "plugins":
		return starred(table, rest, pluginFields())
	case "workers":
		return starred(table, rest, workerFields())
	case "hooks":
		return table
	default:
		return ""
	}
}

func starred[T any](table, rest string, fields []field[T]) string {
	best := ""
	for _, f := range fields {
		if strings.HasSuffix(rest, "."+f.key) && len(f.key) > len(best) {
			best = f.key
		}
	}
	if best == "" {
		return ""
	}
	return table + ".*." + best
}
