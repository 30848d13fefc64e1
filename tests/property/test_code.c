/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The bytes of instructions, as a trace has them (docs/format.md, section 15), against that text and a memory
 * that is kept byte by byte:
 *
 * - a reader has of whatever was noted what the memory held then, and nothing that was never reported;
 * - a map that begins with what another one sends is the same;
 * - a fetch finds its instruction by the page's frame, also one that crosses pages;
 * - what cannot be is damage.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include <laplace/translation.h>

#include "oracle.h"
#include "translate/code.h"

enum { PAGE = 4096, PAGES = 3, MEMORY = PAGES * PAGE, NEWS = 2000 };
static const uint64_t BASE = UINT64_C(0x7fffffff0000);

static struct lpl_blocks *new_map(void)
{
	struct lpl_blocks *blocks;

	assert_int_equal(lpl_blocks_open(&blocks, NULL), LPL_OK);
	return blocks;
}

static struct lpl_event code_event(uint64_t address, uint64_t bits, unsigned int length, uint8_t byte)
{
	struct lpl_event event = { .tag = LPL_EVENT_CODE, .text_length = length };

	event.arg[LPL_EVENT_CODE_ADDRESS] = address;
	event.arg[LPL_EVENT_CODE_BITS] = bits;
	memset(event.text, byte, length);
	return event;
}

/* ---- what is noted ---- */

/* What readers have to know: of each byte, and with how many bits; 0: nothing, or whatever was reported. */
struct memory {
	uint8_t byte[MEMORY];
	uint8_t noted[MEMORY], bits[MEMORY];
};

struct reader {
	struct lpl_sink sink;
	struct lpl_blocks *blocks;
	size_t events;
};

static enum lpl_error take(struct lpl_sink *sink, const struct lpl_event *event, struct lpl_report *report)
{
	struct reader *reader = (struct reader *)sink;

	reader->events++;
	assert_in_range(event->text_length, 1, LPL_CODE_BYTES);
	return lpl_blocks_follow(reader->blocks, event, report);
}

static void send_record(struct reader *reader, const struct kernel_trace_record *record)
{
	struct lpl_event event = { .tag = record->tag, .text_length = record->text_length };

	memcpy(event.arg, record->arg, sizeof(event.arg));
	memcpy(event.text, record->text, sizeof(event.text));
	assert_int_equal(lpl_blocks_follow(reader->blocks, &event, NULL), LPL_OK);
	reader->events++;
}

static void expect_byte(const struct reader *reader, const struct memory *memory, size_t at)
{
	uint8_t byte;
	const unsigned int bits = lpl_blocks_read(reader->blocks, BASE + at, 1, &byte);

	if (!memory->bits[at])
		return;		/* never noted: reported with others, or not known */
	assert_int_equal(bits, memory->bits[at]);
	assert_int_equal(byte, memory->noted[at]);
}

/* Nothing is reported that is known already. */
static void note(struct lpl_blocks *writer, struct reader *reader, struct memory *memory, struct random *random)
{
	const size_t at = random_below(random, MEMORY);
	const size_t rest = PAGE - at % PAGE, longest = rest < LPL_CODE_BYTES ? rest : LPL_CODE_BYTES;
	const unsigned int length = 1 + (unsigned int)random_below(random, random_below(random, 4) ? 15 : longest) %
				    (unsigned int)longest;
	const unsigned int bits = at < PAGE ? 16U << random_below(random, 2) : 64;
	struct kernel_trace_record record;
	bool known = true, news;

	for (size_t i = at; i < at + length; i++) {
		known = known && memory->bits[i] == bits && memory->noted[i] == memory->byte[i];
		memory->noted[i] = memory->byte[i];
		memory->bits[i] = (uint8_t)bits;
	}
	assert_int_equal(lpl_blocks_note(writer, BASE + at, length, bits, &memory->byte[at], &record, &news, NULL), LPL_OK);
	if (known)
		assert_false(news);
	if (news)
		send_record(reader, &record);
	for (size_t i = at; i < at + length; i++)
		expect_byte(reader, memory, i);
}

