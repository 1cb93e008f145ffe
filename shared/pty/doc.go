// Package pty runs programs on pseudo-terminals: it opens a terminal and gives input to the
// program on it.
//
// The shim and the ralph loop import it. It links neither net, encoding/json nor
// fmt, because the shim stays in memory as long as its worker lives.
//
// # Input
//
// The line discipline of a terminal changes typed text before the program reads it.
// [Terminal.Give] knows that: it reads the settings of the terminal, and either makes the
// text arrive unchanged or refuses it.
//
//   - In line mode (ICANON) the kernel holds a line until it is finished, and truncates
//     one of more than [MaxLine] bytes. Such a text is refused. Characters that the
//     terminal would act on, such as Ctrl-C, are preceded by its "literal next"
//     character.
//   - In other modes no character can be made literal, so a text with a character that
//     the terminal would act on is refused; in raw mode there is none.
//   - A program that asked for bracketed paste gets text in brackets, however short, so
//     that it inserts the text instead of treating it as keys. A text that contains the
//     sequence that ends a paste is refused.
//   - Enter is pressed separately, a moment after the program has read the text: a
//     program that reads both at once treats Enter as part of a paste.
//
// [Terminal.PressKeys] presses keys by their names.
package pty
