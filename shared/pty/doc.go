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
//   - In line mode (ICANON) the kernel holds a line until it is finished and cuts
//     one of more than [MaxLine] bytes. Such a text is refused. Characters that the
//     terminal would act on, such as Ctrl-C, are given behind its "literal next"
//     character.
//   - Otherwise there is no way to make such a character literal, so a text with
//     one is refused; a program in raw mode has none.
//   - A program that asked for bracketed paste gets text in brackets, however short:
//     it is inserted, and not taken for keys. A text that holds the sequence that
//     ends a paste is refused.
//   - Enter comes by itself, a moment after the program has read the text: programs
//     that read both at once take Enter for part of a paste.
//
// [Terminal.PressKeys] presses keys by their names.
package pty
