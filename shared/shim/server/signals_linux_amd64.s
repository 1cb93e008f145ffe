#include "textflag.h"

// The kernel calls it with the number of the signal in DI, on a stack for handlers. It may change
// any register: the kernel restores all of them.
TEXT ·onSignal(SB), NOSPLIT|NOFRAME, $0
	SUBQ $24, SP
	MOVL DI, 0(SP)
	MOVL ·signalPipe(SB), DI
	MOVQ SP, SI
	MOVL $4, DX
	MOVL $1, AX // write
	SYSCALL
	ADDQ $24, SP
	RET

TEXT ·onReturn(SB), NOSPLIT|NOFRAME, $0
	MOVL $15, AX // rt_sigreturn
	SYSCALL
	INT  $3 // it does not return

DATA ·onSignalPC(SB)/8, $·onSignal(SB)
GLOBL ·onSignalPC(SB), NOPTR, $8
DATA ·onReturnPC(SB)/8, $·onReturn(SB)
GLOBL ·onReturnPC(SB), NOPTR, $8
