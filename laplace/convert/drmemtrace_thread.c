/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The records of a thread for DynamoRIO's drmemtrace; see drmemtrace_thread.h. */
#include "drmemtrace_thread.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"

enum {
	WAITING = 512		/* records, before some are written */
};

/* ---- records ---- */

static struct drmemtrace_record *add(struct drmemtrace_thread *thread, unsigned int type, unsigned int size,
				     uint64_t address)
{
	struct drmemtrace_record *record;

	if (!lpl_reserve(thread->record, thread->room, thread->count))
		return NULL;
	record = &thread->record[thread->count++];
	*record = (struct drmemtrace_record){ .type = (uint16_t)type, .size = (uint16_t)size, .address = address };
	return record;
}

static bool add_marker(struct drmemtrace_thread *thread, unsigned int kind, uint64_t value)
{
	return add(thread, DR_MARKER, kind, value) != NULL;
}

static uint64_t next_of(const struct drmemtrace_record *record)
{
	return record->address + record->size;
}

static unsigned int type_of(const struct drmemtrace_step *step)
{
	static const uint8_t type[] = {
		[LPL_BRANCH_NONE] = DR_INSTRUCTION, [LPL_BRANCH_JUMP] = DR_JUMP,
		[LPL_BRANCH_INDIRECT_JUMP] = DR_INDIRECT_JUMP, [LPL_BRANCH_CONDITIONAL] = DR_UNTAKEN,
		[LPL_BRANCH_CALL] = DR_CALL, [LPL_BRANCH_INDIRECT_CALL] = DR_INDIRECT_CALL,
		[LPL_BRANCH_RETURN] = DR_RETURN, [LPL_BRANCH_SYSTEM_CALL] = DR_INSTRUCTION,
		[LPL_BRANCH_SYSTEM_RETURN] = DR_INDIRECT_JUMP,
	};
	const uint8_t *bytes = step->instruction.bytes;

	/* there, iret is a return, and sysret none */
	if (step->decoded.branch == LPL_BRANCH_SYSTEM_RETURN &&
	    bytes[step->instruction.length - 1] == 0xcf)
		return DR_RETURN;
	if (step->decoded.branch == LPL_BRANCH_SYSTEM_CALL && bytes[0] == 0x0f && bytes[1] == 0x34)
		return DR_SYSENTER;
	return type[step->decoded.branch];
}

static bool add_instruction(struct drmemtrace_thread *thread, const struct drmemtrace_step *step, unsigned int type)
{
	const struct lpl_instruction *instruction = &step->instruction;
	struct drmemtrace_record *record = add(thread, type, instruction->length, instruction->address);

	if (!record)
		return false;
	record->branch = (uint8_t)step->decoded.branch;
	record->target = step->decoded.target;
	record->repeats = step->decoded.repeats;
	record->frame = step->frame;
	memcpy(record->bytes, instruction->bytes, instruction->length);
	thread->last = thread->count - 1;
	return true;
}

static bool add_access(struct drmemtrace_thread *thread, const struct drmemtrace_access *access)
{
	struct drmemtrace_record *record =
		add(thread, access->write ? DR_WRITE : DR_READ, access->length, access->address);

	if (record)
		record->frame = access->frame;
	return record != NULL;
}

/* With a prefix that repeats it: each repetition is an instruction, and only the first one is fetched. */
static bool add_step(struct drmemtrace_thread *thread, const struct drmemtrace_step *step, bool goes_on)
{
	const size_t each = step->decoded.reads + step->decoded.writes;

	if (!add_instruction(thread, step, goes_on ? DR_NO_FETCH : type_of(step)))
		return false;
	for (size_t i = 0; i < step->count; i++) {
		if (step->decoded.repeats && each && i && i % each == 0 &&
		    !add_instruction(thread, step, DR_NO_FETCH))
			return false;
		if (!add_access(thread, &step->access[i]))
			return false;
	}
	return true;
}

/* ---- where an instruction went on ---- */

/* Can it go on there?  If so, it has. */
static bool goes_on(struct drmemtrace_record *record, uint64_t pc)
{
	switch (record->branch) {
	case LPL_BRANCH_NONE:
	case LPL_BRANCH_SYSTEM_CALL:
		return pc == next_of(record);
	case LPL_BRANCH_JUMP:
	case LPL_BRANCH_CALL:
		return pc == record->target;
	case LPL_BRANCH_CONDITIONAL:
		if (pc != record->target && pc != next_of(record))
			return false;
		record->type = pc == record->target ? DR_TAKEN : DR_UNTAKEN;
		return true;
	default:
		record->target = pc;
		return true;
	}
}

