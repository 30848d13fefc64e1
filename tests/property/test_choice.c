/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A choice of references against its definition (select.h): a machine of a few tasks that make,
 * execute, rename and end each other's likes at random, of which it is known what each is called,
 * and which task made it.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <laplace/select.h>

#include "as_steps.h"
#include "oracle.h"
#include "../unit/chunk_clocks.h"

#define TASKS 10
#define NAMES 4
#define CLONE_VM 0x100

static uint64_t seed;

static const char *const name_of[NAMES] = { "init", "shell", "longer-than-fifteen", "x" };

struct machine {
	struct random random;
	struct stream all, chosen;
	struct lpl_choice_options wanted;
	struct {
		bool lives, by_name, by_descent;
		uint32_t tgid, name;
		uint64_t space;
	} task[TASKS + 1];		/* by tid; 0 is idle, and no process */
	uint32_t runs;
	uint64_t spaces;
	uint64_t made, fitting;		/* references, all and the chosen ones, so far */
	uint64_t before;		/* cycles from power-on to the first record */
	bool begun, over;		/* by marks */
	bool drops;			/* some of the references that were made do not come */
};

/* What counts up from each reference to the next. */
static uint64_t number(const struct machine *m)
{
	return m->wanted.numbering == LPL_NUMBERS_KEPT ? m->made : m->fitting;
}

static void send_event(struct machine *m, uint32_t tag, const uint64_t arg[5], const char *text)
{
	struct lpl_event event = { .tag = tag, .tid = m->runs, .tgid = m->task[m->runs].tgid,
				   .space = m->task[m->runs].space };

	memcpy(event.arg, arg, 5 * sizeof(*arg));
	event.text_length = (uint32_t)strlen(text);
	memcpy(event.text, text, event.text_length);
	event.ref = event.instr = m->made;
	event.cycle = m->before + m->made;
	stream_add_event(&m->all, &event);
	event.ref = number(m);
	stream_add_event(&m->chosen, &event);
}

#define SEND(m, tag, text, ...) send_event(m, tag, (const uint64_t[5]){ __VA_ARGS__ }, text)

/* As the kernel calls it, where no exec does. */
static const char *comm(uint32_t name)
{
	static char text[16];

	snprintf(text, sizeof(text), "%s", name_of[name]);
	return text;
}

static bool is(const char *wanted, uint32_t name, uint32_t number)
{
	char digits[16];

	snprintf(digits, sizeof(digits), "%" PRIu32, number);
	return wanted == NULL || strcmp(wanted, name_of[name]) == 0 || strcmp(wanted, digits) == 0;
}

static bool is_chosen(const struct machine *m, uint32_t tid)
{
	return m->task[tid].by_name || m->task[tid].by_descent;
}

/* By its own name and numbers; `with`: its process is chosen. */
static void judge(struct machine *m, uint32_t tid, bool with)
{
	m->task[tid].by_name =
		(with || is(m->wanted.process, m->task[tid].name, m->task[tid].tgid)) &&
		is(m->wanted.task, m->task[tid].name, tid);
}

static bool has_threads(const struct machine *m, uint32_t tgid)
{
	for (uint32_t tid = 1; tid <= TASKS; tid++)
		if (tid != tgid && m->task[tid].lives && m->task[tid].tgid == tgid)
			return true;
	return false;
}

static void create(struct machine *m, uint32_t tid)
{
	const uint32_t maker = m->runs;
	const bool thread = random_below(&m->random, 3) == 0;
	const uint32_t leader = m->task[maker].tgid;

	if (maker == 0 || m->task[tid].lives || has_threads(m, tid))
		return;
	m->task[tid].lives = true;
	m->task[tid].tgid = thread ? leader : tid;
	m->task[tid].name = m->task[maker].name;
	m->task[tid].space = thread ? m->task[maker].space : ++m->spaces;
	if (!thread)
		SEND(m, KTR_SPACE_DUPLICATE, "", m->task[maker].space, m->task[tid].space);
	SEND(m, KTR_TASK_CREATE, comm(m->task[tid].name), tid, m->task[tid].tgid,
	     m->task[tid].space, thread ? CLONE_VM : 0);
	m->task[tid].by_name = m->task[tid].by_descent = false;
	if (m->wanted.children && is_chosen(m, maker))
		m->task[tid].by_descent = true;
	else
		judge(m, tid, thread && m->task[leader].lives && is_chosen(m, leader));
}

