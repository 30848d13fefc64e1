/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Signals that steer a run, or end it; see signals.cc. */
#ifndef LAPLACE_SIGNALS_H
#define LAPLACE_SIGNALS_H

/* Before Bochs sets any handler: which signals were ignored when we were started. */
void laplace_signals_note(void);
/* From here on they do so; before threads are started.  False: no thread for them. */
bool laplace_signals_take(bool debugger);
/* One was caught: the trace is to be closed. */
bool laplace_signals_stop(void);
/* What others wanted since the last call (enum laplace_wants). */
unsigned laplace_signals_want(void);
/* It is being closed: no thread has to be stopped any more. */
void laplace_signals_heeded(void);
/* No thread waits for them any more; they stay blocked, for the next wait.  True: one was. */
bool laplace_signals_leave(void);

#endif
