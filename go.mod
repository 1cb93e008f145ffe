module github.com/swarmhost/swarm

go 1.26.0
