/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The library's structures as the headers have them, for the module that declares them once more:
 * a line each of a member's name, offset and size; of a structure, its name and size.
 */
#include <stdio.h>

#include <laplace/schedule.h>
#include <laplace/select.h>

#define WHOLE(name, type) printf("%s %zu\n", name, sizeof(type))
#define MEMBER(type, member) \
	printf("%s %zu %zu\n", #member, offsetof(type, member), sizeof(((type *)0)->member))

int main(void)
{
	WHOLE("_Report", struct lpl_report);
	MEMBER(struct lpl_report, error);
	MEMBER(struct lpl_report, system_errno);
	MEMBER(struct lpl_report, text);
	WHOLE("_Columns", struct lpl_ref_columns);
	MEMBER(struct lpl_ref_columns, ref);
	MEMBER(struct lpl_ref_columns, instr);
	MEMBER(struct lpl_ref_columns, cycle);
	MEMBER(struct lpl_ref_columns, address);
	MEMBER(struct lpl_ref_columns, space);
	MEMBER(struct lpl_ref_columns, length);
	MEMBER(struct lpl_ref_columns, type);
	MEMBER(struct lpl_ref_columns, flags);
	WHOLE("_Event", struct lpl_event);
	MEMBER(struct lpl_event, ref);
	MEMBER(struct lpl_event, instr);
	MEMBER(struct lpl_event, cycle);
	MEMBER(struct lpl_event, space);
	MEMBER(struct lpl_event, arg);
	MEMBER(struct lpl_event, tag);
	MEMBER(struct lpl_event, tid);
	MEMBER(struct lpl_event, tgid);
	MEMBER(struct lpl_event, text_length);
	MEMBER(struct lpl_event, text);
	WHOLE("_EventArg", struct lpl_event_arg);
	MEMBER(struct lpl_event_arg, name);
	MEMBER(struct lpl_event_arg, how);
	WHOLE("_EventKind", struct lpl_event_kind);
	MEMBER(struct lpl_event_kind, name);
	MEMBER(struct lpl_event_kind, text);
	MEMBER(struct lpl_event_kind, arg);
	MEMBER(struct lpl_event_kind, tag);
	MEMBER(struct lpl_event_kind, fence);
	WHOLE("_Totals", struct lpl_totals);
	MEMBER(struct lpl_totals, total);
	MEMBER(struct lpl_totals, refs);
	MEMBER(struct lpl_totals, user_refs);
	MEMBER(struct lpl_totals, tracer_refs);
	MEMBER(struct lpl_totals, events);
	MEMBER(struct lpl_totals, wait_ns);
	MEMBER(struct lpl_totals, recording);
	WHOLE("_Moment", struct lpl_moment);
	MEMBER(struct lpl_moment, kind);
	MEMBER(struct lpl_moment, number);
	MEMBER(struct lpl_moment, text);
	WHOLE("_ChoiceOptions", struct lpl_choice_options);
	MEMBER(struct lpl_choice_options, process);
	MEMBER(struct lpl_choice_options, task);
	MEMBER(struct lpl_choice_options, modes);
	MEMBER(struct lpl_choice_options, types);
	MEMBER(struct lpl_choice_options, address);
	MEMBER(struct lpl_choice_options, address_end);
	MEMBER(struct lpl_choice_options, page_size);
	MEMBER(struct lpl_choice_options, kinds);
	MEMBER(struct lpl_choice_options, file);
	MEMBER(struct lpl_choice_options, from);
	MEMBER(struct lpl_choice_options, to);
	MEMBER(struct lpl_choice_options, cycles_a_second);
	MEMBER(struct lpl_choice_options, numbering);
	MEMBER(struct lpl_choice_options, children);
	MEMBER(struct lpl_choice_options, addresses);
	WHOLE("_Addressing", struct lpl_addressing);
	MEMBER(struct lpl_addressing, canonical);
	MEMBER(struct lpl_addressing, maps);
	MEMBER(struct lpl_addressing, can);
	MEMBER(struct lpl_addressing, exact);
	MEMBER(struct lpl_addressing, translations);
	MEMBER(struct lpl_addressing, frames_exact);
	MEMBER(struct lpl_addressing, why);
	WHOLE("_Machine", struct lpl_machine);
	MEMBER(struct lpl_machine, cpus);
	MEMBER(struct lpl_machine, scheduler);
	MEMBER(struct lpl_machine, quantum);
	MEMBER(struct lpl_machine, quantum_instructions);
	MEMBER(struct lpl_machine, switch_cycles);
	MEMBER(struct lpl_machine, memory);
	MEMBER(struct lpl_machine, policy);
	MEMBER(struct lpl_machine, pages);
	MEMBER(struct lpl_machine, window);
	MEMBER(struct lpl_machine, fault_cycles);
	MEMBER(struct lpl_machine, write_cycles);
	MEMBER(struct lpl_machine, devices);
	MEMBER(struct lpl_machine, priority);
	MEMBER(struct lpl_machine, context);
	MEMBER(struct lpl_machine, observer);
	WHOLE("_ScheduleTrace", struct lpl_schedule_trace);
	MEMBER(struct lpl_schedule_trace, references);
	MEMBER(struct lpl_schedule_trace, cycles);
	MEMBER(struct lpl_schedule_trace, instructions);
	MEMBER(struct lpl_schedule_trace, left_out_references);
	MEMBER(struct lpl_schedule_trace, left_out_cycles);
	MEMBER(struct lpl_schedule_trace, pages);
	MEMBER(struct lpl_schedule_trace, shared);
	MEMBER(struct lpl_schedule_trace, waits);
	MEMBER(struct lpl_schedule_trace, waits_guessed);
	MEMBER(struct lpl_schedule_trace, left_waiting);
	WHOLE("_ScheduleTask", struct lpl_schedule_task);
	MEMBER(struct lpl_schedule_task, serial);
	MEMBER(struct lpl_schedule_task, process);
	MEMBER(struct lpl_schedule_task, parent);
	MEMBER(struct lpl_schedule_task, tid);
	MEMBER(struct lpl_schedule_task, tgid);
	MEMBER(struct lpl_schedule_task, name);
	MEMBER(struct lpl_schedule_task, references);
	MEMBER(struct lpl_schedule_task, faults);
	MEMBER(struct lpl_schedule_task, cold);
	MEMBER(struct lpl_schedule_task, joined);
	MEMBER(struct lpl_schedule_task, begin);
	MEMBER(struct lpl_schedule_task, end);
	MEMBER(struct lpl_schedule_task, running);
	MEMBER(struct lpl_schedule_task, ready);
	MEMBER(struct lpl_schedule_task, paging);
	MEMBER(struct lpl_schedule_task, waiting);
	MEMBER(struct lpl_schedule_task, switching);
	MEMBER(struct lpl_schedule_task, suspended);
	MEMBER(struct lpl_schedule_task, dispatches);
	MEMBER(struct lpl_schedule_task, preemptions);
	MEMBER(struct lpl_schedule_task, deactivations);
	WHOLE("_ScheduleResult", struct lpl_schedule_result);
	MEMBER(struct lpl_schedule_result, end);
	MEMBER(struct lpl_schedule_result, busy);
	MEMBER(struct lpl_schedule_result, switching);
	MEMBER(struct lpl_schedule_result, idle);
	MEMBER(struct lpl_schedule_result, idle_paging);
	MEMBER(struct lpl_schedule_result, switches);
	MEMBER(struct lpl_schedule_result, references);
	MEMBER(struct lpl_schedule_result, faults);
	MEMBER(struct lpl_schedule_result, cold);
	MEMBER(struct lpl_schedule_result, joined);
	MEMBER(struct lpl_schedule_result, evictions);
	MEMBER(struct lpl_schedule_result, dirty_evictions);
	MEMBER(struct lpl_schedule_result, deactivations);
	MEMBER(struct lpl_schedule_result, device_busy);
	WHOLE("_SizesBase", struct lpl_sizes_base);
	MEMBER(struct lpl_sizes_base, page_size);
	MEMBER(struct lpl_sizes_base, pages);
	WHOLE("_Sizes", struct lpl_sizes);
	MEMBER(struct lpl_sizes, all);
	MEMBER(struct lpl_sizes, memory);
	MEMBER(struct lpl_sizes, size);
	MEMBER(struct lpl_sizes, count);
	WHOLE("_SimulatorOptions", struct lpl_simulator_options);
	MEMBER(struct lpl_simulator_options, jobs);
	MEMBER(struct lpl_simulator_options, reduction);
	MEMBER(struct lpl_simulator_options, part);
	MEMBER(struct lpl_simulator_options, page_size);
	WHOLE("_RESULT", struct lpl_result);
	MEMBER(struct lpl_result, size);
	MEMBER(struct lpl_result, references);
	MEMBER(struct lpl_result, faults);
	MEMBER(struct lpl_result, evictions);
	MEMBER(struct lpl_result, dirty_evictions);
	MEMBER(struct lpl_result, space_time);
	MEMBER(struct lpl_result, mean_resident);
	MEMBER(struct lpl_result, timed);
	MEMBER(struct lpl_result, exact);
	printf("_CHOICE_SIZE %d\n_NUMBERS_COUNTED %d\n_NEED_EVENTS %d\n", LPL_CHOICE_SIZE,
	       LPL_NUMBERS_COUNTED, LPL_NEED_EVENTS);
	printf("READ %d\nWRITE %d\nFETCH %d\nWALK_READ %d\nWALK_WRITE %d\n", LPL_READ, LPL_WRITE,
	       LPL_FETCH, LPL_WALK_READ, LPL_WALK_WRITE);
	printf("USER %d\nSECOND %d\nPAGED %d\nSYNTHETIC %d\n", LPL_USER, LPL_SECOND, LPL_PAGED,
	       LPL_SYNTHETIC);
	printf("FOR_READ %d\nFOR_WRITE %d\nFOR_FETCH %d\nACCESSED %d\nDIRTY %d\n", LPL_FOR_READ, LPL_FOR_WRITE,
	       LPL_FOR_FETCH, LPL_ACCESSED, LPL_DIRTY);
	return 0;
}
