package config

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/swarmhost/swarm/shared/lazyregexp"
)

func readText(v any) (string, error) {
	s, ok := v.(string)
	if !ok {
		return "", mismatch("a string", v)
	}
	if strings.ContainsRune(s, 0) {
		return "", errors.New("expected a string without NUL characters")
	}
	return s, nil
}

func readBool(v any) (bool, error) {
	b, ok := v.(bool)
	if !ok {
		return false, mismatch("true or false", v)
	}
	return b, nil
}

// readSignal reads a text or a number. The checks of the loader know which signals there are.
func readSignal(v any) (string, error) {
	if n, ok := v.(int64); ok {
		return strconv.FormatInt(n, 10), nil
	}
	return readText(v)
}

func readTexts(v any) ([]string, error) {
	values, ok := v.([]any)
	if !ok {
		return nil, mismatch("an array of strings", v)
	}
	list := make([]string, len(values))
	for i, v := range values {
		s, err := readText(v)
		if err != nil {
			return nil, fmt.Errorf("element %d: %w", i+1, err)
		}
		list[i] = s
	}
	return list, nil
}

func readDuration(v any) (time.Duration, error) {
	switch v := v.(type) {
	case string:
		return ParseDuration(v)
	case int64:
		return seconds(v)
	default:
		return 0, mismatch(`a duration such as "5s"`, v)
	}
}

// readDelay reads a duration that is not 0.
func readDelay(v any) (time.Duration, error) {
	d, err := readDuration(v)
	if err == nil && d == 0 {
		err = errors.New("expected more than 0")
	}
	return d, err
}

// readRetain reads how long to keep what has ended; a duration becomes one that
// [time.ParseDuration] reads.
func readRetain(v any) (string, error) {
	if s, ok := v.(string); ok && (s == RetainUntilClean || s == RetainNone) {
		return s, nil
	}
	d, err := readDuration(v)
	if err != nil {
		return "", errors.New(`expected "until-clean", "none" or a duration such as "1h"`)
	}
	return FormatDuration(d), nil
}

func readCount(v any) (int, error) {
	n, ok := v.(int64)
	switch {
	case !ok:
		return 0, mismatch("a number", v)
	case n < 1 || n > math.MaxInt32:
		return 0, fmt.Errorf("expected a number from 1, got %d", n)
	}
	return int(n), nil
}

func readRegexp(v any) (string, error) {
	s, err := readText(v)
	switch {
	case err != nil:
		return "", err
	case s == "":
		return "", errors.New("expected a regular expression, got an empty string")
	}
	_, err = regexp.Compile(s)
	return s, err
}

func readSizes(example string, parse func(string) (int64, error)) func(any) (int64, error) {
	return func(v any) (int64, error) {
		switch v := v.(type) {
		case string:
			return parse(v)
		case int64:
			return parse(strconv.FormatInt(v, 10))
		default:
			return 0, mismatch(fmt.Sprintf("a size such as %q", example), v)
		}
	}
}

func readCPUs(v any) (float64, error) {
	switch v := v.(type) {
	case float64:
		return checkCPUs(v)
	case int64:
		return checkCPUs(float64(v))
	default:
		return 0, mismatch("a number of CPUs such as 1.5", v)
	}
}

func readWithin(least, most int64) func(any) (int, error) {
	return func(v any) (int, error) {
		n, ok := v.(int64)
		switch {
		case !ok:
			return 0, mismatch("a number", v)
		case n < least || n > most:
			return 0, fmt.Errorf("expected a number from %d to %d, got %d", least, most, n)
		}
		return int(n), nil
	}
}

func oneOf(values ...string) func(any) (string, error) {
	return func(v any) (string, error) {
		s, ok := v.(string)
		switch {
		case !ok:
			return "", mismatch(quoteWords(values), v)
		case !slices.Contains(values, s):
			return "", fmt.Errorf("expected %s, got %q", quoteWords(values), s)
		}
		return s, nil
	}
}

