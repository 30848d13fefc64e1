/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A boot sector that fills the 32 pages from 10000 on in turns, eight times: page after page with the next
 * word, from 1 on.  Where that is odd, the word at 16 becomes beef.  Then it loops for ever.
 */
	.code16
	.globl _start
_start:
	cli
	cld
	xorw	%bp, %bp
round:
	movw	$0x1000, %bx
	movw	$32, %dx
page:
	incw	%bp
	movw	%bx, %es
	xorw	%di, %di
	movw	%bp, %ax
	movw	$2048, %cx
	rep stosw
	testw	$1, %bp
	jz	next
	movw	$0xbeef, %es:16
next:
	addw	$0x100, %bx
	decw	%dx
	jnz	page
	cmpw	$256, %bp
	jb	round
hang:
	jmp	hang
