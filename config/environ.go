package config

import (
	"errors"
	"io/fs"
	"maps"
	"slices"
)

// Environ returns the variables of a worker as KEY=VALUE: those of its files,
// later ones over earlier ones, and over all of them those of its table. The
// files are read now. Problems tell no values.
func (l *Loaded) Environ(name string) ([]string, Problems) {
	w := l.Config.Workers[name]
	values := map[string]string{}
	var problems Problems
	for _, path := range w.EnvFiles {
		key := WorkerKey(name, "env_file")
		content, err := read(path)
		if err != nil {
			text := path + ": " + err.Error()
			if errors.Is(err, fs.ErrNotExist) {
				text = "no such file: " + path
			}
			problems = append(problems, Problem{At: l.Origins[key], Key: key, Text: text})
			continue
		}
		variables, wrong := parseDotenv(string(content))
		for _, v := range variables {
			values[v.name] = v.value
		}
		source := newSource(path, string(content))
		if len(wrong) > 0 && l.concealed == l.Origins[key].File {
			// The path is a value too.
			problems = append(problems, Problem{At: l.Origins[key], Key: key})
			continue
		}
		for _, e := range wrong {
			problems = append(problems, Problem{At: source.position(e.at), Text: e.text})
		}
	}
	if problems != nil {
		return nil, l.Conceal(problems)
	}
	maps.Copy(values, w.Env)
	entries := make([]string, 0, len(values))
	for key, value := range values {
		entries = append(entries, key+"="+value)
	}
	slices.Sort(entries)
	return entries, nil
}
