/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Tracing in Bochs' window: TRACE in the status bar is lit while it is recorded, and
 * Ctrl + Scroll Lock switches that, as the debugger's `laplace on' and `laplace off' do.
 *
 * A key, for Bochs has no room for one button more.  It asks a second keyboard first, which is
 * there for USB; this Bochs is built without, so the place is free.  All that it is asked goes on
 * to the machine's own keyboard, but for Scroll Lock with Ctrl, of which the guest gets nothing.
 *
 * Windows of time may switch thousands of times a second, so the status bar does not show each:
 * a timer of ours, which changes nothing in the machine, looks now and then.
 */
#include "bochs.h"
#include "iodev/iodev.h"
#include "gui/gui.h"
#include "gui/siminterface.h"
#include "param_names.h"
#include "pc_system.h"

#include <cstring>

#include "screen.h"
#include "stream.h"
#include "time_windows.h"

static const Bit64u LOOK = 10000000;	/* cycles: a tenth of a second, about */

static struct {
	int item;			/* of the status bar; below 0: there is no room */
	bool ready;
	bool control[2];		/* the Ctrl keys that are held down */
} screen;

/* ---- the key ---- */

static void take_keyboard(void);

static bool key(void *, Bit32u code)
{
	const bool pressed = !(code & BX_KEY_RELEASED);

	switch (code & ~BX_KEY_RELEASED) {
	case BX_KEY_CTRL_L:
		screen.control[0] = pressed;
		return false;
	case BX_KEY_CTRL_R:
		screen.control[1] = pressed;
		return false;
	case BX_KEY_SCRL_LOCK:
		if (!screen.control[0] && !screen.control[1])
			return false;
		if (pressed)
			laplace_want_soon(!laplace_is_wanted());
		return true;
	default:
		return false;
	}
}

/* How much the keyboard holds that has not been read: the machine's own. */
static Bit8u held(void *)
{
	Bit8u elements;

	bx_devices.unregister_removable_keyboard(&screen);
	elements = bx_devices.kbd_get_elements();
	take_keyboard();
	return elements;
}

static void take_keyboard(void)
{
	bx_devices.register_removable_keyboard(&screen, key, held, 0);
}

/* ---- the status bar ---- */

static void look(void *)
{
	if (!screen.ready) {		/* the window is there by now */
		screen.item = bx_gui->register_statusitem("TRACE");
		take_keyboard();
		screen.ready = true;
	}
	if (screen.item >= 0)
		bx_gui->statusbar_setitem(screen.item, laplace.state != LAPLACE_OFF);
}

void laplace_screen_begin(void)
{
	const char *library = SIM->get_param_enum(BXPN_SEL_DISPLAY_LIBRARY)->get_selected();

	if (strcmp(library, "nogui"))
		bx_pc_system.register_timer_ticks(NULL, look, LOOK, true, true, "laplace.screen");
}
