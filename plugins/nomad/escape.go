package nomad

import "strings"

// Nomad reads the command of a task as an HCL template. A dollar that is always an
// expression of its own can't begin one, nor escape the one after it as "$${" does;
// the same goes for a percent sign in front of a brace.
var (
	toHCL   = strings.NewReplacer("$", `${"$"}`, "%{", `${"%"}{`)
	fromHCL = strings.NewReplacer(`${"$"}`, "$", `${"%"}{`, "%{")
)

// metaDollar is a key of the task's meta whose value is a dollar sign. It is in the
// environment before the user's variables.
const metaDollar = "swarm_dollar"

// Nomad replaces each "${name}" with a known name in the values of an environment, once,
// and has no escape for it.
var toEnv = strings.NewReplacer("${", "${NOMAD_META_"+metaDollar+"}{")

func escapeAll(args []string) []string {
	out := make([]string, len(args))
	for i, arg := range args {
		out[i] = toHCL.Replace(arg)
	}
	return out
}
