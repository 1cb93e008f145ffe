package profile

import (
	"path/filepath"
	"slices"
	"strings"

	"github.com/swarmhost/swarm/shared/lazyregexp"
)

// For returns the profile of the agent that a command runs, or nil. It recognizes the agent
// behind env, npx and the like, interpreters and sh -c.
func (s *Set) For(command []string) *Profile {
	if s == nil {
		return nil
	}
	for _, words := range programs(command, 0) {
		for _, src := range s.all {
			if src.match.runs(words) {
				return src.profile()
			}
		}
	}
	return nil
}

// Headless reports whether a command that the profile was found for works on one
// prompt without a screen and ends.
func (p *Profile) Headless(command []string) bool {
	return slices.ContainsFunc(programs(command, 0), func(words []string) bool {
		return p.runs(words) && slices.ContainsFunc(words[1:], func(word string) bool {
			return slices.Contains(p.file.Run.HeadlessFlags, word)
		})
	})
}

// Runs reports whether a process with these arguments runs the agent itself, and not another
// program that starts it.
func (p *Profile) Runs(args []string) bool { return len(args) > 0 && p.runs(args) }

func (p *Profile) runs(words []string) bool { return p.file.Match.runs(words) }

func (m *recognition) runs(words []string) bool {
	if m.Bare && slices.ContainsFunc(words[1:], func(word string) bool {
		return !strings.HasPrefix(word, "-") || strings.HasSuffix(word, "c") && !strings.HasPrefix(word, "--")
	}) {
		return false
	}
	name := words[0]
	if slices.Contains(m.Programs, base(name)) {
		return true
	}
	slashed := filepath.ToSlash(name)
	if slices.ContainsFunc(m.Paths, func(part string) bool { return strings.Contains(slashed, part) }) {
		return true
	}
	return slices.ContainsFunc(m.Packages, func(pkg string) bool {
		return name == pkg || strings.HasPrefix(name, pkg+"@") || strings.Contains(slashed, "/node_modules/"+pkg+"/")
	})
}

func base(path string) string {
	name := filepath.Base(path)
	for _, ending := range []string{".js", ".mjs", ".cjs", ".ts", ".py", ".exe"} {
		name = strings.TrimSuffix(name, ending)
	}
	return strings.TrimPrefix(name, "-") // a login shell
}

// maxDepth bounds how many commands one may run through another.
const maxDepth = 8

// runners start the program that their first operand names; the values are their
// options that take an argument.
var runners = map[string][]string{
	"env": {"-u", "--unset", "-C", "--chdir"}, "exec": {"-a"}, "nohup": nil, "setsid": nil, "command": nil,
	"nice": {"-n"}, "ionice": {"-c", "-n"}, "stdbuf": {"-i", "-o", "-e"}, "sudo": {"-u", "-g"}, "doas": {"-u"},
	"npx": {"-p", "--package"}, "bunx": nil, "uvx": {"--from", "--with", "--python"}, "dotenv": {"-e", "-f"}, "dotenvx": nil,
	"node": {"-r", "--require", "--import", "--loader"}, "bun": nil, "tsx": nil, "deno": nil,
	"python": {"-W", "-X"}, "python3": {"-W", "-X"},
}

// programs returns the programs that a command finally runs, each with its arguments. Only
// a script of a shell can have several.
func programs(command []string, depth int) [][]string {
	for len(command) > 0 && assigns(command[0]) {
		command = command[1:]
	}
	if len(command) == 0 {
		return nil
	}
	itself := [][]string{command}
	if depth == maxDepth {
		return itself
	}
	name := base(command[0])
	switch name {
	case "sh", "bash", "zsh", "dash", "ksh", "fish":
		script, ok := scriptOf(command[1:])
		if !ok {
			return itself
		}
		var all [][]string
		for _, words := range script {
			all = append(all, programs(words, depth+1)...)
		}
		return all
	case "timeout":
		rest := operands(command[1:], []string{"-s", "-k", "--signal", "--kill-after"})
		return programs(rest[min(1, len(rest)):], depth+1)
	case "pnpm", "yarn", "npm", "pipx", "uv":
		rest := operands(command[1:], nil)
		if len(rest) > 1 && slices.Contains([]string{"dlx", "exec", "x", "run", "tool"}, rest[0]) {
			if rest[0] == "tool" {
				rest = rest[1:]
			}
			return programs(operands(rest[1:], nil), depth+1)
		}
		return itself
	}
	takes, isRunner := runners[name]
	if !isRunner {
		return itself
	}
	rest := operands(command[1:], takes)
	if (name == "bun" || name == "deno") && len(rest) > 1 && slices.Contains([]string{"x", "run"}, rest[0]) {
		rest = operands(rest[1:], nil)
	}
	if len(rest) == 0 {
		return itself
	}
	return programs(rest, depth+1)
}

// operands returns the arguments from the first operand on; takes are options that take an
// argument. The module of "python -m module" is an operand.
func operands(args, takes []string) []string {
	for len(args) > 0 {
		switch arg := args[0]; {
		case arg == "--":
			return args[1:]
		case slices.Contains(takes, arg):
			args = args[min(2, len(args)):]
		case strings.HasPrefix(arg, "-") || assigns(arg):
			args = args[1:]
		default:
			return args
		}
	}
	return nil
}

func assigns(word string) bool {
	name, _, ok := strings.Cut(word, "=")
	return ok && name != "" && strings.IndexFunc(name, func(r rune) bool {
		return r != '_' && (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9')
	}) < 0
}

// separator ends a command of a shell's script.
var separator = lazyregexp.New(`\n|;|&&|\|\|?|&`)

// scriptOf returns the commands of the script that a shell was given with -c, as words.
// It only knows the quoting of whole words, which is enough for a program and its flags.
func scriptOf(args []string) ([][]string, bool) {
	i := slices.IndexFunc(args, func(arg string) bool {
		return strings.HasPrefix(arg, "-") && !strings.HasPrefix(arg, "--") && strings.HasSuffix(arg, "c")
	})
	if i < 0 || i+1 >= len(args) {
		return nil, false
	}
	var all [][]string
	for _, command := range separator().Split(args[i+1], -1) {
		words := strings.Fields(command)
		for i, w := range words {
			words[i] = strings.Trim(w, `"'`)
		}
		if len(words) > 0 {
			all = append(all, words)
		}
	}
	return all, true
}

// WithFlags returns a command that the profile was found for with the flags that the
// agent needs, right after its program, and which of them were added. The command
// itself is not changed. missing are the flags that could not be added, since the
// script of a shell runs the agent. A headless agent needs none.
func (p *Profile) WithFlags(command []string) (full, added, missing []string) {
	at, words := p.place(command)
	if len(p.Flags()) == 0 || words == nil || p.Headless(command) {
		return command, nil, nil
	}
	lacks := slices.Clone(p.Flags())
	lacks = slices.DeleteFunc(lacks, func(flag string) bool { return slices.Contains(words[1:], flag) })
	if at < 0 {
		return command, nil, lacks
	}
	return slices.Insert(slices.Clone(command), at+1, lacks...), lacks, nil
}
