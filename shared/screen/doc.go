// Package screen reads what programs write to terminals as text: the text that a
// person would have seen, from a grid of cells with a cursor, not from a stream whose
// sequences were taken out. It is imported by host, by cmd/swarm and by plugins,
// and imports nothing of ours.
//
// A [Screen] takes bytes and reports lines. Below the lines is a terminal: text is
// overwritten, erased, inserted, scrolled, wrapped and moved as a terminal does it,
// and `finished^[[26Gnow.` is "finished", blanks up to column 26, "now.".
//
// # When a line is finished
//
// A line leaves the screen as text when the program can't change it any more, or does
// not look as if it would:
//
//   - A line that scrolls off the top is finished, on the alternate screen too.
//   - A program that writes line after line, and never moves the cursor up, has
//     finished a line when the cursor leaves it: at the newline. That is all output of
//     programs that are not on a terminal.
//   - A program that has moved the cursor up by n lines is taken to do so again. Its
//     lines are finished when there are more than n below them, until it has written a
//     whole screen of lines without going back. This is the rule of a live screen
//     ([Screen.Live]), which is for readers that follow the output. If a line is changed
//     after all that was reported before, it is reported again.
//   - If all output is there to be read, waiting costs nothing: a screen that is not
//     live keeps all lines of a program on a terminal until they scroll off the top, so
//     each is reported once, in its last state. A program shows that it is on a
//     terminal by a size that is known, by a newline that comes as CR LF, or by moving
//     the cursor.
//   - Erasing all of the screen ends what it showed: those lines are finished, as in
//     the history of tmux. Not on the alternate screen, where it begins the next
//     picture; what the alternate screen showed last is finished when the program
//     leaves it.
//
// A line that is longer than 4 KiB is reported in pieces, and the program can't go back
// to those. Sequences and control characters are never part of a line; tabs, and bytes
// that are not UTF-8, are unchanged.
//
// # The size of the terminal
//
// Without a known width no line wraps, which is right for all that moves the cursor by
// less than a line. With one, lines that the terminal wrapped are put together again.
// Without a known height the screen has [DefaultRows] rows, and more as soon as the
// program moves the cursor to one of them.
package screen
