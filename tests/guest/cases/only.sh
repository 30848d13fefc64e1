# shellcheck shell=bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# Some of the references alone, chosen before they are reduced: the same as what is chosen of every
# reference afterwards, and as exact once they are reduced.  Where LONG=yes, half of the choices more.
export LAPLACE_DATADIR=$SRCDIR LAPLACE_BOCHS=$BUILDDIR/build/bochs/laplace-bochs
export XDG_CACHE_HOME=$WORK/cache
cd "$WORK" || exit
seq 1 5000 >numbers
cat >script <<'END'
#!/bin/sh
gzip -c numbers | wc -c
sort -r numbers | tail -n 1
END
chmod +x script

# Windows end where a recording is flushed, which `laplace run` has done every so many instructions: here never, for
# what is reduced afterwards has no such ends.
cat >unflushed <<END
#!/bin/bash
exec "$LAPLACE_BOCHS" "\${@/flush=1000000000i/flush=off}"
END
chmod +x unflushed

in_long() {
	[ "${LONG:-}" = yes ]
}

run() { # NAME OPTION...
	local name=$1
	shift
	LAPLACE_BOCHS=$WORK/unflushed "$LAPLACE" run -q --kernel "$BUILDDIR/build/kernel" -O -o "$name.lpl" "$@" \
		-- ./script numbers >"$name.stdout" 2>"$name.stderr" || fail "$name: $(cat "$name.stderr")"
	verify "$name.lpl"
}

stream() { # TRACE OPTION...: its records, as they are printed
	"$LAPLACE" cat --events "$@" | sha256sum
}

sizes=64,65,80,128,256,512,1024
curve() { # TRACE OPTION...: faults and ratios; how many references are kept is another matter
	"$LAPLACE" sim -p lru,opt -s $sizes "$@" | cut -d, -f 1,2,4-
}

counts() { # TRACE: how many of each type, kept and before
	"$LAPLACE" info "$1" | sed -n '/^references/,/^events/p'
}

expect_equal() { # WHAT ONE OTHER
	[ "$2" = "$3" ] || fail "$1: $2, and not $3"
}

run all -r none

# Every reference of a process, with and without the windows that others are reduced in.
run gzip --only process:gzip -r none
"$LAPLACE" reduce -m none --process gzip -o chosen.lpl all.lpl >reduce.log
expect_equal "every reference of gzip" "$(stream gzip.lpl)" "$(stream chosen.lpl)"
expect_equal "how many they are" "$(counts gzip.lpl)" "$(counts chosen.lpl)"
run gzip-sad --only process:gzip
expect_equal "the curve of gzip" "$(curve gzip-sad.lpl)" "$(curve all.lpl --process gzip)"
expect_line <("$LAPLACE" info gzip-sad.lpl) 'only +process:gzip$'
# ... of all that a shell started, and it
sizes=128,130,200,1024
if in_long; then
	run family --only process:script+children -r sad:128
	expect_equal "the curve of the script and its children" "$(curve family.lpl)" \
		"$(curve all.lpl --process script --children)"
	[ "$("$LAPLACE" info --json family.lpl | tr -d ' \n' | sed 's/.*"before":\([0-9]*\),"kept_share".*/\1/')" = \
		"$("$LAPLACE" cat all.lpl --process script --children | wc -l)" ] || fail "the family's references are not counted"
fi
# Canonical pages of it are as exact.
"$LAPLACE" merge --format canonical -o canonical-sad.lpl gzip-sad.lpl >merge.log
"$LAPLACE" merge --format canonical -o canonical.lpl gzip.lpl >>merge.log
expect_equal "the canonical curve of gzip" "$(curve canonical-sad.lpl)" "$(curve canonical.lpl)"

# What windows do not distinguish is chosen of every reference, and reduced afterwards.
run user --only process:sort+user
"$LAPLACE" reduce -m window:64+sad:64 --process sort --user -o chosen.lpl -O all.lpl >>reduce.log
expect_equal "what sort referenced in user mode" "$(stream user.lpl)" "$(stream chosen.lpl)"
expect_equal "how much that was" "$(counts user.lpl)" "$(counts chosen.lpl)"
if in_long; then
	run writes --only type:write+range:0:800000000000 -r sad:64
	"$LAPLACE" reduce -m window:64+sad:64 --type write --range 0:800000000000 -o chosen.lpl -O all.lpl >>reduce.log
	expect_equal "writes to programs' addresses" "$(stream writes.lpl)" "$(stream chosen.lpl)"
fi

if in_long; then
	# A time of the guest's since the recording began, of all that ran then; and the same since power-on.
	run moments --only from:seconds:0.1+to:exec:sort
	"$LAPLACE" reduce -m window:64+sad:64 --from seconds:0.1 --to exec:sort -o chosen.lpl -O all.lpl >>reduce.log
	expect_equal "what was made between two moments" "$(stream moments.lpl)" "$(stream chosen.lpl)"
	[ "$("$LAPLACE" cat moments.lpl | wc -l)" -gt 1000 ] || fail "hardly anything was made between two moments"
fi

# In segments: the choice goes on from one to the next.
raw=$(known none)
recorded only-cut known --reduce none --start off --only user --segment instructions:1M
[ -e only-cut.000003.lpl ] || fail "hardly a segment"
"$LAPLACE" reduce -m none --user -o chosen.lpl -O "$raw" >>reduce.log
"$PROGRAMS/compare-traces" chosen.lpl only-cut.lpl || fail "in segments other references are chosen"
verify only-cut.lpl

# Nobody is called so; what cannot be.
record only-nobody known --reduce sad:64 --start off --only process:nobody || fail "$(said only-nobody.log)"
"$LAPLACE" run --kernel "$BUILDDIR/build/kernel" --only process:nobody -O -o nobody.lpl -- true 2>nobody.stderr
expect_line nobody.stderr 'no reference matched what was chosen'
expect_line only-nobody.log 'no reference matched what was chosen: the trace holds no references'
verify only-nobody.lpl
refused() { # WHY OPTION...
	local why=$1
	shift
	rm -f only-refused.lpl
	if record only-refused known "$@"; then
		fail "$*: was taken"
	fi
	expect_line only-refused.log "$why"
	[ ! -e only-refused.lpl ] || fail "$*: left a trace"
}
refused "'gzip' is none of process:NAME" --only gzip
refused 'a process or a task is missing' --only children+user
refused 'checkpoint=: it does not hold which tasks are chosen' --only process:x --checkpoint on
refused 'with kernel=none what runs is not known' --only task:x --kernel none
