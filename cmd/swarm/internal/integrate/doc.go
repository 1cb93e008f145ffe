// Package integrate is "swarm integrate", and what it gives to coding agents: "swarm skill" and
// "swarm hook".
package integrate
