/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * rewrite: writes code, executes it, and writes other code to the same place, TIMES times.
 *
 * `mov $N, %eax; ret' stands at BASE + 0x100, and once more at CROSSING, whose instruction reaches into the next page,
 * where the upper half of the number is.  N counts up from 1; the other one is N << 16, and of that only
 * the bytes on the second page are ever written again.  The second page is also mapped at ALIAS, by which
 * it is written.  And then it is another page, of which the upper half is OTHER, for one more call: nothing is
 * written then, only mapped.
 *
 * usage: rewrite.  Exit status 0, or 1 when the kernel refused something or a number was another one.
 */
#define BASE		0x30000000
#define CROSSING	(BASE + 0xffd)
#define ALIAS		0x38000000
#define TIMES		200
#define OTHER		0xaa55

#define SYS_mmap		9
#define SYS_exit		60
#define SYS_ftruncate		77
#define SYS_memfd_create	319

	.macro map address size offset
	movl	$\address, %edi
	movl	$\size, %esi
	movl	$7, %edx		/* PROT_READ | PROT_WRITE | PROT_EXEC */
	movl	$0x11, %r10d		/* MAP_SHARED | MAP_FIXED */
	movslq	%r12d, %r8
	movl	$\offset, %r9d
	movl	$SYS_mmap, %eax
	syscall
	cmpq	$\address, %rax
	jne	refused
	.endm

	.macro call_crossing number
	leaq	0xffd(%rbx), %rcx
	call	*%rcx
	movl	\number, %edx
	shll	$16, %edx
	cmpl	%edx, %eax
	jne	refused
	.endm

	.globl _start
	.text
_start:
	leaq	name(%rip), %rdi
	xorl	%esi, %esi
	movl	$SYS_memfd_create, %eax
	syscall
	movl	%eax, %r12d
	movl	%eax, %edi
	movl	$0x3000, %esi
	movl	$SYS_ftruncate, %eax
	syscall
	testq	%rax, %rax
	jnz	refused
	map	BASE, 0x2000, 0
	map	ALIAS, 0x3000, 0

	movl	$BASE, %ebx
	movl	$ALIAS, %ebp
	movb	$0xb8, 0x100(%rbx)
	movb	$0xc3, 0x105(%rbx)
	movb	$0xb8, 0xffd(%rbx)
	movw	$0, 0xffe(%rbx)
	movb	$0xc3, 0x1002(%rbx)
	movw	$OTHER, 0x2000(%rbp)
	movb	$0xc3, 0x2002(%rbp)
	movl	$1, %r13d
again:
	movl	%r13d, 0x101(%rbx)
	leaq	0x100(%rbx), %rcx
	call	*%rcx
	cmpl	%r13d, %eax
	jne	refused
	movw	%r13w, 0x1000(%rbp)
	call_crossing %r13d
	map	BASE + 0x1000, 0x1000, 0x2000
	call_crossing $OTHER
	map	BASE + 0x1000, 0x1000, 0x1000
	incl	%r13d
	cmpl	$TIMES, %r13d
	jbe	again
	xorl	%edi, %edi
	jmp	leave
refused:
	movl	$1, %edi
leave:
	movl	$SYS_exit, %eax
	syscall

name:
	.asciz	"rewrite"
	.section .note.GNU-stack, "", @progbits
