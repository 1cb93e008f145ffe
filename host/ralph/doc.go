// Package ralph runs an agent again and again with the same prompt: the loop of
// a ralph worker.
//
// # One worker
//
// A ralph worker is one worker whose main process is `swarm ralph run NAME`, that is [Run].
// It gives the agent a terminal of its own, pastes the prompt once the agent is ready,
// watches, and starts the next iteration. So the loop needs no monitor next to the worker:
// it continues when every command has ended, it ends with the worker, and no iteration can
// begin after that.
//
// # State
//
// The file ralph/<name>/state.json under the state directory of swarm holds the settings
// and the progress of the loop, see [Store]. The loop and commands such as `swarm ralph
// pause` both change it, each time by reading it anew under a lock, so that neither
// overwrites the changes of the other. iterations.log next to it is a log for people.
//
// An iteration is open from its start until its outcome is in the state. A killed iteration
// stays open, and the next run of the loop begins with it.
//
// The package is imported by host, which removes the state of killed workers, and
// by cmd/swarm. It imports shared/swarm, shared/shim/..., host/profile, host/deliver,
// host/hookstate, host/judgement, shared/screen and host/ready, and not host.
package ralph
