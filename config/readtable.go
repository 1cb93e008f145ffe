package config

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

type keyErrors map[string]error

func (es keyErrors) Error() string {
	lines := make([]string, 0, len(es))
	for _, name := range sortedKeys(es) {
		lines = append(lines, bare(name)+": "+es[name].Error())
	}
	return strings.Join(lines, "; ")
}

func readPairs(v any) (map[string]string, error) {
	t, ok := v.(map[string]any)
	if !ok {
		return nil, mismatch("a table", v)
	}
	pairs := make(map[string]string, len(t))
	wrong := keyErrors{}
	for name, v := range t {
		value, err := readPair(name, v)
		if err != nil {
			wrong[name] = err
		}
		pairs[name] = value
	}
	if len(wrong) > 0 {
		return nil, wrong
	}
	return pairs, nil
}

// readPair reads one of them. A float is refused because it may have been
// written in other digits than it would be passed on in.
func readPair(name string, v any) (string, error) {
	if name == "" || strings.ContainsAny(name, "=\x00") {
		return "", errors.New("expected a name without '=' and NUL characters")
	}
	switch v := v.(type) {
	case int64:
		return strconv.FormatInt(v, 10), nil
	case bool:
		return strconv.FormatBool(v), nil
	default:
		return readText(v)
	}
}

func readProgram(v any) ([]string, error) {
	if s, ok := v.(string); ok {
		v = []any{s}
	}
	return readArgv(v)
}

// readCommand reads a list only: how a string is to be taken apart is not for
// swarm to guess.
func readCommand(v any) ([]string, error) {
	if s, ok := v.(string); ok {
		return nil, fmt.Errorf("expected an array of strings, got a string: write %s", inlineList(suggested(s)))
	}
	return readArgv(v)
}

// suggested returns the array that was probably meant by a command line.
func suggested(line string) []string {
	if strings.ContainsAny(line, "\"'\\$`|&;<>(){}*?~#\n") {
		return []string{"sh", "-c", line}
	}
	return strings.Fields(line)
}

func readArgv(v any) ([]string, error) {
	list, err := readTexts(v)
	if err != nil {
		return nil, err
	}
	if len(list) == 0 || list[0] == "" {
		return nil, errors.New("expected a program")
	}
	return list, nil
}

func readPaths(v any) ([]string, error) {
	if s, ok := v.(string); ok {
		v = []any{s}
	}
	list, err := readTexts(v)
	if err == nil && slices.Contains(list, "") {
		err = errors.New("expected a path, got an empty string")
	}
	return list, err
}

func readWorktree(v any) (Worktree, error) {
	use, ok := v.(bool)
	if !ok {
		return Worktree{}, mismatch("true, false or a table", v)
	}
	return Worktree{Use: use}, nil
}

func readReady(v any) (Ready, error) {
	switch v := v.(type) {
	case bool:
		return Ready{Wait: v}, nil
	case string:
		pattern, err := readRegexp(v)
		return Ready{Wait: true, Pattern: pattern}, err
	default:
		return Ready{}, mismatch("true, false, a regular expression or a table", v)
	}
}

func readTable(v any) (map[string]any, error) {
	t, ok := v.(map[string]any)
	if !ok {
		return nil, mismatch("a table", v)
	}
	if _, err := json.Marshal(t); err != nil { // the plugin gets it as JSON
		return nil, errors.New("expected numbers that a plugin can be sent, neither nan nor inf")
	}
	return t, nil
}
