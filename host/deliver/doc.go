// Package deliver types text at the prompt of a coding agent and proves on its screen
// that the agent took it.
//
// It is imported by host, for workers, and by host/ralph, for the agent of a loop. It
// knows nothing of either: an [Agent] is a terminal and a profile.
//
// # A screen proves nothing
//
// A screen is text that the worker wrote. It can prevent typing, and it decides whether a
// text counts as submitted; it never chooses the text or the place. A dialog is answered
// only by [Agent.Answer], with the choice of a person.
//
// # Nothing is typed twice
//
// A text is given once, without Enter. Enter is an input of its own, after another look
// at the screen, so that a dialog which has appeared in between is not granted. If this
// process dies in between, the text is at the prompt and was not submitted; the next
// delivery of the same text finds it there and only presses Enter. [Agent.Submit] only presses
// Enter, and never types.
package deliver