static void what_is_noted_is_what_readers_find(void **state)
{
	static struct memory memory;
	struct random random = { random_seed() };
	struct lpl_blocks *writer = new_map();
	struct reader reader = { .sink = { .event = take }, .blocks = new_map() };
	size_t forgotten = 0;

	(void)state;
	for (int i = 0; i < 30000; i++) {
		struct kernel_trace_record record;

		if (random_below(&random, 4) == 0)
			memory.byte[random_below(&random, MEMORY)] = (uint8_t)random_below(&random, 256);
		if (random_below(&random, 3000) == 0) {
			lpl_blocks_forget(writer, &record);
			send_record(&reader, &record);
			memset(memory.bits, 0, sizeof(memory.bits));
			forgotten++;
		}
		note(writer, &reader, &memory, &random);
	}
	for (size_t at = 0; at < MEMORY; at++)
		expect_byte(&reader, &memory, at);
	assert_in_range(reader.events, NEWS, 29000);
	assert_true(forgotten > 0);
	lpl_blocks_close(reader.blocks);
	lpl_blocks_close(writer);
}

static void a_map_that_is_sent_is_the_same(void **state)
{
	struct random random = { random_seed() };
	struct reader one = { .blocks = new_map() }, other = { .sink = { .event = take }, .blocks = new_map() };

	(void)state;
	for (int i = 0; i < 300; i++) {
		const size_t at = random_below(&random, MEMORY);
		const unsigned int rest = PAGE - at % PAGE;
		const struct lpl_event event =
			code_event(BASE + at, 16U << random_below(&random, 3),
				   1 + (unsigned int)random_below(&random, rest < 60 ? rest : 60), (uint8_t)i);

		assert_int_equal(lpl_blocks_follow(one.blocks, &event, NULL), LPL_OK);
	}
	assert_int_equal(lpl_blocks_send(one.blocks, &other.sink, NULL), LPL_OK);
	for (size_t at = 0; at < MEMORY; at++) {
		uint8_t byte[2] = { 0, 0 };

		assert_int_equal(lpl_blocks_read(one.blocks, BASE + at, 1, &byte[0]),
				 lpl_blocks_read(other.blocks, BASE + at, 1, &byte[1]));
		assert_int_equal(byte[0], byte[1]);
	}
	assert_true(other.events > 50);
	lpl_blocks_close(one.blocks);
	lpl_blocks_close(other.blocks);
}

/* ---- fetches ---- */

static void map_page(struct lpl_code *code, uint64_t page, uint64_t frame)
{
	struct lpl_event event = { .tag = LPL_EVENT_TRANSLATION, .space = 5 };

	event.arg[LPL_EVENT_TRANSLATION_ADDRESS] = page;
	event.arg[LPL_EVENT_TRANSLATION_FRAME] = frame;
	event.arg[LPL_EVENT_TRANSLATION_SHIFT] = 12;
	assert_int_equal(lpl_code_follow(code, &event, NULL), LPL_OK);
}

static void a_fetch_finds_its_instruction(void **state)
{
	const struct lpl_event first = code_event(0x7ffd, 64, 3, 0x11), second = code_event(0x3000, 64, 20, 0x22);
	const struct lpl_event loss = { .tag = LPL_EVENT_GAP, .arg = { 0, 1 } };
	struct lpl_ref fetch = { .type = LPL_FETCH, .flags = LPL_USER, .space = 5, .address = 0x401ffd, .length = 3,
				 .instr = 77 };
	struct lpl_instruction instruction = { .length = 0 };
	struct lpl_code *code;

	(void)state;
	assert_int_equal(lpl_code_open(&code, NULL), LPL_OK);
	assert_false(lpl_code_fetch(code, &fetch, &instruction));	/* no frame */
	map_page(code, 0x401000, 7);
	assert_false(lpl_code_fetch(code, &fetch, &instruction));	/* no code */
	assert_int_equal(instruction.bits, 0);
	assert_int_equal(lpl_code_follow(code, &first, NULL), LPL_OK);
	assert_true(lpl_code_fetch(code, &fetch, &instruction));
	assert_int_equal(instruction.bits, 64);
	fetch.flags |= LPL_SECOND;
	fetch.address = 0x402000;
	fetch.length = 2;
	assert_false(lpl_code_fetch(code, &fetch, &instruction));
	assert_int_equal(instruction.bits, 0);
	/* its pages follow each other, their frames do not */
	map_page(code, 0x402000, 3);
	assert_int_equal(lpl_code_follow(code, &second, NULL), LPL_OK);
	fetch = (struct lpl_ref){ .type = LPL_FETCH, .flags = LPL_USER, .space = 5, .address = 0x401ffd, .length = 3,
				  .instr = 77 };
	assert_true(lpl_code_fetch(code, &fetch, &instruction));
	fetch = (struct lpl_ref){ .type = LPL_FETCH, .flags = LPL_USER | LPL_SECOND, .space = 5, .address = 0x402000,
				  .length = 2, .instr = 77 };
	assert_true(lpl_code_fetch(code, &fetch, &instruction));
	assert_int_equal(instruction.length, 5);
	assert_int_equal(instruction.address, 0x401ffd);
	assert_int_equal(instruction.space, 5);
	assert_int_equal(instruction.instr, 77);
	assert_true(instruction.user);
	assert_memory_equal(instruction.bytes, "\x11\x11\x11\x22\x22", 5);
	/* more than an instruction has */
	fetch.length = 11;
	assert_false(lpl_code_fetch(code, &fetch, &instruction));
	/* a second part without a first, as where a trace begins */
	instruction.length = 0;
	fetch.length = 2;
	fetch.instr = 99;
	assert_true(lpl_code_fetch(code, &fetch, &instruction));
	assert_int_equal(instruction.instr, 99);
	assert_int_equal(instruction.length, 2);
	/* translations that are known again do not bring code back */
	assert_int_equal(lpl_code_follow(code, &loss, NULL), LPL_OK);
	map_page(code, 0x402000, 3);
	fetch = (struct lpl_ref){ .type = LPL_FETCH, .space = 5, .address = 0x402000, .length = 2 };
	assert_false(lpl_code_fetch(code, &fetch, &instruction));
	lpl_code_close(code);
}

