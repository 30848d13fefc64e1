/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A function with debug information (DWARF 4) that no compiler makes.  With
 *	RANGES	all entries have the same long list of ranges, which are empty
 *	WIDE	entries that have others in them do not say where these end
 *	UNITS	there are many units, and all have the same abbreviations, of which there are as many
 *	NAME	all entries have the same name, which is longer than any that is kept
 *	ENDLESS	the last one's name has no end
 *	SIZE	a section that has little, and says that it has so much when it is not compressed;
 *		its name is to begin with z, which linkers would look at
 */
	.text
	.globl code
	.type code, @function
code:	.fill 64, 1, 0x90
	.size code, . - code
	.section .note.GNU-stack

	/* number, tag, has it others, attributes */
	.section .debug_abbrev
	.byte 1, 0x11, 1, 0x11, 0x01, 0, 0
#ifdef RANGES
	.byte 2, 0x1d, 0, 0x03, 0x08, 0x55, 0x17, 0, 0
#elif defined(NAME)
	.byte 2, 0x1d, 0, 0x03, 0x0e, 0x11, 0x01, 0x12, 0x07, 0, 0
#else
	.byte 2, 0x1d, 0, 0x11, 0x01, 0x12, 0x07, 0x03, 0x08, 0, 0
#endif
	.byte 3, 0x0b, 1, 0, 0
	.byte 4, 0x0b, 0, 0, 0
#ifdef UNITS
	.set number, 16
	.rept UNITS
	.uleb128 number
	.byte 0x0b, 0, 0, 0
	.set number, number + 1
	.endr
#endif
	.byte 0

	.section .debug_info
	.long end - begin
begin:	.short 4
	.long 0
	.byte 8
	.byte 1
	.quad 0
#ifdef RANGES
	.rept RANGES
	.byte 2, 'x', 0
	.long 0
	.endr
#elif defined(WIDE)
	.fill 100, 1, 3
	.fill WIDE, 1, 4
	.fill 100, 1, 0
#elif defined(NAME)
	.rept NAME
	.byte 2
	.long 0
	.quad code, 8
	.endr
#else
	.byte 2
	.quad code, 8
	.ascii "name"
#endif
#ifndef ENDLESS
	.byte 0, 0
#endif
end:
#ifdef UNITS
	.rept UNITS		/* each is an entry, with the last of the abbreviations */
	.long 2f - 1f
1:	.short 4
	.long 0
	.byte 8
	.uleb128 UNITS + 15
2:
	.endr
#endif

#ifdef RANGES
	.section .debug_ranges
	.rept RANGES
	.quad 64, 64
	.endr
	.quad 0, 0
#endif
#ifdef NAME
	.section .debug_str
	.fill 4500, 1, 'n'
	.byte 0
#endif
#ifdef SIZE
	.section .xdebug_str
	.ascii "ZLIB"
	.byte SIZE, 0, 0, 0, 0, 0, 0, 0
	.ascii "no more than this"
#endif