// anyOf is someOf for a list that may be empty.
func anyOf(words ...string) func(any) ([]string, error) {
	some := someOf(words...)
	return func(v any) ([]string, error) {
		if list, ok := v.([]any); ok && len(list) == 0 {
			return []string{}, nil
		}
		return some(v)
	}
}

// someOf reads a list of these words, each at most once.
func someOf(words ...string) func(any) ([]string, error) {
	one := oneOf(words...)
	return func(v any) ([]string, error) {
		list, err := readTexts(v)
		switch {
		case err != nil:
			return nil, err
		case len(list) == 0:
			return nil, fmt.Errorf("expected at least one of %s", quoteWords(words))
		}
		for i, word := range list {
			if _, err := one(word); err != nil {
				return nil, fmt.Errorf("element %d: %w", i+1, err)
			}
			if slices.Contains(list[:i], word) {
				return nil, fmt.Errorf("element %d: %q is there twice", i+1, word)
			}
		}
		return list, nil
	}
}

func readPlugins(v any) ([]string, error) {
	list, err := readTexts(v)
	if err != nil {
		return nil, err
	}
	for i, name := range list {
		if !validPlugin(name) {
			return nil, fmt.Errorf("element %d: expected a plugin name of lower-case letters, digits and hyphens", i+1)
		}
		if slices.Contains(list[:i], name) {
			return nil, fmt.Errorf("element %d: %q is there twice", i+1, name)
		}
	}
	return list, nil
}

func readHash(v any) (string, error) {
	s, err := readText(v)
	if err != nil {
		return "", err
	}
	s = strings.ToLower(s)
	if len(s) != 64 || strings.Trim(s, "0123456789abcdef") != "" {
		return "", errors.New("expected 64 hexadecimal digits, as sha256sum prints them")
	}
	return s, nil
}

var versionRegexp = lazyregexp.New(versionPattern)

func readVersion(v any) (string, error) {
	if n, ok := v.(float64); ok {
		return "", fmt.Errorf("expected a string, got a float: write \"%v\"", n)
	}
	s, err := readText(v)
	if err != nil {
		return "", err
	}
	if !versionRegexp().MatchString(s) {
		return "", errors.New(`expected a version such as "1.2.0"`)
	}
	return s, nil
}

// keyErrors are the mistakes in a table, which are reported one by one.
type keyErrors map[string]error

func (es keyErrors) Error() string { return fmt.Sprint(map[string]error(es)) }

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

// readKeys reads public keys by the names of sources.
func readKeys(v any) (map[string]string, error) {
	keys, err := readPairs(v)
	if err != nil {
		return nil, err
	}
	wrong := keyErrors{}
	for source, key := range keys {
		if raw, err := base64.StdEncoding.DecodeString(key); err != nil || len(raw) != 42 || string(raw[:2]) != "Ed" {
			wrong[source] = errors.New("expected a public key of minisign, the second line of minisign.pub")
		}
	}
	if len(wrong) > 0 {
		return nil, wrong
	}
	return keys, nil
}

// readPair reads the value of a pair. A float is refused because it may have been
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

func readWorktree(v any) (Workspace, error) {
	use, ok := v.(bool)
	if !ok {
		return Workspace{}, mismatch("true, false or a table", v)
	}
	return Workspace{Use: use}, nil
}

func readWorkspace(v any) (Workspace, error) {
	plugin, ok := v.(string)
	switch {
	case !ok:
		return Workspace{}, mismatch("the name of a workspace plugin or a table", v)
	case !validPlugin(plugin):
		return Workspace{}, errors.New("expected the name of a workspace plugin, such as \"copy\"")
	}
	return Workspace{Use: true, Plugin: plugin}, nil
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

func mismatch(expected string, got any) error {
	return fmt.Errorf("expected %s, got %s", expected, kindOf(got))
}

func kindOf(v any) string {
	switch v.(type) {
	case string:
		return "a string"
	case int64:
		return "an integer"
	case float64:
		return "a float"
	case bool:
		return "a boolean"
	case time.Time:
		return "a date"
	case map[string]any:
		return "a table"
	default:
		return "an array"
	}
}
