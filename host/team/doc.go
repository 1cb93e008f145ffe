// Package team holds the rules of teams: rights, the status of an agent after each event,
// the owners of colours and tasks, and the messages to the leader.
//
// # Vocabulary
//
// A team has one leader and any number of agents. The members are the leader, who is always
// called [Leader], and the agents that are not terminated. The leader is every process in
// the team's leader worker or, without one, a person; an agent with the role leader has the
// same rights. A message has one recipient, a task at most one owner.
//
// # The life of an agent
//
// [Join] enters it as spawning, in the transaction that enters the record of its worker,
// and [Activate] makes it active in the one that says that the worker runs. [Beat] and
// [Touch] record its signs of life, [Sweep] their absence, [Ended] the end of its worker.
// [Ask] asks it to end, and it answers with [Approve] or [Reject]. [Release] is its end and
// happens once: a second caller gets a [TerminatedError].
//
// # Transactions
//
// All functions work on a transaction that they are given, and those that change something
// leave it to the caller to commit it. Nothing here uses a clock, random numbers or
// processes: times, ids and facts about processes are arguments. A function that takes a
// [Caller] checks its rights, all of which are in one file.
//
// Errors are shown to users and to models unchanged; those with a type here can be found
// with [errors.As] and [errors.Is].
//
// The package is imported by host and by what builds on it: host/agent, host/tool.
// It imports host/registry and must not import host.
package team
