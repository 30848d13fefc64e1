/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Signals that end a run; see signals.cc. */
#ifndef LAPLACE_SIGNALS_H
#define LAPLACE_SIGNALS_H

/* Before Bochs sets any handler: which signals are ignored, by who started us. */
void laplace_signals_note(void);
/* From here on they end the run; before threads are started.  False: no thread for them. */
bool laplace_signals_take(bool debugger);
/* One came: the trace is to be closed. */
bool laplace_signals_stop(void);
/* It is being closed: nobody has to be stopped any more. */
void laplace_signals_heeded(void);
/* Nobody waits for them any more; they stay blocked, for who waits next.  True: one came. */
bool laplace_signals_leave(void);

#endif
