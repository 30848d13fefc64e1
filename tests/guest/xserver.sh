# SPDX-License-Identifier: LGPL-2.1-or-later
# shellcheck shell=bash
# A machine's window where nobody looks: an X server without a screen (Xvfb), what it shows,
# and keys that are pressed there.  For cases of this directory, and docs/window-picture.
#
# Who uses it has PROGRAMS (where press-keys is), LAPLACE (the command), a function fail() that
# tells and exits, and ends the server: `kill "$XSERVER"`.

# Of a keyboard as X has it on Linux.
export CONTROL=37 U=30 SCROLL_LOCK=78

# Sets XSERVER (its process), XSERVER_NUMBER, and XSERVER_SCREEN: the picture, as xwd makes them.
start_xserver() { # DIR
	mkdir -p "$1"
	rm -f "$1/number"
	Xvfb -displayfd 3 -screen 0 1024x768x24 -fbdir "$1" -nolisten tcp 3>"$1/number" >"$1/log" 2>&1 &
	XSERVER=$!
	while [ ! -s "$1/number" ]; do
		kill -0 "$XSERVER" || fail "Xvfb does not start: $(tail -n 1 "$1/log")"
		sleep 0.1
	done
	XSERVER_NUMBER=$(cat "$1/number")
	XSERVER_SCREEN=$1/Xvfb_screen0
}

# Record MACHINE in a window, with the given options.  Sets FRONT, the process, and STATUS, a file.
record_in_window() { # TRACE MACHINE LOG OPTION...
	local trace=$1 machine=$2 log=$3
	shift 3
	STATUS=$trace.status
	rm -f "$trace"* "$STATUS"
	env -u SDL_VIDEODRIVER DISPLAY=":$XSERVER_NUMBER" \
		"$LAPLACE" record --progress=never --flush 1s -o "$trace" --status-file "$STATUS" --status-every 1 \
		"$@" "$machine" 'display_library: sdl2' >"$log" 2>&1 </dev/null &
	FRONT=$!
}

# The last status has this.  It comes once a second, so their number tells a machine that stands
# still from one that is slow.
status_has() { # PATTERN
	tail -n 1 "$STATUS" 2>/dev/null | grep -Eq "\"state\":\"running\".*$1"
}
wait_for() { # PATTERN
	local lines
	until status_has "$1"; do
		kill -0 "$FRONT" || fail "it ended before its status had $1"
		lines=$(grep -c "" "$STATUS" 2>/dev/null || :)
		[ "${lines:-0}" -lt 300 ] || fail "its status never had $1"
		sleep 0.2
	done
}

press() { # KEYCODE...: held down together
	"$PROGRAMS/press-keys" "$XSERVER_NUMBER" "$@" || fail "the keys cannot be pressed"
}

# Type a line at a shell, until the status has this: a keyboard forgets what is typed faster than
# it is read, and how fast that is depends on the host.
type_until() { # PATTERN LINE
	local try
	for try in 1 2 3 4 5 6 7 8; do
		press "$CONTROL" "$U"
		"$PROGRAMS/press-keys" "$XSERVER_NUMBER" --type "$2" || fail "'$2' cannot be typed"
		for _ in $(seq $((try * 10))); do
			! status_has "$1" || return 0
			kill -0 "$FRONT" || fail "it ended when '$2' was typed"
			sleep 0.5
		done
	done
	fail "'$2' was typed $try times, and its status never had $1"
}

# The same, until there is no machine any more.
type_to_the_end() { # LINE
	for _ in 1 2 3 4 5 6 7 8; do
		press "$CONTROL" "$U"
		"$PROGRAMS/press-keys" "$XSERVER_NUMBER" --type "$1" || fail "'$1' cannot be typed"
		for _ in $(seq 40); do
			kill -0 "$FRONT" 2>/dev/null || return 0
			sleep 0.5
		done
	done
	fail "'$1' was typed, and the machine has not ended"
}

# Is a lamp of the status bar lit?  Nothing else is green (0x00ff00).  TRACE it is while no disk is
# read and the keyboard's own lamps are dark.
lit() {
	local header green
	header=$(od -An -tu4 --endian=big -N 4 "$XSERVER_SCREEN")
	green=$(od -An -v -tx4 -w4 --endian=little -j "$((header))" "$XSERVER_SCREEN" | grep -c 00ff00 || :)
	[ "$green" -gt 0 ]
}

# The same picture for two seconds; a cursor that blinks is not waited for for ever.
wait_until_it_rests() {
	local before='' now
	for _ in $(seq 10); do
		now=$(cksum <"$XSERVER_SCREEN")
		[ "$now" != "$before" ] || return 0
		before=$now
		sleep 2
	done
}

# ---- for cases alone ----

needs_window() {
	command -v Xvfb >/dev/null || skip "there is no Xvfb"
	grep -aq libSDL2 "$BOCHS" || skip "laplace-bochs was built without SDL2"
}

# How tracing was switched, by the events of the trace.
expect_switched() { # TRACE "1 0 ... "
	local switched
	switched=$("$LAPLACE" cat --events "$1" |
		awk '$1 == "E" && $2 == "tracing" { split($9, on, ","); printf "%s ", on[1] }')
	[ "$switched" = "$2" ] || fail "tracing was switched $switched, not $2"
}
