/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * count-small: a program with user-mode instructions, loads and stores that can
 * be counted by hand, by a single-stepping debugger and by another simulator, and
 * are the same each time: no libc, no input, one system call.
 *
 *	part		times	instructions	loads	stores
 *	start		1	3		0	0
 *	fill loop	1024	4		0	1
 *	between		1	3		0	0
 *	sum loop	1024	4		1	0
 *	between		1	2		0	0
 *	update loop	256	4		1	1
 *	between		1	1		0	0
 *	call loop	128	10		3	3
 *	store, exit	1	4		0	1
 *
 *	instructions 3 + 4096 + 3 + 4096 + 2 + 1024 + 1 + 1280 + 4 = 10509
 *	loads	1024 + 256 + 384 = 1664
 *	stores	1024 + 256 + 384 + 1 = 1665
 *
 * An instruction that reads and writes its operand counts as a load and a
 * store.  The system call's own work is the kernel's and is not counted.
 * Exit status 0 when the sums are right.
 */
	.globl _start
	.text
_start:
	leaq	table(%rip), %rbx
	movl	$1024, %ecx
	xorl	%eax, %eax

fill:	movq	%rax, (%rbx,%rax,8)	/* store */
	incq	%rax
	decl	%ecx
	jnz	fill

	movl	$1024, %ecx
	xorl	%eax, %eax
	xorl	%edx, %edx

sum:	addq	(%rbx,%rax,8), %rdx	/* load; 0 + 1 + ... + 1023 = 523776 */
	incq	%rax
	decl	%ecx
	jnz	sum

	movl	$256, %ecx
	xorl	%eax, %eax

update:	incq	(%rbx,%rax,8)		/* load and store */
	incq	%rax
	decl	%ecx
	jnz	update

	movl	$128, %ecx

calls:	pushq	%rdx			/* store */
	call	step			/* store; in it: push, pop, ret */
	popq	%rdx			/* load */
	subq	$0, %rdx
	nop
	decl	%ecx
	jnz	calls

	movq	%rdx, result(%rip)	/* store */
	leal	-523776(%rdx), %edi
	movl	$60, %eax		/* exit */
	syscall

step:	pushq	%rcx			/* store */
	popq	%rcx			/* load */
	ret				/* load */

	.bss
	.balign	4096
table:	.skip	8192
result:	.skip	8

	.section .note.GNU-stack, "", @progbits
