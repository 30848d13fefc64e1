/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * modify: instructions that read what they may write, each with its references
 * to the region at BASE beside it, as the processor's manuals and
 * docs/references.md have them:
 *
 *	a comment of `r` (read) and `w` (write) with a length, each followed by the
 *	offset in BASE; an instruction with no such comment refers to none of it.
 *
 * The case `modify` reads these comments and looks for just this in the trace.
 * Above all no write is there that was not made: the page at 5000 is never
 * written to, nor is that at 8000, but the processor makes sure that it could.
 *
 * usage: modify, by root (it reads ports).  Exit status 0, or 1 when the kernel
 * refused something.
 */
#include "region.h"

#define PORT8	0x80
#define PORT16	0x500
#define PORT32	0xcf8

#define SYS_iopl		172

	.globl _start
	.text
_start:
	make_region
	movl	$3, %edi
	movl	$SYS_iopl, %eax
	syscall
	testq	%rax, %rax
	jnz	refused
	movq	%rsp, own_stack(%rip)
	movl	$BASE, %ebx

	/* Nothing of these pages faults any more. */
	movb	$0x55, 0x0000(%rbx)	/* w1 0000 */
	movb	$0x55, 0x1000(%rbx)	/* w1 1000 */
	movb	$0x55, 0x2000(%rbx)	/* w1 2000 */
	movb	$0x55, 0x4000(%rbx)	/* w1 4000 */
	movb	0x5000(%rbx), %al	/* r1 5000 */
	movb	$0x55, 0x6000(%rbx)	/* w1 6000 */
	movb	$0x55, 0x9000(%rbx)	/* w1 9000 */

	/* What reads and writes, on one page and across two. */
	incb	0x010(%rbx)		/* r1 0010 w1 0010 */
	decw	0x010(%rbx)		/* r2 0010 w2 0010 */
	negl	0x010(%rbx)		/* r4 0010 w4 0010 */
	notq	0x010(%rbx)		/* r8 0010 w8 0010 */
	addl	$1, 0x010(%rbx)		/* r4 0010 w4 0010 */
	lock addl $1, 0x010(%rbx)	/* r4 0010 w4 0010 */
	orl	$0, 0x010(%rbx)		/* r4 0010 w4 0010 */
	xchgl	%eax, 0x010(%rbx)	/* r4 0010 w4 0010 */
	incw	0xfff(%rbx)		/* r1 0fff r1 1000 w1 0fff w1 1000 */
	addl	$1, 0xffd(%rbx)		/* r3 0ffd r1 1000 w3 0ffd w1 1000 */
	addq	$1, 0xffd(%rbx)		/* r3 0ffd r5 1000 w3 0ffd w5 1000 */
	lock addq $1, 0xffd(%rbx)	/* r3 0ffd r5 1000 w3 0ffd w5 1000 */
	cmpl	$1, 0x010(%rbx)		/* r4 0010 */
	testl	$1, 0x010(%rbx)		/* r4 0010 */

	/* Shifts and rotations by nothing read. */
	xorl	%ecx, %ecx
	rolb	%cl, 0x020(%rbx)	/* r1 0020 */
	rolw	%cl, 0x020(%rbx)	/* r2 0020 */
	roll	%cl, 0x020(%rbx)	/* r4 0020 */
	rolq	%cl, 0x020(%rbx)	/* r8 0020 */
	rorb	%cl, 0x020(%rbx)	/* r1 0020 */
	rorw	%cl, 0x020(%rbx)	/* r2 0020 */
	rorl	%cl, 0x020(%rbx)	/* r4 0020 */
	rorq	%cl, 0x020(%rbx)	/* r8 0020 */
	rclb	%cl, 0x020(%rbx)	/* r1 0020 */
	rclw	%cl, 0x020(%rbx)	/* r2 0020 */
	rcll	%cl, 0x020(%rbx)	/* r4 0020 */
	rclq	%cl, 0x020(%rbx)	/* r8 0020 */
	rcrb	%cl, 0x020(%rbx)	/* r1 0020 */
	rcrw	%cl, 0x020(%rbx)	/* r2 0020 */
	rcrl	%cl, 0x020(%rbx)	/* r4 0020 */
	rcrq	%cl, 0x020(%rbx)	/* r8 0020 */
	shlb	%cl, 0x020(%rbx)	/* r1 0020 */
	shlw	%cl, 0x020(%rbx)	/* r2 0020 */
	shll	%cl, 0x020(%rbx)	/* r4 0020 */
	shlq	%cl, 0x020(%rbx)	/* r8 0020 */
	shrb	%cl, 0x020(%rbx)	/* r1 0020 */
	shrw	%cl, 0x020(%rbx)	/* r2 0020 */
	shrl	%cl, 0x020(%rbx)	/* r4 0020 */
	shrq	%cl, 0x020(%rbx)	/* r8 0020 */
	sarb	%cl, 0x020(%rbx)	/* r1 0020 */
	sarw	%cl, 0x020(%rbx)	/* r2 0020 */
	sarl	%cl, 0x020(%rbx)	/* r4 0020 */
	sarq	%cl, 0x020(%rbx)	/* r8 0020 */
	shldw	%cl, %ax, 0x020(%rbx)	/* r2 0020 */
	shldl	%cl, %eax, 0x020(%rbx)	/* r4 0020 */
	shldq	%cl, %rax, 0x020(%rbx)	/* r8 0020 */
	shrdw	%cl, %ax, 0x020(%rbx)	/* r2 0020 */
	shrdl	%cl, %eax, 0x020(%rbx)	/* r4 0020 */
	shrdq	%cl, %rax, 0x020(%rbx)	/* r8 0020 */
	shlq	%cl, 0xffd(%rbx)	/* r3 0ffd r5 1000 */
	shll	%cl, 0x5010(%rbx)	/* r4 5010 */
	shll	$0, 0x5010(%rbx)	/* r4 5010 */
	shldl	$0, %eax, 0x5010(%rbx)	/* r4 5010 */
	sarq	%cl, 0x5ffc(%rbx)	/* r4 5ffc r4 6000 */
	/* The count is taken modulo 32 or 64, and a rotation ends where it began. */
	movl	$32, %ecx
	shll	%cl, 0x020(%rbx)	/* r4 0020 */
	shlq	%cl, 0x020(%rbx)	/* r8 0020 w8 0020 */
	rolb	$8, 0x020(%rbx)		/* r1 0020 */
	rorw	$16, 0x020(%rbx)	/* r2 0020 */
	rclb	$9, 0x020(%rbx)		/* r1 0020 */
	rcrw	$17, 0x020(%rbx)	/* r2 0020 */
	rclw	$9, 0x020(%rbx)		/* r2 0020 w2 0020 */
	shlb	$8, 0x020(%rbx)		/* r1 0020 w1 0020 */

	movl	$3, %ecx
	rolb	%cl, 0x020(%rbx)	/* r1 0020 w1 0020 */
	rolw	%cl, 0x020(%rbx)	/* r2 0020 w2 0020 */
	roll	%cl, 0x020(%rbx)	/* r4 0020 w4 0020 */
	rolq	%cl, 0x020(%rbx)	/* r8 0020 w8 0020 */
	rorb	%cl, 0x020(%rbx)	/* r1 0020 w1 0020 */
	rorw	%cl, 0x020(%rbx)	/* r2 0020 w2 0020 */
	rorl	%cl, 0x020(%rbx)	/* r4 0020 w4 0020 */
	rorq	%cl, 0x020(%rbx)	/* r8 0020 w8 0020 */
	rclb	%cl, 0x020(%rbx)	/* r1 0020 w1 0020 */
	rclw	%cl, 0x020(%rbx)	/* r2 0020 w2 0020 */
	rcll	%cl, 0x020(%rbx)	/* r4 0020 w4 0020 */
	rclq	%cl, 0x020(%rbx)	/* r8 0020 w8 0020 */
	rcrb	%cl, 0x020(%rbx)	/* r1 0020 w1 0020 */
	rcrw	%cl, 0x020(%rbx)	/* r2 0020 w2 0020 */
	rcrl	%cl, 0x020(%rbx)	/* r4 0020 w4 0020 */
	rcrq	%cl, 0x020(%rbx)	/* r8 0020 w8 0020 */
	shlb	%cl, 0x020(%rbx)	/* r1 0020 w1 0020 */
	shlw	%cl, 0x020(%rbx)	/* r2 0020 w2 0020 */
	shll	%cl, 0x020(%rbx)	/* r4 0020 w4 0020 */
	shlq	%cl, 0x020(%rbx)	/* r8 0020 w8 0020 */
	shrb	%cl, 0x020(%rbx)	/* r1 0020 w1 0020 */
	shrw	%cl, 0x020(%rbx)	/* r2 0020 w2 0020 */
	shrl	%cl, 0x020(%rbx)	/* r4 0020 w4 0020 */
	shrq	%cl, 0x020(%rbx)	/* r8 0020 w8 0020 */
	sarb	%cl, 0x020(%rbx)	/* r1 0020 w1 0020 */
	sarw	%cl, 0x020(%rbx)	/* r2 0020 w2 0020 */
	sarl	%cl, 0x020(%rbx)	/* r4 0020 w4 0020 */
	sarq	%cl, 0x020(%rbx)	/* r8 0020 w8 0020 */
	shldw	%cl, %ax, 0x020(%rbx)	/* r2 0020 w2 0020 */
	shldl	%cl, %eax, 0x020(%rbx)	/* r4 0020 w4 0020 */
	shldq	%cl, %rax, 0x020(%rbx)	/* r8 0020 w8 0020 */
	shrdw	%cl, %ax, 0x020(%rbx)	/* r2 0020 w2 0020 */
	shrdl	%cl, %eax, 0x020(%rbx)	/* r4 0020 w4 0020 */
	shrdq	%cl, %rax, 0x020(%rbx)	/* r8 0020 w8 0020 */
	shlq	%cl, 0xffd(%rbx)	/* r3 0ffd r5 1000 w3 0ffd w5 1000 */

	/* Bits are written whatever they were; a bit's number can lead elsewhere. */
	btsl	$5, 0x030(%rbx)		/* r4 0030 w4 0030 */
	btsl	$5, 0x030(%rbx)		/* r4 0030 w4 0030 */
	lock btsq $5, 0x030(%rbx)	/* r8 0030 w8 0030 */
	btrw	$5, 0x030(%rbx)		/* r2 0030 w2 0030 */
	btrw	$5, 0x030(%rbx)		/* r2 0030 w2 0030 */
	btcl	$5, 0x030(%rbx)		/* r4 0030 w4 0030 */
	btl	$5, 0x030(%rbx)		/* r4 0030 */
	movl	$35, %eax
	btsl	%eax, 0x030(%rbx)	/* r4 0034 w4 0034 */

	/* CMPXCHG writes back what it found when it is not what it looked for. */
	movq	$0, 0x040(%rbx)		/* w8 0040 */
	movl	$7, %edx
	xorl	%eax, %eax
	cmpxchgb %dl, 0x040(%rbx)	/* r1 0040 w1 0040 */
	cmpxchgb %dl, 0x040(%rbx)	/* r1 0040 w1 0040 */
	cmpxchgw %dx, 0x042(%rbx)	/* r2 0042 w2 0042 */
	cmpxchgw %dx, 0x042(%rbx)	/* r2 0042 w2 0042 */
	xorl	%eax, %eax
	lock cmpxchgl %edx, 0x044(%rbx)	/* r4 0044 w4 0044 */
	cmpxchgl %edx, 0x044(%rbx)	/* r4 0044 w4 0044 */
	xorl	%eax, %eax
	cmpxchgq %rdx, 0x040(%rbx)	/* r8 0040 w8 0040 */
	cmpxchgq %rdx, 0x040(%rbx)	/* r8 0040 w8 0040 */
	xorl	%eax, %eax
	cmpxchgq %rdx, 0xffd(%rbx)	/* r3 0ffd r5 1000 w3 0ffd w5 1000 */
	/* (What these write is rbx, which stays what it is.) */
	movq	$0, 0x050(%rbx)		/* w8 0050 */
	movq	$0, 0x058(%rbx)		/* w8 0058 */
	xorl	%eax, %eax
	xorl	%edx, %edx
	xorl	%ecx, %ecx
	cmpxchg8b 0x050(%rbx)		/* r8 0050 w8 0050 */
	cmpxchg8b 0x050(%rbx)		/* r8 0050 w8 0050 */
	lock cmpxchg8b 0x050(%rbx)	/* r8 0050 w8 0050 */
	cmpxchg16b 0x050(%rbx)		/* r16 0050 w16 0050 */
	incl	%eax
	cmpxchg16b 0x050(%rbx)		/* r16 0050 w16 0050 */
	lock cmpxchg16b 0x050(%rbx)	/* r16 0050 w16 0050 */
	xaddb	%dl, 0x060(%rbx)	/* r1 0060 w1 0060 */
	xaddw	%dx, 0x060(%rbx)	/* r2 0060 w2 0060 */
	xaddl	%edx, 0x060(%rbx)	/* r4 0060 w4 0060 */
	lock xaddq %rdx, 0x060(%rbx)	/* r8 0060 w8 0060 */
	xaddl	%edx, 0xffe(%rbx)	/* r2 0ffe r2 1000 w2 0ffe w2 1000 */

	/* Masked moves merge; a mask of nothing writes nothing. */
	movq	masks(%rip), %mm0
	pxor	%mm1, %mm1		/* nothing */
	movq	masks(%rip), %mm2	/* some */
	pcmpeqb	%mm3, %mm3		/* all */
	pcmpeqb	%mm4, %mm4
	psrlw	$15, %mm4		/* bits that choose nothing */
	leaq	0x070(%rbx), %rdi
	maskmovq %mm1, %mm0		/* r8 0070 */
	maskmovq %mm2, %mm0		/* r8 0070 w8 0070 */
	maskmovq %mm3, %mm0		/* r8 0070 w8 0070 */
	maskmovq %mm4, %mm0		/* r8 0070 w8 0070 */
	leaq	0xffc(%rbx), %rdi
	maskmovq %mm1, %mm0		/* r4 0ffc r4 1000 */
	maskmovq %mm3, %mm0		/* r4 0ffc r4 1000 w4 0ffc w4 1000 */
	leaq	0x5020(%rbx), %rdi
	maskmovq %mm1, %mm0		/* r8 5020 */
	emms
	pxor	%xmm1, %xmm1
	movdqu	masks(%rip), %xmm2
	pcmpeqb	%xmm3, %xmm3
	leaq	0x080(%rbx), %rdi
	maskmovdqu %xmm1, %xmm0		/* r8 0080 r8 0088 */
	maskmovdqu %xmm2, %xmm0		/* r8 0080 r8 0088 w8 0088 w8 0080 */
	maskmovdqu %xmm3, %xmm0		/* r8 0080 r8 0088 w8 0088 w8 0080 */
	leaq	0xff8(%rbx), %rdi
	maskmovdqu %xmm1, %xmm0		/* r8 0ff8 r8 1000 */
	maskmovdqu %xmm3, %xmm0		/* r8 0ff8 r8 1000 w8 1000 w8 0ff8 */
	leaq	0xffc(%rbx), %rdi
	maskmovdqu %xmm2, %xmm0		/* r4 0ffc r4 1000 r8 1004 w8 1004 w4 0ffc w4 1000 */
	leaq	0x5020(%rbx), %rdi
	maskmovdqu %xmm1, %xmm0		/* r8 5020 r8 5028 */

	/* ENTER makes sure that it could write at its last RSP. */
	leaq	0x2800(%rbx), %rsp
	leaq	0x2900(%rbx), %rbp
	enter	$16, $0			/* w8 27f8 */
	leaq	0x2800(%rbx), %rsp
	leaq	0x2900(%rbx), %rbp
	enter	$16, $1			/* w8 27f8 w8 27f0 */
	leaq	0x2800(%rbx), %rsp
	leaq	0x2900(%rbx), %rbp
	enter	$16, $3			/* w8 27f8 r8 28f8 w8 27f0 r8 28f0 w8 27e8 w8 27e0 */
	leaq	0x6010(%rbx), %rsp
	enter	$0x20, $0		/* w8 6008 */
	leaq	0x6014(%rbx), %rsp
	enter	$0x10, $0		/* w8 600c */
	/* Where it could not, all of it is done once more. */
	leaq	0x9010(%rbx), %rsp
	enter	$0x20, $0		/* w8 9008 w8 9008 */
	leaq	0x4010(%rbx), %rsp
	enter	$0x20, $0		/* w8 4008 */
	jmp	refused
