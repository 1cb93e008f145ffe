package config

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/swarmhost/swarm/config/dotenv"
	"github.com/swarmhost/swarm/shared/errtext"
	"github.com/swarmhost/swarm/shared/trust"
)

// ReadEnv returns the variables of a file of variables as KEY=VALUE, in its order. The
// error holds no values.
func ReadEnv(path string) ([]string, error) {
	content, err := read(path)
	return variablesOf(path, content, err)
}

// variablesOf returns the variables in the content of a file that was read, or not.
func variablesOf(path string, content []byte, err error) ([]string, error) {
	if err != nil {
		return nil, fmt.Errorf("cannot read %s: %w", path, err)
	}
	variables, problems := parseDotenv(path, string(content))
	if problems != nil {
		return nil, problems
	}
	return variables, nil
}

// parseDotenv reads the text of a file of variables, see [dotenv.Parse].
func parseDotenv(path, text string) (variables []string, problems Problems) {
	variables, mistakes := dotenv.Parse(text)
	file := newSource(path, text)
	for _, m := range mistakes {
		problems = append(problems, Problem{At: file.position(m.At), Text: m.Text})
	}
	return variables, problems
}

// ReadEnvFrom is [ReadEnv] for a file that a person names in a command: it may also be a pipe, such
// as the one of "<(…)", or "-", which is stdin. It is read once, to its end.
func ReadEnvFrom(path string, stdin io.Reader) ([]string, error) {
	if path == "-" {
		content, err := readAll(stdin)
		return variablesOf("stdin", content, err)
	}
	info, err := os.Stat(path)
	if err != nil || info.Mode().IsRegular() || info.IsDir() {
		return ReadEnv(path)
	}
	f, err := os.Open(path)
	if err != nil {
		return variablesOf(path, nil, errtext.Cause(err))
	}
	defer f.Close()
	content, err := readAll(f)
	return variablesOf(path, content, err)
}

func (l *Loaded) readEnv() Problems {
	e := &l.Config.Env
	if e.File == "" || len(e.Pass) == 0 {
		return nil
	}
	at := l.Origins["env.file"]
	if broken, ok := trust.As(trust.Path(e.File)); ok {
		return Problems{{At: at, Key: "env.file", Text: e.File + " is not used: " + broken.Error()}}
	}
	variables, err := ReadEnv(e.File)
	if problems, ok := errors.AsType[Problems](err); ok {
		return problems
	}
	if err != nil {
		return Problems{{At: at, Key: "env.file", Text: err.Error()}}
	}
	for _, entry := range variables {
		if name, _, _ := strings.Cut(entry, "="); e.passes(name) {
			e.Values = append(e.Values, entry)
		}
	}
	return nil
}

// passes reports whether a variable is to be passed. The variables that identify a caller
// to swarm never are, whatever the pattern.
func (e *Env) passes(name string) bool {
	return !strings.HasPrefix(name, "SWARM_") && name != "TMUX" && slices.ContainsFunc(e.Pass, func(pattern string) bool {
		begin, all := strings.CutSuffix(pattern, "*")
		return name == pattern || all && strings.HasPrefix(name, begin)
	})
}

// Fill returns an environment, KEY=VALUE, with the values of those variables that it lacks.
// A variable with an empty value is not lacking.
func (e *Env) Fill(env []string) []string {
	there := make(map[string]bool, len(env))
	for _, entry := range env {
		name, _, _ := strings.Cut(entry, "=")
		there[name] = true
	}
	full := slices.Clone(env)
	for _, entry := range e.Values {
		if name, _, _ := strings.Cut(entry, "="); !there[name] {
			full = append(full, entry)
		}
	}
	return full
}

// readOf reads a file that a config file names.
func (l *Loaded) readOf(file, path string) ([]byte, error) {
	if file == l.untrusted && file != "" {
		return readInside(path, filepath.Dir(file))
	}
	return read(path)
}

// Environ returns the variables of a worker as KEY=VALUE: those of its files, where later
// files win, overridden by those of its table. The files are read now. Problems hold no
// values.
func (l *Loaded) Environ(name string) ([]string, Problems) {
	w := l.Config.Workers[name]
	values := map[string]string{}
	var problems Problems
	for _, path := range w.EnvFiles {
		key := WorkerKey(name, "env_file")
		content, err := l.readOf(l.Origins[key].File, path)
		if err != nil {
			text := path + ": " + err.Error()
			if errors.Is(err, fs.ErrNotExist) {
				text = "no such file: " + path
			}
			problems = append(problems, Problem{At: l.Origins[key], Key: key, Text: text})
			continue
		}
		variables, wrong := parseDotenv(path, string(content))
		for _, entry := range variables {
			key, value, _ := strings.Cut(entry, "=")
			values[key] = value
		}
		if wrong != nil && l.concealed == l.Origins[key].File {
			wrong = Problems{{At: l.Origins[key], Key: key}} // the path is a value too
		}
		problems = append(problems, wrong...)
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
