// Package screen turns the output of programs on terminals into text: the text that a
// person would have seen, from a grid of cells with a cursor, not from a stream with its
// sequences removed. The host, cmd/swarm and plugins import it. It
// imports only shared/sgr of swarm.
//
// A [Screen] takes bytes and reports lines. It works as a terminal: it overwrites, erases,
// inserts, scrolls, wraps and moves text, and `finished^[[26Gnow.` is "finished", blanks up
// to column 26, "now.".
//
// # When a line is finished
//
// A line leaves the screen as text when the program can't change it any more, or seems not
// to:
//
//   - A line that scrolls off the top is finished, on the alternate screen too.
//   - A program that writes line after line, and never moves the cursor up, has
//     finished a line when the cursor leaves it: at the newline. All output of
//     programs that are not on a terminal is of this kind.
//   - A program that has moved the cursor up by n lines may do so again. Its lines are
//     finished when there are more than n below them, until it has written a whole
//     screen of lines without going back. This is the rule of a live screen
//     ([Screen.Live]), which is for readers that follow the output. If a line is changed
//     after all that was reported before, it is reported again.
//   - If all output is available, waiting costs nothing: a screen that is not live keeps
//     all lines of a program on a terminal until they scroll off the top, so each is
//     reported once, in its last state. A program counts as one on a terminal if the
//     size is known, if it writes CR LF, or if it moves the cursor.
//   - Erasing the whole screen finishes the lines on it, as in the history of tmux. On
//     the alternate screen it only begins the next picture; the last picture is
//     finished when the program leaves that screen.
//
// A line that is longer than 4 KiB is reported in pieces, which the program can't change any
// more. Sequences and control characters are never part of a line; tabs, and bytes that are
// not UTF-8, are unchanged.
//
// # The size of the terminal
//
// Without a known width no line wraps, which is right for programs that move the cursor by
// less than a line. With one, lines that the terminal wrapped are joined again.
// Without a known height the screen has [DefaultRows] rows, and more as soon as the
// program moves the cursor to one of them.
package screen