static void execute(struct machine *m)
{
	const uint32_t tid = m->runs;
	char path[64];

	if (tid == 0 || m->task[tid].tgid != tid || has_threads(m, tid))
		return;
	m->task[tid].name = random_below(&m->random, NAMES);
	m->task[tid].space = ++m->spaces;
	snprintf(path, sizeof(path), "/usr/bin/%s", name_of[m->task[tid].name]);
	SEND(m, KTR_EXEC, path, tid, tid, m->task[tid].space);
	judge(m, tid, false);
}

/* The task that runs next may have been renamed meanwhile. */
static void schedule(struct machine *m, uint32_t tid, uint64_t state)
{
	uint32_t name;

	if (!m->task[tid].lives)
		tid = 0;
	name = m->task[tid].name;
	if (tid != 0 && random_below(&m->random, 4) == 0)
		name = random_below(&m->random, NAMES);
	SEND(m, KTR_SCHEDULE, tid == 0 ? "swapper" : comm(name), m->runs, state, tid,
	     m->task[tid].tgid, m->task[tid].space);
	m->runs = tid;
	m->task[tid].name = name;
	if (tid != 0 && !is_chosen(m, tid))
		judge(m, tid, false);
}

static bool is_clock(const struct lpl_moment *moment)
{
	return moment->kind >= LPL_MOMENT_REFERENCE && moment->kind <= LPL_MOMENT_UPTIME;
}

/*
 * By the clocks: what is made so far counts references and instructions, and cycles, too, but those
 * began before.  A second has four cycles; `seconds' begin with the first record, `uptime' with the
 * machine.
 */
static bool has_come(const struct machine *m, const struct lpl_moment *moment)
{
	const bool timed = moment->kind == LPL_MOMENT_TIME || moment->kind == LPL_MOMENT_UPTIME;
	const bool of_machine = moment->kind == LPL_MOMENT_CYCLE ||
				moment->kind == LPL_MOMENT_UPTIME;

	return is_clock(moment) && m->made + (of_machine ? m->before : 0) >=
				   (timed ? moment->number * 4 / 1000000 : moment->number);
}

static void mark(struct machine *m)
{
	const char *text = random_below(&m->random, 2) ? "a" : "b";
	const struct lpl_moment *from = &m->wanted.from, *to = &m->wanted.to;

	if (m->begun || from->kind == LPL_MOMENT_NONE || has_come(m, from))
		m->over |= to->kind == LPL_MOMENT_MARK && strcmp(text, to->text) == 0;
	m->begun |= from->kind == LPL_MOMENT_MARK && strcmp(text, from->text) == 0;
	SEND(m, KTR_MARK, text, 0);
}

static void leave(struct machine *m)
{
	const uint32_t tid = m->runs;

	if (tid == 0 || (m->task[tid].tgid == tid && has_threads(m, tid)))
		return;
	SEND(m, KTR_EXIT, "", tid, m->task[tid].tgid, 0, !has_threads(m, m->task[tid].tgid));
	if (m->task[tid].tgid == tid)
		SEND(m, KTR_SPACE_END, "", m->task[tid].space);
	schedule(m, 0, KTR_STATE_DEAD);
	m->task[tid].lives = m->task[tid].by_name = m->task[tid].by_descent = false;
}

static bool reference_fits(const struct machine *m, const struct lpl_ref *ref)
{
	const struct lpl_choice_options *wanted = &m->wanted;
	const bool user = ref->flags & LPL_USER;
	const uint64_t page = wanted->page_size ? wanted->page_size : 4096;
	const uint64_t end = ref->address + (ref->flags & LPL_PAGED ? page : ref->length);

	if (m->over || has_come(m, &wanted->to) ||
	    !(m->begun || wanted->from.kind == LPL_MOMENT_NONE || has_come(m, &wanted->from)))
		return false;
	if ((wanted->process || wanted->task) && !is_chosen(m, m->runs))
		return false;
	if (wanted->modes && !(wanted->modes & (user ? LPL_CHOOSE_USER : LPL_CHOOSE_KERNEL)))
		return false;
	if (wanted->types && !(wanted->types & 1U << ref->type))
		return false;
	return wanted->address_end == 0 ||
	       (end > wanted->address && ref->address < wanted->address_end);
}