segv:	incl	BASE + 0x100		/* r4 0100 w4 0100 */
	movq	own_stack(%rip), %rsp

	/* INS makes sure of it before it asks the port. */
	leaq	0x200(%rbx), %rdi
	movl	$PORT8, %edx
	insb				/* w1 0200 */
	movl	$3, %ecx
	rep insb			/* w1 0201 w1 0202 w1 0203 */
	movl	$PORT32, %edx
	insl				/* w4 0204 */
	movl	$2, %ecx
	rep insl			/* w4 0208 w4 020c */
	movl	$PORT16, %edx
	insw				/* w2 0210 */
	leaq	0xfff(%rbx), %rdi
	insw				/* w1 0fff w1 1000 */
	movl	$PORT8, %edx
	leaq	0x200(%rbx), %rsi
	outsb				/* r1 0200 */
	/* ... with addresses of 32 bits (not INSW, which Bochs cannot) */
	leaq	0x220(%rbx), %rdi
	addr32 insb			/* w1 0220 */
	movl	$PORT32, %edx
	addr32 insl			/* w4 0221 */
	leaq	0xffe(%rbx), %rdi
	addr32 insl			/* w2 0ffe w2 1000 */

	pushq	$0x23			/* the kernel's segment of 32-bit code */
	pushq	$narrow
	lretq
	.code32