static void leave_out_from(struct drmemtrace_thread *thread, size_t first)
{
	for (size_t i = first; i < thread->count; i++)
		thread->record[i].left_out = true;
}

/* Something is missing here; it may have begun with what the last instruction referred to. */
static bool add_gap(struct drmemtrace_thread *thread, uint64_t pc)
{
	if (drmemtrace_is_indirect(thread->record[thread->last].branch))
		thread->record[thread->last].target = pc;
	if (drmemtrace_is_short(&thread->before))
		leave_out_from(thread, thread->last);
	return add_marker(thread, DR_WINDOW, 0);
}

/* The last instruction, with what it referred to, was not completed. */
static bool leave_out_last(struct drmemtrace_thread *thread)
{
	struct drmemtrace_record *last = &thread->record[thread->last];
	uint64_t bytes = 0;

	for (unsigned int i = 0; i < 8 && i < last->size; i++)
		bytes |= (uint64_t)last->bytes[i] << 8 * i;
	leave_out_from(thread, thread->last);
	thread->losses->incomplete++;
	return add_marker(thread, DR_UNCOMPLETED, bytes);
}

/* ---- interrupts, exceptions, system calls ---- */

static struct drmemtrace_frame *push(struct drmemtrace_thread *thread)
{
	if (!lpl_reserve(thread->frame, thread->frames_room, thread->frames))
		return NULL;
	return &thread->frame[thread->frames++];
}

/*
 * The last instruction called the kernel, and that is known by its number.  It is also where readers may want to
 * have the time.  `back`: the program goes on, without the kernel's part, which readers put in where the time comes
 * again.
 */
static bool add_call(struct drmemtrace_thread *thread, bool back, uint64_t time)
{
	thread->switched = back;
	return add_marker(thread, DR_TIMESTAMP, back ? thread->time : time) && add_marker(thread, DR_CPU, 0) &&
	       add_marker(thread, DR_SYSTEM_CALL, thread->before.number);
}

static bool begin_call(struct drmemtrace_thread *thread)
{
	thread->number = thread->before.number;
	thread->call = thread->frames + 1;
	return add_marker(thread, DR_CALL_BEGINS, thread->number);
}

/* Its frame is gone. */
static bool end_call(struct drmemtrace_thread *thread)
{
	if (!thread->call || thread->frames >= thread->call)
		return true;
	thread->call = 0;
	return add_marker(thread, DR_CALL_ENDS, thread->number);
}

/* At a handler's first instruction. */
static bool enter(struct drmemtrace_thread *thread)
{
	struct drmemtrace_record *last = &thread->record[thread->last];
	const bool completed = !thread->before.faulted || last->repeats;
	struct drmemtrace_frame frame = { .user = thread->before.instruction.user, .before = thread->last };
	struct drmemtrace_frame *pushed;

	frame.pc = last->address;
	if (!completed && !leave_out_last(thread))
		return false;
	last = &thread->record[thread->last];
	if (completed) {
		frame.open = last->repeats || last->branch == LPL_BRANCH_CONDITIONAL || drmemtrace_is_indirect(last->branch);
		frame.pc = last->branch == LPL_BRANCH_JUMP || last->branch == LPL_BRANCH_CALL ? last->target :
			   next_of(last);
	}
	frame.restarts = !frame.open;
	/* the kernel may have another way to go on after a fault of its own */
	frame.open |= !frame.user;
	if (thread->before.calls && completed && frame.user && !thread->call && !begin_call(thread))
		return false;
	frame.marker = thread->count;
	pushed = push(thread);
	if (!pushed)
		return false;
	*pushed = frame;
	return add_marker(thread, DR_HARDWARE_EVENT, frame.pc);
}

/* An open frame goes on here; false: it cannot. */
static bool settle(struct drmemtrace_thread *thread, struct drmemtrace_frame *frame, uint64_t pc)
{
	struct drmemtrace_record *before = &thread->record[frame->before];

	if (frame->restarts ? pc != frame->pc :
	    before->repeats ? pc != before->address && pc != next_of(before) : !goes_on(before, pc))
		return false;
	thread->record[frame->marker].address = pc;
	frame->pc = pc;
	frame->open = false;
	return true;
}

/* It never returned, or not there: as if nothing was known of it but that something is missing. */
static void give_up(struct drmemtrace_thread *thread, struct drmemtrace_frame *frame)
{
	if (!frame->open)
		return;
	if (drmemtrace_is_indirect(thread->record[frame->before].branch))
		thread->record[frame->before].target = thread->record[frame->marker].address;
	thread->record[frame->marker].size = DR_WINDOW;
	frame->open = false;
}