static void reference(struct machine *m)
{
	for (uint32_t i = random_below(&m->random, 12); i > 0; i--) {
		struct lpl_ref *ref;

		stream_add_page(&m->all, 1 + random_below(&m->random, 6),
				(enum lpl_type)random_below(&m->random, LPL_TYPES));
		ref = &m->all.item[m->all.count - 1].ref;
		ref->flags = random_below(&m->random, 2) ? LPL_USER : 0;
		if (random_below(&m->random, 2)) {
			ref->flags |= LPL_PAGED;
			ref->length = 0;
		} else {
			ref->length = (uint16_t)(1 + random_below(&m->random, 64));
			ref->address += random_below(&m->random, 4096 - 64);
		}
		ref->ref = ++m->made;
		ref->instr = m->made;
		ref->cycle = m->before + m->made;
		m->fitting += reference_fits(m, ref);
		if (m->drops && random_below(&m->random, 3) == 0) {
			m->all.count--;
			continue;
		}
		if (reference_fits(m, ref)) {
			stream_add_ref(&m->chosen, ref);
			m->chosen.item[m->chosen.count - 1].ref.ref = number(m);
		}
	}
}

static void choose_moment(struct machine *m, struct lpl_moment *moment)
{
	if (random_below(&m->random, 3) == 0)
		return;
	moment->kind = (enum lpl_moment_kind)random_below(&m->random, LPL_MOMENT_EXEC);
	moment->number = random_below(&m->random, 400);
	if (moment->kind == LPL_MOMENT_TIME || moment->kind == LPL_MOMENT_UPTIME)
		moment->number *= 250000;
	moment->text = random_below(&m->random, 2) ? "a" : "b";
}

static void choose(struct machine *m, char digits[16])
{
	const char *name = name_of[random_below(&m->random, NAMES)];

	m->wanted = (struct lpl_choice_options){ 0 };
	if (random_below(&m->random, 3) == 0) {
		snprintf(digits, 16, "%" PRIu32, 1 + random_below(&m->random, TASKS));
		name = digits;
	}
	if (random_below(&m->random, 4) != 0)
		m->wanted.process = name;
	if (random_below(&m->random, 4) == 0)
		m->wanted.task = name_of[random_below(&m->random, NAMES)];
	m->wanted.children = (m->wanted.process || m->wanted.task) && random_below(&m->random, 2);
	m->wanted.page_size = random_below(&m->random, 3) * 4096;
	m->wanted.numbering = (enum lpl_numbering)random_below(&m->random, 3);
	m->drops = m->wanted.numbering == LPL_NUMBERS_BY_EVENTS;
	if (m->drops)
		return;		/* of tasks alone */
	m->wanted.cycles_a_second = 4;
	choose_moment(m, &m->wanted.from);
	choose_moment(m, &m->wanted.to);
	m->wanted.modes = random_below(&m->random, 4);
	if (random_below(&m->random, 2))
		m->wanted.types = random_below(&m->random, 1U << LPL_TYPES);
	if (random_below(&m->random, 2)) {
		m->wanted.address = random_below(&m->random, 6 << 12);
		m->wanted.address_end = m->wanted.address + 1 + random_below(&m->random, 3 << 12);
	}
}

static void run_machine(struct machine *m, size_t steps)
{
	memset(m->task, 0, sizeof(m->task));
	m->runs = 0;
	m->made = m->fitting = 0;
	m->begun = m->over = false;
	m->before = random_below(&m->random, 200);
	stream_clear(&m->all);
	stream_clear(&m->chosen);
	/* the first of them was there before */
	m->task[1].lives = true;
	m->task[1].tgid = 1;
	m->task[1].space = ++m->spaces;
	SEND(m, KTR_SNAPSHOT, "", 1);
	SEND(m, KTR_TASK_CREATE, comm(0), 1, 1, m->task[1].space);
	SEND(m, KTR_SNAPSHOT, "", 0);
	judge(m, 1, false);
	for (size_t i = 0; i < steps; i++) {
		uint32_t tid = 1 + random_below(&m->random, TASKS);

		switch (random_below(&m->random, 8)) {
		case 0:
		case 1:
			create(m, tid);
			break;
		case 2:
			if (m->runs != 1)
				leave(m);
			break;
		case 3:
			execute(m);
			break;
		case 4:
			mark(m);
			break;
		default:
			schedule(m, tid, 1);
			break;
		}
		reference(m);
	}
}

