// Package team is the rules of teams: who may do what, which status an agent has
// after what happened, whose a colour or a task is, what the leader is told.
//
// # Vocabulary
//
// A team has one leader and any number of agents. The members are the leader, who
// is always called [Leader], and the agents that are not terminated. The leader is
// whoever lives in the team's leader worker or, without one, a person; an agent of
// the role leader has the same rights. A message is to one member, a task is one
// member's or nobody's.
//
// # How an agent lives
//
// [Join] enters it as spawning, in the transaction that enters the record of its
// worker, and [Activate] makes it active in the one that says that the worker
// runs. [Beat] and [Touch] take note of its signs of life, [Sweep] of their
// absence, [Ended] of the end of its worker. It can be asked to end with [Ask],
// and answers with [Approve] or [Reject]. [Release] is its end, of which there is
// one: whoever comes second gets a [TerminatedError].
//
// # Transactions
//
// All functions work on a transaction that they are given, and those that change
// something leave it to the caller to commit it. Nothing here has a clock, chance
// or processes: times, ids and facts about processes are arguments. A function
// that takes a [Caller] checks its rights, all of which are in one file.
//
// Errors are said to users and to models as they are; those that have a type here
// can be told apart with [errors.As] and [errors.Is].
//
// The package is imported by host and by what builds on it: host/agent, host/tool.
// It imports host/registry and must not import host.
package team
