package ralph

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/swarmhost/swarm/host/profile"
	"github.com/swarmhost/swarm/shared/safefile"
)

// In the arguments of a headless agent, placePrompt stands for the prompt and placeFile for
// the path of a file that holds it.
const (
	placePrompt = "{prompt}"
	placeFile   = "{prompt_file}"
)

// maxArgument is more than Linux takes as one argument.
const maxArgument = 128 << 10

// promptFile is the file in the directory of a loop that placeFile stands for.
const promptFile = "prompt"

// Headless reports whether a command is that of an agent which works on one prompt
// without a screen and ends: the headless form that its profile knows, or one with a
// place for the prompt among its arguments. A profile that is named is the agent's; empty:
// that of the command.
func Headless(profiles *profile.Set, named string, command []string) bool {
	p := profileFor(profiles, named, command)
	return p != nil && p.Headless(command) || holds(command, placePrompt) || holds(command, placeFile)
}

// WithPlace returns the command of a headless agent with a place for the prompt, if it
// lacks the argument that its profile says is the prompt.
func WithPlace(profiles *profile.Set, named string, command []string) []string {
	p := profileFor(profiles, named, command)
	if p == nil || !p.WantsPrompt(command) {
		return command
	}
	return append(slices.Clone(command), placePrompt)
}

// CheckPlaces refuses a command that would run the prompt as the script of a shell.
func CheckPlaces(command []string) error {
	shell := false
	for i, arg := range command {
		if shell && i > 0 && isScript(command[i-1]) && strings.Contains(arg, placePrompt) {
			return errors.New("the prompt would be run as a part of the script: give it as an argument of its own, as in sh -c 'my-agent \"$1\"' sh " + placePrompt)
		}
		shell = shell || slices.Contains([]string{"sh", "bash", "zsh", "dash", "ksh", "fish"}, filepath.Base(arg))
	}
	return nil
}

// CheckFar refuses a command that can't run on another machine.
func CheckFar(command []string) error {
	if holds(command, placeFile) {
		return errors.New("the file of " + placeFile + " is on this machine, and the agent is not: use " + placePrompt + ", or leave it out")
	}
	return nil
}

// isScript reports whether a script follows an option of a shell.
func isScript(option string) bool {
	return strings.HasPrefix(option, "-") && !strings.HasPrefix(option, "--") && strings.HasSuffix(option, "c")
}

func holds(command []string, place string) bool {
	return slices.ContainsFunc(command, func(arg string) bool { return strings.Contains(arg, place) })
}

// headless returns the command of a headless agent with its prompt, and its standard
// input: the prompt, unless the command has a place for it. The caller closes that.
func (l *loop) headless(command []string, prompt []byte) (full []string, stdin *os.File, err error) {
	inArgument, inFile := holds(command, placePrompt), holds(command, placeFile)
	path := filepath.Join(l.Store.Dir(l.Name), promptFile)
	switch {
	case inArgument && bytes.IndexByte(prompt, 0) >= 0:
		return nil, nil, fmt.Errorf("the prompt holds a NUL byte, which an argument can't: use %s, or leave %s out", placeFile, placePrompt)
	case inFile:
		err = safefile.ReplaceCache(path, prompt)
	case !inArgument:
		stdin, err = l.Store.openPrompt(l.Name, prompt)
		return command, stdin, err
	}
	if err != nil {
		return nil, nil, fmt.Errorf("write the prompt: %w", err)
	}
	places := strings.NewReplacer(placeFile, path, placePrompt, string(prompt))
	for _, arg := range command {
		arg = places.Replace(arg)
		if len(arg) >= maxArgument {
			return nil, nil, fmt.Errorf("the prompt has %d bytes, more than an argument can hold: use %s, or leave %s out", len(prompt), placeFile, placePrompt)
		}
		full = append(full, arg)
	}
	stdin, err = os.Open(os.DevNull)
	return full, stdin, err
}

// dropPrompt removes the prompt file, if there is one. The next iteration replaces a file that
// can't be removed.
func (s Store) dropPrompt(name string) { _ = os.Remove(filepath.Join(s.Dir(name), promptFile)) }

// openPrompt returns a file to read that holds the prompt and has no name.
func (s Store) openPrompt(name string, prompt []byte) (*os.File, error) {
	f, err := os.CreateTemp(s.Dir(name), ".prompt-*") // made with mode 0600
	if err != nil {
		return nil, fmt.Errorf("write the prompt: %w", err)
	}
	_, err = f.Write(prompt)
	_, seekErr := f.Seek(0, 0)
	if err = errors.Join(err, seekErr, os.Remove(f.Name())); err != nil {
		return nil, fmt.Errorf("write the prompt: %w", errors.Join(err, f.Close()))
	}
	return f, nil
}

func lastLine(lines []string) string {
	for _, line := range slices.Backward(lines) {
		if text := strings.TrimSpace(line); text != "" {
			return text
		}
	}
	return ""
}