/* A choice of the machine's, and where what it passes goes. */
static struct lpl_choice *open_wanted(const struct machine *m, struct collector *collector,
				      struct stream *out)
{
	struct lpl_choice *choice;

	stream_clear(out);
	collector_init(collector, out);
	assert_int_equal(lpl_choice_open(&choice, &m->wanted, &collector->sink, NULL), LPL_OK);
	return choice;
}

static void choice_by_definition(void **state)
{
	struct machine m = { .random = { seed } };
	struct stream out = { 0 };
	uint64_t passed = 0;

	(void)state;
	for (int i = 0; i < 2000; i++) {
		struct lpl_choice *choice;
		struct collector collector;
		char digits[16];
		size_t place;

		choose(&m, digits);
		run_machine(&m, 80);
		choice = open_wanted(&m, &collector, &out);
		assert_int_equal(stream_send(&m.all, lpl_choice_sink(choice),
					     1 + random_below(&m.random, 9), NULL), LPL_OK);
		if (!stream_equal(&m.chosen, &out, &place) || !out.finished)
			fail_msg("seed %" PRIu64 " case %d (process %s, task %s, children %d): differs at"
				 " %zu of %zu", seed, i, m.wanted.process, m.wanted.task,
				 m.wanted.children, place, m.chosen.count);
		assert_int_equal(lpl_choice_before(choice, m.made),
				 m.wanted.numbering == LPL_NUMBERS_KEPT ? 0 : m.fitting);
		passed += lpl_choice_passed(choice);
		lpl_choice_close(choice);
	}
	assert_true(passed > 10000);	/* or it shows little */
	stream_free(&m.all);
	stream_free(&m.chosen);
	stream_free(&out);
}

/* ---- as much of it as is needed ---- */

/* In chunks of some records, and of each what the choice says that it needs. */
static void leave_out(struct machine *m, struct lpl_choice *choice, struct stream *needed,
		      size_t count[LPL_NEED_NOTHING + 1])
{
	const size_t records = m->all.count;

	stream_clear(needed);
	for (size_t begin = 0, end; begin < records; begin = end) {
		const size_t size = 1 + random_below(&m->random, 40);
		struct lpl_chunk chunk;
		enum lpl_need need;

		end = size < records - begin ? begin + size : records;
		chunk = chunk_clocks(&m->all.item[begin], &m->all.item[end - 1]);
		need = lpl_choice_need(choice, &chunk);
		count[need]++;
		for (size_t i = begin; i < end; i++) {
			const struct item *item = &m->all.item[i];

			if (item->is_event && need != LPL_NEED_NOTHING)
				stream_add_event(needed, &item->event);
			else if (!item->is_event && need <= LPL_NEED_REFS)
				stream_add_ref(needed, &item->ref);
		}
	}
}

static void only_references(struct stream *stream)
{
	size_t kept = 0;

	for (size_t i = 0; i < stream->count; i++)
		if (!stream->item[i].is_event)
			stream->item[kept++] = stream->item[i];
	stream->count = kept;
}

/* The same references are chosen of what it needs. */
static void choice_needs_no_more(void **state)
{
	struct machine m = { .random = { seed } };
	struct stream needed = { 0 }, out = { 0 };
	size_t count[LPL_NEED_NOTHING + 1] = { 0 };

	(void)state;
	for (int i = 0; i < 1000; i++) {
		struct lpl_choice *choice;
		struct collector collector;
		char digits[16];
		size_t place;

		choose(&m, digits);
		if (random_below(&m.random, 2))
			m.wanted.process = m.wanted.task = NULL, m.wanted.children = false;
		run_machine(&m, 80);
		choice = open_wanted(&m, &collector, &out);
		leave_out(&m, choice, &needed, count);
		assert_int_equal(stream_send(&needed, lpl_choice_sink(choice), 7, NULL), LPL_OK);
		only_references(&out);
		only_references(&m.chosen);
		if (!stream_equal(&m.chosen, &out, &place))
			fail_msg("seed %" PRIu64 " case %d: differs at %zu of %zu", seed, i, place,
				 m.chosen.count);
		lpl_choice_close(choice);
	}
	for (int need = 0; need <= LPL_NEED_NOTHING; need++)
		assert_true(count[need] > 200);	/* or it shows little */
	stream_free(&m.all);
	stream_free(&m.chosen);
	stream_free(&needed);
	stream_free(&out);
}

