// Package inside has the verbs that are called from inside a worker: complete, heartbeat, and the
// notifier that swarm itself leaves behind.
package inside
