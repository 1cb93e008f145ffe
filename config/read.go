package config

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"
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

func readSize(v any) (int64, error) {
	switch v := v.(type) {
	case string:
		return ParseSize(v)
	case int64:
		return ParseSize(strconv.FormatInt(v, 10))
	default:
		return 0, mismatch(`a size such as "64MiB"`, v)
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

func readCommand(v any) ([]string, error) {
	if s, ok := v.(string); ok {
		v = []any{s}
	}
	list, err := readTexts(v)
	if err != nil {
		return nil, err
	}
	if len(list) == 0 || list[0] == "" {
		return nil, errors.New("expected a program")
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

func readTable(v any) (map[string]any, error) {
	t, ok := v.(map[string]any)
	if !ok {
		return nil, mismatch("a table", v)
	}
	if !finite(t) {
		return nil, errors.New("expected numbers that a plugin can be sent, neither nan nor inf")
	}
	return t, nil
}

// finite reports whether JSON can hold v, which is how it gets to the plugin.
func finite(v any) bool {
	switch v := v.(type) {
	case float64:
		return !math.IsNaN(v) && !math.IsInf(v, 0)
	case map[string]any:
		for _, v := range v {
			if !finite(v) {
				return false
			}
		}
	case []map[string]any:
		return !slices.ContainsFunc(v, func(v map[string]any) bool { return !finite(v) })
	case []any:
		return !slices.ContainsFunc(v, func(v any) bool { return !finite(v) })
	}
	return true
}

// mismatch is the error for a value of the wrong type.
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
