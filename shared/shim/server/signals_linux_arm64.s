#include "textflag.h"

// The kernel calls it with the number of the signal in R0, on a stack for handlers. It may change
// any register but the link register: the kernel restores all of them.
TEXT ·onSignal(SB), NOSPLIT|NOFRAME, $0
	SUB  $16, RSP
	MOVW R0, 8(RSP)
	MOVW ·signalPipe(SB), R0
	ADD  $8, RSP, R1
	MOVD $4, R2
	MOVD $64, R8 // write
	SVC
	ADD  $16, RSP
	RET

TEXT ·onReturn(SB), NOSPLIT|NOFRAME, $0
	MOVD $139, R8 // rt_sigreturn
	SVC
	BRK  $1 // it does not return

DATA ·onSignalPC(SB)/8, $·onSignal(SB)
GLOBL ·onSignalPC(SB), NOPTR, $8
DATA ·onReturnPC(SB)/8, $·onReturn(SB)
GLOBL ·onReturnPC(SB), NOPTR, $8
