/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The accessors of memory that nearly all references use: where the page is open
 * (hooks.h), they count the reference and make it; everything else is left to
 * Bochs' own accessors, which the patches name checked_*.
 *
 * They take the way that Bochs' own do when the TLB has the page, with less on it:
 * permission and alignment are one mask, kept when the mode changes; the host address
 * is one addition; and what calls anything (the debugger, a page with code that is
 * being traced, a fault) is not in them, so that they need neither a stack frame nor
 * saved registers.  With the debugger no page is ever open.
 *
 * Included once, at the end of Bochs' cpu/access2.cc.
 */
#define LIKELY(x) __builtin_expect(!!(x), 1)

LAPLACE_INLINE bool page_is_open(const bx_TLB_entry *entry, bx_address laddr, Bit32u may)
{
	return LIKELY(entry->lpf == LPFOf(laddr) && (entry->accessBits & may));
}

LAPLACE_INLINE void *host_address(const bx_TLB_entry *entry, bx_address laddr)
{
	return (void *)(entry->hostOffset + laddr);
}

/* No trace of instructions would have to be forgotten. */
LAPLACE_INLINE bool holds_no_code(const bx_TLB_entry *entry)
{
	return LIKELY(!pageWriteStampTable.getFineGranularityMapping(entry->ppf));
}

#define REFERENCE(type, rw) \
	BX_INSTR_LIN_ACCESS(BX_CPU_ID, laddr, 0, sizeof(type), 0, rw)
#define STACK_REFERENCE(type, rw) \
	BX_LAPLACE_LIN_ACCESS_STACK(get_laddr(BX_SEG_REG_SS, offset), sizeof(type), rw)

/* The index of the TLB is that of the last byte: an access that crosses pages misses. */
#define READ(name, type, get) \
type BX_CPP_AttrRegparmN(2) BX_CPU_C::read_linear_##name(unsigned s, bx_address laddr) \
{ \
	bx_TLB_entry *tlbEntry = BX_DTLB_ENTRY_OF(laddr, sizeof(type) - 1); \
\
	if (!page_is_open(tlbEntry, laddr, BX_CPU_THIS_PTR laplace.may_read)) \
		return checked_read_linear_##name(s, laddr); \
	REFERENCE(type, BX_READ); \
	return get((type *)host_address(tlbEntry, laddr)); \
}

#define WRITE(name, type, put) \
void BX_CPP_AttrRegparmN(3) \
BX_CPU_C::write_linear_##name(unsigned s, bx_address laddr, type data) \
{ \
	bx_TLB_entry *tlbEntry = BX_DTLB_ENTRY_OF(laddr, sizeof(type) - 1); \
\
	if (!page_is_open(tlbEntry, laddr, BX_CPU_THIS_PTR laplace.may_write) || \
	    !holds_no_code(tlbEntry)) \
		return checked_write_linear_##name(s, laddr, data); \
	REFERENCE(type, BX_WRITE); \
	put((type *)host_address(tlbEntry, laddr), data); \
}

/* Bochs keeps a host address where it keeps how many pages an access has. */
#define MODIFY(name, type, get, put) \
type BX_CPP_AttrRegparmN(2) BX_CPU_C::read_RMW_linear_##name(unsigned s, bx_address laddr) \
{ \
	bx_TLB_entry *tlbEntry = BX_DTLB_ENTRY_OF(laddr, sizeof(type) - 1); \
\
	if (!page_is_open(tlbEntry, laddr, BX_CPU_THIS_PTR laplace.may_write) || \
	    !holds_no_code(tlbEntry)) \
		return checked_read_RMW_linear_##name(s, laddr); \
	REFERENCE(type, BX_RW); \
	BX_CPU_THIS_PTR address_xlation.pages = (bx_ptr_equiv_t)host_address(tlbEntry, laddr); \
	BX_CPU_THIS_PTR address_xlation.paddress1 = tlbEntry->ppf | PAGE_OFFSET(laddr); \
	return get((type *)host_address(tlbEntry, laddr)); \
} \
\
void BX_CPP_AttrRegparmN(1) BX_CPU_C::write_RMW_linear_##name(type data) \
{ \
	if (!LIKELY(BX_CPU_THIS_PTR address_xlation.pages > 2)) \
		return checked_write_RMW_linear_##name(data); \
	BX_LAPLACE_WRITE_BACK(); \
	put((type *)BX_CPU_THIS_PTR address_xlation.pages, data); \
}

/* Within the stack window, which is closed by being of no size. */
#define STACK(name, type, get, put) \
void BX_CPP_AttrRegparmN(2) BX_CPU_C::stack_write_##name(bx_address offset, type data) \
{ \
	bx_address at = offset + BX_CPU_THIS_PTR espPageBias; \
\
	if (!LIKELY(at < BX_CPU_THIS_PTR espPageWindowSize && \
		    !BX_CPU_THIS_PTR alignment_check_mask && \
		    !BX_CPU_THIS_PTR espPageFineGranularityMapping)) { \
		BX_CPU_THIS_PTR laplace.stack_writes = true; \
		return checked_stack_write_##name(offset, data); \
	} \
	STACK_REFERENCE(type, BX_WRITE); \
	put((type *)(BX_CPU_THIS_PTR espHostPtr + at), data); \
} \
\
type BX_CPP_AttrRegparmN(1) BX_CPU_C::stack_read_##name(bx_address offset) \
{ \
	bx_address at = offset + BX_CPU_THIS_PTR espPageBias; \
\
	if (!LIKELY(at < BX_CPU_THIS_PTR espPageWindowSize && \
		    !BX_CPU_THIS_PTR alignment_check_mask)) { \
		BX_CPU_THIS_PTR laplace.stack_writes = false; \
		return checked_stack_read_##name(offset); \
	} \
	STACK_REFERENCE(type, BX_READ); \
	return get((type *)(BX_CPU_THIS_PTR espHostPtr + at)); \
}

#define GET_BYTE(at)		(*(at))
#define PUT_BYTE(at, data)	(*(at) = (data))

READ(byte, Bit8u, GET_BYTE)
READ(word, Bit16u, ReadHostWordFromLittleEndian)
READ(dword, Bit32u, ReadHostDWordFromLittleEndian)
READ(qword, Bit64u, ReadHostQWordFromLittleEndian)

WRITE(byte, Bit8u, PUT_BYTE)
WRITE(word, Bit16u, WriteHostWordToLittleEndian)
WRITE(dword, Bit32u, WriteHostDWordToLittleEndian)
WRITE(qword, Bit64u, WriteHostQWordToLittleEndian)

MODIFY(byte, Bit8u, GET_BYTE, PUT_BYTE)
MODIFY(word, Bit16u, ReadHostWordFromLittleEndian, WriteHostWordToLittleEndian)
MODIFY(dword, Bit32u, ReadHostDWordFromLittleEndian, WriteHostDWordToLittleEndian)
MODIFY(qword, Bit64u, ReadHostQWordFromLittleEndian, WriteHostQWordToLittleEndian)

STACK(byte, Bit8u, GET_BYTE, PUT_BYTE)
STACK(word, Bit16u, ReadHostWordFromLittleEndian, WriteHostWordToLittleEndian)
STACK(dword, Bit32u, ReadHostDWordFromLittleEndian, WriteHostDWordToLittleEndian)
STACK(qword, Bit64u, ReadHostQWordFromLittleEndian, WriteHostQWordToLittleEndian)

#undef LIKELY
