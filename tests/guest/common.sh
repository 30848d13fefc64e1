# SPDX-License-Identifier: LGPL-2.1-or-later
# shellcheck shell=bash disable=SC2034 # the cases use what is set here
# What the cases of tests/guest share.  `run` sets and exports:
#
#	SRCDIR, BUILDDIR	the sources, the build
#	IMAGE			images of the workloads: IMAGE/NAME.bochsrc
#	WORK			an empty directory that the cases share, where one
#				finds what another recorded
#
# A case is a bash script under `set -eu -o pipefail`.  Its last line of output
# tells why it failed; status 77 skips it.

LAPLACE=$BUILDDIR/laplace/laplace
BOCHS=$BUILDDIR/build/bochs/laplace-bochs
PROGRAMS=$BUILDDIR/tests/bin
GUEST=$SRCDIR/tests/guest
export LAPLACE_BOCHS=$BOCHS

# Where the exerciser puts things (disk-images/exerciser.c, beacon.h).
export HOMES_START=200000000000 HOMES_END=250000000000
export BEACON_START=100000000000 BEACON_END=100000040000

fail() {
	echo "$*"
	exit 1
}

skip() {
	echo "$*"
	exit 77
}

# Record WORKLOAD as WORK/NAME.lpl with the given options of `laplace record`, and
# unless they say so with no flush, for runs are compared record by record; its messages go to WORK/NAME.log, the guest's to WORK/NAME.serial.
record() { # NAME WORKLOAD [OPTION...]
	local name=$1 workload=$2 status=0
	shift 2
	rm -f "$IMAGE/$workload.serial"
	nice "$LAPLACE" record --overwrite --progress=never --flush off -o "$WORK/$name.lpl" "$@" \
		"$IMAGE/$workload.bochsrc" >"$WORK/$name.log" 2>&1 </dev/null || status=$?
	: >"$WORK/$name.serial"
	if [ -e "$IMAGE/$workload.serial" ]; then
		tr -d '\r' <"$IMAGE/$workload.serial" >"$WORK/$name.serial"
	fi
	return $status
}

# The last thing that we said in a log, where Bochs and the guest speak, too.
said() { # LOG
	grep -a '^laplace' "$1" | tail -n 1
}

# The same once for all cases, and it has to end well.
recorded() { # NAME WORKLOAD [OPTION...]
	if [ -e "$WORK/$1.lpl" ]; then
		return
	fi
	record "$@" || fail "recording $1 failed: $(said "$WORK/$1.log")"
	grep -qx 'LAPLACE-END ok' "$WORK/$1.serial" || fail "$1: the guest did not end well"
}

# The workload whose references are known, from laplace-ctl start to stop.
known() { # REDUCTION: prints the trace's path
	recorded "known-$1" known --reduce "$1" --start off >&2
	echo "$WORK/known-$1.lpl"
}

verify() { # TRACE
	"$LAPLACE" verify "$1" >"$WORK/verify.log" 2>&1 ||
		fail "$1 does not verify: $(tail -n 1 "$WORK/verify.log")"
}

# What a program said matches an extended regular expression.
expect_line() { # FILE REGEX
	grep -Eqa -- "$2" "$1" || fail "no line like '$2' in $1, but: $(tail -n 3 "$1" | tr '\n' '|')"
}

# A program's references to its region (region.h) are those that stand beside its instructions, in
# that order; they are in WORK/NAME.found.
expect_region() { # NAME TRACE
	awk '
		match($0, /\/\*( [rw][0-9]+ [0-9a-f]+)+ \*\/$/) {
			n = split(substr($0, RSTART + 3, RLENGTH - 6), word, " ")
			for (i = 1; i < n; i += 2)
				print substr(word[i], 1, 1), substr(word[i], 2), "3000" word[i + 1]
		}' "$GUEST/$1.S" >"$WORK/$1.expected"
	"$PROGRAMS/inspect-trace" references "$2" 30000000 3000a000 |
		awk -v name="$1" '$2 == name { print ($5 == "u" ? "" : "kernel ") $6, $7, $8 }' >"$WORK/$1.found"
	expect_same "what $1 refers to" "$WORK/$1.expected" "$WORK/$1.found"
}

# Two files, line by line.
expect_same() { # WHAT EXPECTED FOUND
	cmp "$2" "$3" || {
		diff "$2" "$3" | head -n 10 || true
		fail "$1: $3 is not $2"
	}
	[ -s "$2" ] || fail "$1: $2 is empty, and proves nothing"
}

# A machine that does nothing for ever: its whole program is the given bytes.
endless() { # NAME BYTES
	# shellcheck disable=SC2059 # the bytes are a format
	{ printf "$2"; head -c 510 /dev/zero; } | head -c 510 >"$WORK/$1.img"
	printf '\125\252' >>"$WORK/$1.img"
	truncate -s 1474560 "$WORK/$1.img"
	sed -e '/^ata/d' -e 's/^boot:.*/boot: floppy/' -e '/^com1/d' \
		-e "s|^log:.*|log: \"$WORK/$1.bochslog\"|" "$IMAGE/boot.bochsrc" >"$WORK/$1.bochsrc"
	echo "floppya: 1_44=\"$WORK/$1.img\", status=inserted" >>"$WORK/$1.bochsrc"
}