/* And as steps, where no more than tasks and times are chosen. */
static void choice_of_steps(void **state)
{
	struct machine m = { .random = { seed } };
	static struct as_steps as;
	struct stream out = { 0 };
	uint64_t passed = 0;

	(void)state;
	as_steps_init(&as, &m.random);
	for (int i = 0; i < 1000; i++) {
		struct lpl_choice *choice;
		struct collector collector;
		char digits[16];
		size_t place;

		choose(&m, digits);
		choice = open_wanted(&m, &collector, &out);
		assert_int_equal(lpl_choice_steps(choice), m.wanted.modes == 0 && m.wanted.types == 0 &&
				 m.wanted.address_end == 0);
		lpl_choice_close(choice);
		m.wanted.modes = m.wanted.types = 0;
		m.wanted.address = m.wanted.address_end = 0;
		run_machine(&m, 80);
		choice = open_wanted(&m, &collector, &out);
		as_steps_send(&as, &m.all, choice, 40, &out);
		place = as_steps_difference(&as, &m.chosen);
		if (place != SIZE_MAX)
			fail_msg("seed %" PRIu64 " case %d: visit %zu differs", seed, i, place);
		assert_int_equal(lpl_choice_before(choice, m.made),
				 m.wanted.numbering == LPL_NUMBERS_KEPT ? 0 : m.fitting);
		passed += as.count;
		lpl_choice_close(choice);
	}
	assert_in_range(passed, 5000, UINT64_MAX);
	for (int need = 0; need <= LPL_NEED_NOTHING; need++)
		assert_in_range(as.chunks[need], 100, UINT64_MAX);
	as_steps_free(&as);
	stream_free(&m.all);
	stream_free(&m.chosen);
	stream_free(&out);
}

static void choice_refuses(void **state)
{
	static const struct lpl_choice_options wrong[] = {
		{ .address = 5, .address_end = 5 },
		{ .children = true },
		{ .from = { LPL_MOMENT_TIME, 1, "0.000001" } },
		{ .process = "x", .modes = LPL_CHOOSE_USER, .numbering = LPL_NUMBERS_BY_EVENTS },
		{ .kinds = "file,magic" },
	};
	struct stream out = { 0 };
	struct collector collector;
	struct lpl_choice *choice;

	(void)state;
	collector_init(&collector, &out);
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		assert_int_equal(lpl_choice_open(&choice, &wrong[i], &collector.sink, NULL),
				 LPL_ERR_USAGE);
		assert_null(choice);
	}
	lpl_choice_close(NULL);
}

/* ---- in words ---- */