/* ---- damage ---- */

static void expect(struct lpl_blocks *blocks, struct lpl_event event, enum lpl_error error)
{
	assert_int_equal(lpl_blocks_follow(blocks, &event, NULL), error);
}

static void what_cannot_be_is_damage(void **state)
{
	struct lpl_blocks *blocks = new_map();
	uint8_t byte, both[6];

	(void)state;
	expect(blocks, code_event(PAGE - 4, 16, 4, 1), LPL_OK);
	assert_int_equal(lpl_blocks_read(blocks, PAGE - 4, 1, &byte), 16);
	assert_int_equal(lpl_blocks_read(blocks, PAGE - 5, 1, &byte), 0);
	assert_int_equal(lpl_blocks_read(blocks, PAGE - 4, 6, both), 0);
	/* the next block */
	expect(blocks, code_event(PAGE, 32, 2, 7), LPL_OK);
	assert_int_equal(lpl_blocks_read(blocks, PAGE - 4, 6, both), 16);
	assert_memory_equal(both, "\1\1\1\1\7\7", 6);
	assert_int_equal(lpl_blocks_read(blocks, PAGE, 3, both), 0);
	expect(blocks, code_event(PAGE - 4, 16, 5, 1), LPL_ERR_DAMAGED);
	expect(blocks, code_event(0, 16, 0, 1), LPL_ERR_DAMAGED);
	expect(blocks, code_event(0, 8, 1, 1), LPL_ERR_DAMAGED);
	expect(blocks, code_event(UINT64_C(1) << 63, 64, 1, 1), LPL_ERR_DAMAGED);
	expect(blocks, code_event((UINT64_C(1) << 63) - 1, 64, 1, 1), LPL_OK);
	expect(blocks, code_event(KTR_NONE, 0, 0, 0), LPL_OK);
	assert_int_equal(lpl_blocks_read(blocks, PAGE - 4, 1, &byte), 0);
	/* as many blocks as there may be, and what is there already */
	for (uint64_t i = 0; i < LPL_CODE_MAX; i++)
		expect(blocks, code_event(i * LPL_CODE_BYTES, 64, 1, 1), LPL_OK);
	assert_true(lpl_blocks_full(blocks));
	expect(blocks, code_event(LPL_CODE_MAX * LPL_CODE_BYTES, 64, 1, 1), LPL_ERR_DAMAGED);
	expect(blocks, code_event(1, 64, 1, 1), LPL_OK);
	lpl_blocks_close(blocks);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_noted_is_what_readers_find),
		cmocka_unit_test(a_map_that_is_sent_is_the_same),
		cmocka_unit_test(a_fetch_finds_its_instruction),
		cmocka_unit_test(what_cannot_be_is_damage),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
