package swarm

import (
	"strconv"
	"strings"
	"unicode/utf8"
)

// CheckUTF8 returns an [ErrInvalidSpec] if the command, the directory or the environment of the
// worker is not UTF-8. A backend calls it whose engine takes JSON or another text: the engine
// would run another command than the one that was asked for. env is the environment that the
// engine is given. The error names a variable without its value.
func (s Spec) CheckUTF8(engine string, env []string) error {
	refuse := func(what string) error {
		return &specError{what + " is not UTF-8, and " + engine + " takes nothing else; use a backend of this machine, or a script that holds it"}
	}
	for i, arg := range s.Command {
		if !utf8.ValidString(arg) && i == 0 {
			return refuse("the command " + strconv.Quote(arg))
		}
		if !utf8.ValidString(arg) {
			return refuse("the argument " + strconv.Quote(arg))
		}
	}
	if !utf8.ValidString(s.Dir) {
		return refuse("the working directory " + strconv.Quote(s.Dir))
	}
	for _, kv := range env {
		if name, _, _ := strings.Cut(kv, "="); !utf8.ValidString(kv) {
			return refuse("the value or the name of the variable " + strconv.Quote(name))
		}
	}
	return nil
}
