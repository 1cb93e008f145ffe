// Command swarm-top shows workers in a terminal, full screen. `swarm top` becomes it.
//
// It is a program of its own, so that no other call of swarm has to prepare the screen.
package main

import "os"

func main() { os.Exit(run(os.Args[1:], os.Stdin, os.Stdout, os.Stderr, os.Environ())) }