static bool return_marker(struct drmemtrace_thread *thread)
{
	const struct drmemtrace_record *last = &thread->record[thread->last];

	return add_marker(thread, DR_HARDWARE_RETURN, next_of(last));
}

/*
 * A user's program goes on elsewhere than where it was: a signal, the end of its handler, another program.  `called`:
 * from a system call, which readers want to return before a signal comes.
 */
static bool transfer(struct drmemtrace_thread *thread, uint64_t from, uint64_t to, bool called)
{
	size_t found = thread->signals;
	const bool executes = thread->executes;

	thread->executes = false;
	while (found && thread->signal[found - 1] != to)
		found--;
	if (!found && executes && !thread->signals)
		return add_marker(thread, DR_KERNEL_XFER, from);
	if (found) {
		for (; thread->signals >= found; thread->signals--)
			if (!add_marker(thread, DR_KERNEL_XFER, from))
				return false;
		return true;
	}
	if (called)
		thread->record[thread->last].target = from;
	if (!lpl_reserve(thread->signal, thread->signals_room, thread->signals))
		return false;
	thread->signal[thread->signals++] = from;
	return add_marker(thread, DR_KERNEL_EVENT, from);
}

static bool return_to_user(struct drmemtrace_thread *thread, uint64_t pc)
{
	struct drmemtrace_frame frame;
	bool called;

	for (;; thread->frames--) {
		if (!thread->frames)
			return true;
		if (thread->frame[thread->frames - 1].user)
			break;
		if (thread->frame[thread->frames - 1].open)
			give_up(thread, &thread->frame[thread->frames - 1]);
		else if (!return_marker(thread))
			return false;
	}
	if (thread->frame[thread->frames - 1].open && !settle(thread, &thread->frame[thread->frames - 1], pc)) {
		struct drmemtrace_frame *open = &thread->frame[thread->frames - 1];
		const uint64_t next = next_of(&thread->record[open->before]);

		(void)settle(thread, open, next);	/* it is a guess */
	}
	called = thread->call == thread->frames;
	frame = thread->frame[--thread->frames];
	if (!return_marker(thread) || !end_call(thread))
		return false;
	if (frame.pc != pc)
		return transfer(thread, frame.pc, pc, called);
	thread->executes = false;
	return true;
}

static bool return_to_kernel(struct drmemtrace_thread *thread, uint64_t pc)
{
	struct drmemtrace_frame *frame = thread->frames ? &thread->frame[thread->frames - 1] : NULL;

	/* it may go on just after itself, to be serializing */
	if (!frame || frame->user || pc == next_of(&thread->record[thread->last]))
		return true;
	thread->frames--;
	if (settle(thread, frame, pc))
		return return_marker(thread);
	give_up(thread, frame);
	return true;
}

/* ---- from one to the next ---- */

/* With the kernel's instructions left out: it goes on elsewhere, or again. */
static bool jump_in_user(struct drmemtrace_thread *thread, const struct drmemtrace_step *step)
{
	struct drmemtrace_record *last = &thread->record[thread->last];
	const uint64_t pc = step->instruction.address;
	uint64_t from = last->branch == LPL_BRANCH_JUMP || last->branch == LPL_BRANCH_CALL ? last->target :
			next_of(last);

	if (pc == last->address || (drmemtrace_is_short(&thread->before) && last->branch == LPL_BRANCH_NONE)) {
		from = last->address;
		if (!leave_out_last(thread))
			return false;
	}
	return pc == from || transfer(thread, from, pc, false);
}

static bool link_steps(struct drmemtrace_thread *thread, const struct drmemtrace_step *step, bool *repeated)
{
	struct drmemtrace_record *last = &thread->record[thread->last];
	const bool was_user = thread->before.instruction.user, user = step->instruction.user;
	const uint64_t pc = step->instruction.address;

	if (thread->before.interrupted && last->branch != LPL_BRANCH_SYSTEM_RETURN)
		return enter(thread);
	if (was_user && !user)
		return enter(thread);
	if (last->branch == LPL_BRANCH_SYSTEM_RETURN && !was_user) {
		last->target = pc;
		if (thread->before.interrupted)
			return true;	/* at once: the handler returns where this one would have */
		return user ? return_to_user(thread, pc) : return_to_kernel(thread, pc);
	}
	if (last->repeats && pc == last->address) {
		*repeated = true;
		return true;
	}
	if (was_user == user && goes_on(last, pc))
		return true;
	return was_user && user ? jump_in_user(thread, step) : add_gap(thread, pc);
}

