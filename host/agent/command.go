package agent

import (
	"slices"
	"strconv"
	"strings"
)

// The placeholders in the command of an agent or a server.
const (
	placePrompt = "{prompt}"
	placeModel  = "{model}"
	placeName   = "{name}"
	placePort   = "{port}"
)

// fill replaces placeholders in a command, each once: the replacement text is not searched
// again. With a port of 0, the placeholder of the port stays.
func fill(command []string, prompt, model, name string, port int) []string {
	pairs := []string{placePrompt, prompt, placeModel, model, placeName, name}
	if port != 0 {
		pairs = append(pairs, placePort, strconv.Itoa(port))
	}
	r := strings.NewReplacer(pairs...)
	filled := make([]string, len(command))
	for i, arg := range command {
		filled[i] = r.Replace(arg)
	}
	return filled
}

// takesPrompt reports whether a command has a place for the prompt.
func takesPrompt(command []string) bool {
	return slices.ContainsFunc(command, func(arg string) bool { return strings.Contains(arg, placePrompt) })
}

// fillPort replaces the port in the command of a server.
func fillPort(command []string, port int) []string {
	filled := make([]string, len(command))
	for i, arg := range command {
		filled[i] = strings.ReplaceAll(arg, placePort, strconv.Itoa(port))
	}
	return filled
}
