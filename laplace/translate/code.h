/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Code by its physical addresses, as events report it; what of it has to be reported, for whoever makes a trace and
 * sees what the processor decodes; and what is known as events, for a reader that begins in the middle.  See
 * <laplace/code.h>.
 */
#ifndef LAPLACE_TRANSLATE_CODE_H
#define LAPLACE_TRANSLATE_CODE_H

#include <laplace/code.h>
#include <laplace/kernel_trace_record.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The map of translations that fetches are found by, for what else is to be looked up there. */
struct lpl_translations;
struct lpl_translations *lpl_code_translations(struct lpl_code *code);

struct lpl_blocks;
enum lpl_error lpl_blocks_open(struct lpl_blocks **blocks, struct lpl_report *report);
void lpl_blocks_close(struct lpl_blocks *blocks);	/* NULL is fine */
enum lpl_error lpl_blocks_follow(struct lpl_blocks *blocks, const struct lpl_event *event,
				 struct lpl_report *report);

/* `length` bytes from a physical address; how the first was decoded (16, 32, 64), 0: not all are known. */
unsigned int lpl_blocks_read(const struct lpl_blocks *blocks, uint64_t address, unsigned int length,
			     uint8_t *bytes);

/*
 * The processor decodes, with so many bits, these bytes at this physical address: 1 to LPL_CODE_BYTES, all in
 * one page.  *news: that has to be reported, by `record`, all of which but the task is filled; the map has
 * it already.
 */
enum lpl_error lpl_blocks_note(struct lpl_blocks *blocks, uint64_t address, unsigned int length, unsigned int bits,
			       const uint8_t *bytes, struct kernel_trace_record *record, bool *news,
			       struct lpl_report *report);

/* As many blocks as one trace of instructions can have, and two that are looked up: more than are noted at a time. */
#define LPL_CODE_DECODED	16

/* There may be no room for so many more: all are to be forgotten, and `record` says that. */
bool lpl_blocks_full(const struct lpl_blocks *blocks);
void lpl_blocks_forget(struct lpl_blocks *blocks, struct kernel_trace_record *record);

/* Send `sink` events for all that is known; a map that follows these is the same. */
enum lpl_error lpl_blocks_send(const struct lpl_blocks *blocks, struct lpl_sink *sink, struct lpl_report *report);

#ifdef __cplusplus
}
#endif

#endif
