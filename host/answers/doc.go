// Package answers decides what a person's own rules answer to the question of an agent. It
// is pure: the rules come from the person's configuration, the question from the client's
// own hook or from a dialog whose frame is certain, and the caller gives the answer.
//
// A rule that allows something is read strictly, and one that refuses or asks is read
// generously. So a mistake in either direction leaves the question to a person:
//
//   - In a command pattern of a rule that allows, a star matches neither operators, quotes,
//     variables nor comments of a shell, nor a new line: "git status*" does not match
//     "git status; rm -rf /". The pattern has to match the whole command.
//   - A rule that denies or asks matches as soon as its pattern matches the command or one of
//     the simple commands in it. An unknown part of a question counts as a match.
//   - If several rules match, deny counts before ask, and ask before all others.
package answers
