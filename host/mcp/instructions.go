package mcp

// instructions is what an agent reads once, before it uses a tool.
const instructions = `swarm keeps commands running and ends them for good.

Shells: Bash runs a command and waits for it. For what goes on (servers, watchers,
long builds) use run_in_background: the answer has a task_id at once. BashOutput
returns what that shell wrote since you asked last, tasks lists your shells,
KillShell ends one with everything that it started. Your shells end with this
session. Wait for output by asking BashOutput again now and then, not in a tight
loop.

Teams: spawn-team makes a team that you lead; spawn-agent starts an agent in it.
Give out work with task-create, talk with send-message and read-messages, look at
agents with get-agent-status. kill-agent asks an agent to end: it may finish its work
first, or say no, which you read in your messages; with force it ends at once. Its
unfinished tasks can be claimed again either way.

If you are an agent of a team (SWARM_TEAM is set in your environment): read your
messages before you begin, when a task is done, and while you wait. Take work with
task-claim, say that it is done with task-update (status completed). Send a
heartbeat at least every minute while you work long without a call. Answer a
shutdown_request with respond-shutdown: approve it when your work is in order
(ready:false if you need some time and say so again when done), or say no with a
reason.

Every answer has success; if it is false, error says why and nothing was changed
unless it says so. Resources swarm://workers/NAME are the output of workers as plain
text.
`