/* A new thread, or one of the kernel's: it was never anywhere else, and if it gets there that is a transfer. */
static bool begin_in_kernel(struct drmemtrace_thread *thread, uint64_t pc)
{
	struct drmemtrace_frame *frame = push(thread);

	if (!frame)
		return false;
	*frame = (struct drmemtrace_frame){ .user = true, .pc = pc };
	thread->executes = true;
	return add_marker(thread, DR_HARDWARE_EVENT, pc);
}

/* Nothing may come between a branch and what follows it, if need be without what was left out. */
static bool may_say_time(const struct drmemtrace_thread *thread)
{
	return thread->last == DRMEMTRACE_NONE ||
	       (!thread->record[thread->last].left_out && (thread->before.decoded.branch == LPL_BRANCH_NONE ||
							   thread->before.decoded.branch == LPL_BRANCH_SYSTEM_CALL));
}

/*
 * It was completed, and will not be left out: where the kernel is not in the trace, one that is repeated is.  `step`:
 * what follows; NULL: nothing does.
 */
static bool has_called(const struct drmemtrace_thread *thread, const struct drmemtrace_step *step)
{
	const struct drmemtrace_step *before = &thread->before;

	return before->calls && before->instruction.user && !before->faulted &&
	       (!step || step->after_gap || !step->instruction.user ||
		step->instruction.address != before->instruction.address);
}

/* Readers want as many returns as events; and that a system call ends, if anything follows it. */
static bool end_frames(struct drmemtrace_thread *thread, bool goes_on)
{
	for (; thread->frames; thread->frames--) {
		struct drmemtrace_frame *frame = &thread->frame[thread->frames - 1];

		if (frame->open)
			give_up(thread, frame);
		else if (!add_marker(thread, DR_HARDWARE_RETURN, frame->pc))
			return false;
	}
	return !goes_on || end_call(thread);
}

/* Of what went on before a gap, nothing is known to return any more when a user's program goes on after it. */
static bool end_before_gap(struct drmemtrace_thread *thread, uint64_t pc)
{
	const bool any = thread->frames != 0;
	const uint64_t from = any ? thread->frame[0].pc : 0;

	return end_frames(thread, true) && add_gap(thread, pc) &&
	       (!any || from == pc || add_marker(thread, DR_KERNEL_XFER, from));
}

static bool follow(struct drmemtrace_thread *thread, const struct drmemtrace_step *step, uint64_t time, bool *repeated)
{
	const uint64_t pc = step->instruction.address;

	if (has_called(thread, step) && !add_call(thread, step->instruction.user, time))
		return false;
	if (!step->after_gap)
		return link_steps(thread, step, repeated);
	return step->instruction.user ? end_before_gap(thread, pc) : add_gap(thread, pc);
}

bool lpl_drmemtrace_step(struct drmemtrace_thread *thread, const struct drmemtrace_step *step, uint64_t time)
{
	bool repeated = false;

	if (thread->last != DRMEMTRACE_NONE && !follow(thread, step, time, &repeated))
		return false;
	if (thread->switched && !repeated && may_say_time(thread)) {
		if (!add_marker(thread, DR_TIMESTAMP, time) || !add_marker(thread, DR_CPU, 0))
			return false;
		thread->switched = false;
	}
	if (!thread->begun && thread->last == DRMEMTRACE_NONE && !step->instruction.user &&
	    !begin_in_kernel(thread, step->instruction.address))
		return false;
	if (!add_step(thread, step, repeated))
		return false;
	thread->time = time;
	thread->before = *step;
	thread->before.access = NULL;
	return thread->count < WAITING || lpl_drmemtrace_write_settled(thread);
}

bool lpl_drmemtrace_end(struct drmemtrace_thread *thread)
{
	/* where it would have gone on is not known, or what it would have referred to */
	if (drmemtrace_is_indirect(thread->record[thread->last].branch) || drmemtrace_is_short(&thread->before)) {
		leave_out_from(thread, thread->last);
		thread->losses->unfollowed++;
	}
	if (has_called(thread, NULL) && !add_call(thread, false, thread->time))
		return false;
	if (!end_frames(thread, false))
		return false;
	thread->last = DRMEMTRACE_NONE;
	return lpl_drmemtrace_write_settled(thread) && lpl_drmemtrace_put(thread, DR_THREAD_EXIT, 4, thread->tid) &&
	       lpl_drmemtrace_put(thread, DR_FOOTER, 0, 0) && thread->flush(thread, thread->context);
}

void lpl_drmemtrace_free(struct drmemtrace_thread *thread)
{
	free(thread->record);
	free(thread->frame);
	free(thread->signal);
	free(thread->known);
	free(thread->page);
	free(thread->buffer);
}
