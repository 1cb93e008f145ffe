package remote

import (
	"encoding/json"
	"fmt"
	"maps"
	"math"

	"github.com/swarmhost/swarm/shared/swarm"
)

// The options of a worker over there.
const (
	// OptionOwner is notified by List: [Start.Owner].
	OptionOwner = "owner"
	// optionStart holds a Start in a Spawn or a Find.
	optionStart = "start"
)

// Start is what the other side says of the start of a worker, in a Spawn and in a Find.
type Start struct {
	// Attempt counts the Spawns of one worker from 1. The message of a Spawn whose connection
	// stalled may arrive when it was given up long ago. A Find that finds no worker gives up the
	// attempts before this one; 0: all.
	Attempt int `json:"attempt,omitempty"`
	// Origin is where the worker was to be started, if that is known.
	Origin Origin `json:"origin,omitzero"`
	// Host is the name by which the caller knows the machine.
	Host string `json:"host,omitempty"`
	// Owner is the id of the state directory that the worker belongs to; empty: none.
	Owner string `json:"owner,omitempty"`
}

// Options returns the options of a worker together with the options of its start.
func (s Start) Options(options map[string]string) (map[string]string, error) {
	data, err := json.Marshal(s)
	if err != nil {
		return nil, err
	}
	all := map[string]string{optionStart: string(data)}
	maps.Copy(all, options)
	return all, nil
}

// startOf returns the start in options; an error if it was meant for another machine.
func (b *Backend) startOf(options map[string]string) (Start, error) {
	var s Start
	text, ok := options[optionStart]
	if !ok {
		return s, nil
	}
	if err := json.Unmarshal([]byte(text), &s); err != nil {
		return s, fmt.Errorf("%w: option %s: %w", swarm.ErrInvalidSpec, optionStart, err)
	}
	if s.Origin == (Origin{}) {
		return s, nil
	}
	return s, b.isHere(s.Origin, s.Host)
}

// before returns the last attempt before this one.
func (s Start) before() int {
	if s.Attempt == 0 {
		return math.MaxInt
	}
	return s.Attempt - 1
}

// ofWorker returns the options that are the worker's own.
func ofWorker(options map[string]string) map[string]string {
	own := make(map[string]string)
	maps.Copy(own, options)
	delete(own, optionStart)
	return own
}