static void choice_in_words(void **state)
{
	static const struct {
		const char *spec, *said;
		struct lpl_choice_options options;
	} good[] = {
		{ "process:gzip", "process:gzip", { .process = "gzip" } },
		{ "process:g+++children", "process:g+++children",
		  { .process = "g++", .children = true } },
		{ "process:a,b,user", "process:a,b+user",
		  { .process = "a,b", .modes = LPL_CHOOSE_USER } },
		{ "process:a+b,user", "process:a+b+user",
		  { .process = "a+b", .modes = LPL_CHOOSE_USER } },
		{ "task:user", "task:user", { .task = "user" } },
		{ "process:process:x", "process:process:x", { .process = "process:x" } },
		{ "children,task:7", "task:7+children", { .task = "7", .children = true } },
		{ "type:w+read,kernel", "kernel+type:read+write",
		  { .types = 1U << LPL_READ | 1U << LPL_WRITE, .modes = LPL_CHOOSE_KERNEL } },
		{ "from:instructions:5M+to:mark:a b,c", "from:instructions:5000000+to:mark:a b,c",
		  { .from = { LPL_MOMENT_INSTRUCTION, 5000000, NULL },
		    .to = { LPL_MOMENT_MARK, 0, "a b,c" } } },
		{ "from:seconds:1.25,to:exec:/bin/x+user", "user+from:seconds:1.25+to:exec:/bin/x",
		  { .modes = LPL_CHOOSE_USER, .from = { LPL_MOMENT_TIME, 1250000, "1.25" },
		    .to = { LPL_MOMENT_EXEC, 0, "/bin/x" } } },
		{ "to:uptime:0.5", "to:uptime:0.5", { .to = { LPL_MOMENT_UPTIME, 500000, "0.5" } } },
		{ "kind:file,shm+file:/a+b", "kind:file,shm+file:/a+b",
		  { .kinds = "file,shm", .file = "/a+b" } },
		{ "range:0x1000:fffff000", "range:1000:fffff000",
		  { .address = 0x1000, .address_end = 0xfffff000 } },
	};
	static const char *const bad[] = {
		"", "children", "process:", "process", "gzip", "children,,task:x", "type:r+type:w",
		"process:a+process:b", "type:x", "type:", "range:5", "range:5:5", "range:x:9",
		"range:1:2:3", "user+", "user:yes", "user+user",
		"from:5", "to:", "from::5", "from:instructions:0", "from:seconds:x", "from:uptime:1s", "to:seconds:1.2.3",
		"to:references:4+mark:x", "from:user", "+user",
	};
	char words[LPL_CHOICE_SIZE], said[LPL_CHOICE_SIZE], longest[LPL_CHOICE_SIZE + 1];
	struct lpl_choice_options options;

	(void)state;
	for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
		const struct lpl_choice_options *expected = &good[i].options;

		assert_int_equal(lpl_choice_parse(&options, words, good[i].spec, NULL), LPL_OK);
		assert_string_equal(options.process ? options.process : "",
				    expected->process ? expected->process : "");
		assert_string_equal(options.task ? options.task : "",
				    expected->task ? expected->task : "");
		assert_int_equal(options.children, expected->children);
		assert_int_equal(options.modes, expected->modes);
		assert_int_equal(options.types, expected->types);
		assert_int_equal(options.from.kind, expected->from.kind);
		assert_int_equal(options.from.number, expected->from.number);
		assert_int_equal(options.to.kind, expected->to.kind);
		if (expected->to.text)
			assert_string_equal(options.to.text, expected->to.text);
		assert_string_equal(options.kinds ? options.kinds : "",
				    expected->kinds ? expected->kinds : "");
		assert_string_equal(options.file ? options.file : "",
				    expected->file ? expected->file : "");
		assert_int_equal(options.address, expected->address);
		assert_int_equal(options.address_end, expected->address_end);
		assert_int_equal(lpl_choice_say(said, &options, NULL), LPL_OK);
		assert_string_equal(said, good[i].said);
	}
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		if (lpl_choice_parse(&options, words, bad[i], NULL) != LPL_ERR_USAGE)
			fail_msg("'%s' was taken", bad[i]);
	memset(longest, 'x', sizeof(longest));
	memcpy(longest, "process:", 8);
	longest[LPL_CHOICE_SIZE] = '\0';
	assert_int_equal(lpl_choice_parse(&options, words, longest, NULL), LPL_ERR_USAGE);
	longest[LPL_CHOICE_SIZE - 1] = '\0';
	assert_int_equal(lpl_choice_parse(&options, words, longest, NULL), LPL_OK);
	assert_int_equal(lpl_choice_say(said, &options, NULL), LPL_OK);
	assert_string_equal(said, longest);
	/* what would be read as another choice cannot be said */
	assert_int_equal(lpl_choice_say(said, &(struct lpl_choice_options){ .process = "a+user" },
					NULL), LPL_ERR_USAGE);
	assert_int_equal(lpl_choice_say(said, &(struct lpl_choice_options){ 0 }, NULL), LPL_OK);
	assert_string_equal(said, "");
}

/* The last byte of all is one of any range's end. */
static void choice_of_the_last_address(void **state)
{
	const struct lpl_choice_options writes = { .types = 1U << LPL_WRITE };
	const struct lpl_ref last = { .ref = 1, .address = UINT64_MAX, .length = 1,
				      .type = LPL_WRITE };
	struct stream out = { 0 };
	struct collector collector;
	struct lpl_choice *choice;
	struct lpl_sink *sink;

	(void)state;
	collector_init(&collector, &out);
	assert_int_equal(lpl_choice_open(&choice, &writes, &collector.sink, NULL), LPL_OK);
	sink = lpl_choice_sink(choice);
	assert_int_equal(sink->refs(sink, &last, 1, NULL), LPL_OK);
	assert_int_equal(sink->finish(sink, NULL), LPL_OK);
	assert_int_equal(out.count, 1);
	lpl_choice_close(choice);
	stream_free(&out);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(choice_by_definition),
		cmocka_unit_test(choice_needs_no_more), cmocka_unit_test(choice_of_steps), cmocka_unit_test(choice_refuses),
		cmocka_unit_test(choice_in_words),
		cmocka_unit_test(choice_of_the_last_address),
	};

	seed = random_seed();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
