/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A record of the guest's kernel goes into the trace; and recording may begin with it, end after
 * it, or be asked for by it.  (How it is found, and whether it holds, is watch.cc's.)
 */
#include "bochs.h"

#include "checkpoint.h"
#include "conditions.h"
#include "duties.h"
#include "guest_record.h"
#include "option.h"
#include "recorder.h"
#include "report.h"
#include "snapshot.h"
#include "stream.h"
#include "time_windows.h"

static void control(const struct kernel_trace_record *r)
{
	switch (r->arg[KTR_CONTROL_REQUEST]) {
	case KTR_CONTROL_START:
		laplace_want(true);
		break;
	case KTR_CONTROL_STOP:
		laplace_want(false);
		break;
	case KTR_CONTROL_FLUSH:
		laplace_flush();
		break;
	case KTR_CONTROL_END:
		laplace.watch.end_seen = true;
		break;
	case KTR_CONTROL_FAIL:
		laplace.watch.fail_seen = true;
		break;
	case KTR_CONTROL_ROTATE:
		laplace_request(LAPLACE_WANTS_ROTATION);
		break;
	case KTR_CONTROL_CHECKPOINT:
		laplace_request(LAPLACE_WANTS_CHECKPOINT);
		break;
	case KTR_CONTROL_READY:
		laplace_guest_is_ready();
		break;
	case KTR_CONTROL_QUIT:
		laplace_end_run("clean", "by the guest");
	default:
		laplace.watch.malformed++;
		laplace_complain("the guest asked for control %llu, which does not exist",
				 (unsigned long long)r->arg[KTR_CONTROL_REQUEST]);
	}
}

void laplace_take_record(const struct kernel_trace_record *record)
{
	laplace_snapshot_keep(record);
	laplace_time_windows_before(record);
	laplace_conditions_before(record);
	if (record->tag == KTR_MARK && laplace_option.start == LAPLACE_START_MARK)
		laplace_want(true);
	laplace_emit_event(record);
	if (record->tag == KTR_CONTROL)
		control(record);
	laplace_conditions_after(record);
	laplace_time_windows_look();
}
