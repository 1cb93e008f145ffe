// Package team is "swarm team": teams of agents are made, shown and deleted.
package team