narrow:	movl	$0x2b, %eax
	movl	%eax, %ds
	movl	%eax, %es
	movl	%eax, %ss
	movl	$BASE + 0x2800, %esp
	movl	$BASE + 0x2900, %ebp
	enter	$16, $2			/* w4 27fc r4 28fc w4 27f8 w4 27f4 */
	movl	$BASE + 0x2800, %esp
	movl	$BASE + 0x2900, %ebp
	enterw	$16, $2			/* w2 27fe r2 28fe w2 27fc w2 27fa */
	movl	$BASE + 0x6008, %esp
	enter	$0x20, $0		/* w4 6004 */
	/* POPA reads the stack pointer's place, too, and makes nothing of it. */
	movl	$BASE + 0x2700, %esp
	pushal	/* w4 26fc w4 26f8 w4 26f4 w4 26f0 w4 26ec w4 26e8 w4 26e4 w4 26e0 */
	popal	/* r4 26e0 r4 26e4 r4 26e8 r4 26ec r4 26f0 r4 26f4 r4 26f8 r4 26fc */
	pushaw	/* w2 26fe w2 26fc w2 26fa w2 26f8 w2 26f6 w2 26f4 w2 26f2 w2 26f0 */
	popaw	/* r2 26f0 r2 26f2 r2 26f4 r2 26f6 r2 26f8 r2 26fa r2 26fc r2 26fe */
	/* ARPL writes when it has something to raise. */
	movw	$0, 0x300(%ebx)		/* w2 0300 */
	movl	$3, %eax
	arpl	%ax, 0x300(%ebx)	/* r2 0300 w2 0300 */
	arpl	%ax, 0x300(%ebx)	/* r2 0300 */
	leal	0x310(%ebx), %edi
	movl	$PORT8, %edx
	insb				/* w1 0310 */
	movl	$2, %ecx
	rep insb			/* w1 0311 w1 0312 */
	movl	$PORT16, %edx
	insw				/* w2 0313 */
	movl	$2, %ecx
	rep insw			/* w2 0315 w2 0317 */
	movl	$PORT32, %edx
	insl				/* w4 0319 */
	leal	0xfff(%ebx), %edi
	insl				/* w1 0fff w3 1000 */
	ljmp	$0x33, $wide
	.code64
wide:	movq	own_stack(%rip), %rsp

	leave_region

	.section .rodata
masks:	.quad	0x8000008000ff0000, 0x00000000000000ff

	region_data
own_stack:
	.skip	8

	.section .note.GNU-stack, "", @progbits
