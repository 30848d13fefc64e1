# shellcheck shell=bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# `laplace run`: a program of this machine does in the guest what it does here, its trace is
# whole and has it, and repeats; and what cannot be run is told.
export LAPLACE_DATADIR=$SRCDIR LAPLACE_BOCHS=$BUILDDIR/build/bochs/laplace-bochs
export XDG_CACHE_HOME=$WORK/cache
unset LANGUAGE TZ LD_LIBRARY_PATH
for name in "${!LC_@}"; do
	unset "$name"
done
export LANG=C.UTF-8

# Most of it is `make check-long's: each run boots a guest.
in_long() {
	[ "${LONG:-}" = yes ]
}

run() { # NAME OPTION...: sets `status`; what is said is in NAME.stdout and .stderr
	local name=$1
	shift
	status=0
	"$LAPLACE" run --kernel "$BUILDDIR/build/kernel" -O -o "$WORK/$name.lpl" "$@" \
		>"$WORK/$name.stdout" 2>"$WORK/$name.stderr" || status=$?
}

expect_status() { # STATUS NAME
	[ "$status" = "$1" ] || fail "$2: status $status, expected $1: $(tail -n 1 "$WORK/$2.stderr")"
}

# ---- as it would run here ----

directory="$WORK/a directory"
mkdir -p "$directory"
cd "$directory" || exit
seq 1 20000 >numbers
cat >script <<'END'
#!/bin/sh
# What a program sees of how it is run; and it leaves something running.
printf '<%s>\n' "$0" "$@"
pwd
umask
id -u
echo "$WHO, $HOME, ${NOBODY-not set}"
env | grep -c '^LAPLACE'
wc -l <numbers
sed 's/^/in: /'
echo complaint >&2
sleep 1000 &
exit 7
END
chmod +x script
export NOBODY=nothing

here() { # as laplace run does it: little of the environment
	env -i PATH="$PATH" HOME="$HOME" LANG="$LANG" WHO='an e x=y' "$@"
}

arguments=('' 'two words' "quote's \"\$x\" *" $'line\nend' ./numbers)
status=0
printf 'one\ntwo' >input
here ./script "${arguments[@]}" <input >"$WORK/here.stdout" 2>"$WORK/here.stderr" || status=$?
pkill -x -f 'sleep 1000' || true
[ $status = 7 ] || fail "the script ends with $status here"
run script -q --env 'WHO=an e x=y' -- ./script "${arguments[@]}" <input
expect_status 7 script
expect_same "what it prints" "$WORK/here.stdout" "$WORK/script.stdout"
expect_same "what it complains of" "$WORK/here.stderr" "$WORK/script.stderr"
verify "$WORK/script.lpl"

# ---- files ----

run gzip -q --keep numbers.gz -- gzip -k numbers
expect_status 0 gzip
gzip -n -c numbers | gunzip | cmp - <(gunzip -c numbers.gz) || fail "what gzip made is not what it was given"
verify "$WORK/gzip.lpl"
[ ! -s "$WORK/gzip.stdout" ] || fail "--quiet is not"
"$LAPLACE" report --format text "$WORK/gzip.lpl" >"$WORK/gzip.report" 2>"$WORK/gzip.log"
# of the kernel it has booted, which has listed its symbols
expect_line "$WORK/gzip.report" '^  kernel +ffffffff8[0-9a-f]{4}000 [a-zA-Z_][a-zA-Z0-9_.]*[+][0-9a-f]+ '
[ ! -s "$WORK/gzip.log" ] || fail "report: $(cat "$WORK/gzip.log")"
grep -q '\bgzip\b' "$WORK/gzip.report" || fail "the report does not tell of gzip"
grep -q 'directory/numbers' "$WORK/gzip.report" || fail "the report does not name its file"
# all that it did, and little else: its exec is there, and no other program's
"$LAPLACE" cat --events "$WORK/gzip.lpl" | awk '/^E exec / { print $NF }' | sort -u >"$WORK/execs"
grep -q 'gzip$' "$WORK/execs" || fail "gzip's exec is not in the trace: $(cat "$WORK/execs")"
"$LAPLACE" merge --audit "$WORK/gzip.lpl" >"$WORK/gzip.audit" || fail "the books do not balance: $(tail -n 1 "$WORK/gzip.audit")"

mv "$WORK/gzip.lpl" "$WORK/gzip-first.lpl"
rm numbers.gz
run gzip --keep numbers.gz --progress=always --status-file status.json -- gzip -k numbers
cmp "$WORK/gzip-first.lpl" "$WORK/gzip.lpl" || fail "another run of the same leaves another trace"
expect_line "$WORK/gzip.stderr" 'gzip.lpl has the trace'
# How it goes, where there is no terminal.
expect_line "$WORK/gzip.stderr" '[0-9].* instructions'
expect_line status.json '^\{.*"instructions"'

# Opened again, its output goes on.
printing='echo a; echo b >/dev/stdout; echo c; echo d >&2; echo e >/dev/stderr'
run again -q -- sh -c "$printing"
[ "$(xargs <"$WORK/again.stdout"), $(xargs <"$WORK/again.stderr")" = 'a b c, d e' ] ||
	fail "opened again: $(cat "$WORK/again.stdout" "$WORK/again.stderr")"
# With --events reclaim the trace has what the kernel reclaims from a program with too little memory, and without it
# has nothing of that.
run pressed -q -r none --events reclaim --usable-memory 32 -- sh -c 'head -c 40000000 /dev/zero >f; cat f >/dev/null'
expect_status 0 pressed
"$LAPLACE" regret "$WORK/pressed.lpl" >"$WORK/pressed.regret" || fail "of --events reclaim there is no regret"
expect_line "$WORK/pressed.regret" ' *[0-9]+ .* /.*/a directory/f'
rm "$WORK/pressed.lpl"
! "$LAPLACE" cat --events "$WORK/gzip-first.lpl" | grep -qE '^E (reclaim|refault) ' ||
	fail "without --events reclaim there are events of reclaim"
if in_long; then
	# The same trace while it is made, with all that is printed on standard error.
	"$LAPLACE" run --kernel "$BUILDDIR/build/kernel" -q -o - -- sh -c "$printing" 2>"$WORK/stream.stderr" | cmp - "$WORK/again.lpl" ||
		fail "what streams is not the trace: $(tail -n 1 "$WORK/stream.stderr")"
	[ "$(sort "$WORK/stream.stderr" | xargs)" = 'a b c d e' ] || fail "beside the stream: $(cat "$WORK/stream.stderr")"
	status=0
	"$LAPLACE" run --kernel "$BUILDDIR/build/kernel" -o - -- true >"$WORK/stream.both" 2>&1 || status=$?
	[ "$status" = 125 ] || fail "into one pipe with what is printed: status $status"
	expect_line "$WORK/stream.both" 'standard output is for the trace alone, and standard error goes there, too'
	# A full disk is the program's to know, and how it ended is reported all the same; and what it prints
	# is as long as it is.
	run full -q --disk 1 -- sh -c 'head -c 200000000 /dev/zero >f; echo "rc $?"; head -c 50000000 /dev/zero; echo end; exit 3'
	expect_status 3 full
	{ echo 'rc 1' && head -c 50000000 /dev/zero && echo end; } | cmp - "$WORK/full.stdout" ||
		fail "of 50000009 bytes $(wc -c <"$WORK/full.stdout") came"
	# More than it may print ends it, with a reason; what it had printed is there.
	run most -q --print-limit 1 -- seq 1 1000000
	expect_status 125 most
	expect_line "$WORK/most.stderr" 'had printed more than 1 MiB; --print-limit allows more'
	[ "$(stat -c %s "$WORK/most.stdout")" -ge 1000000 ] || fail "of 1 MiB $(wc -c <"$WORK/most.stdout") bytes came"
	cmp -n 1000000 "$WORK/most.stdout" <(seq 1 1000000) || fail "what it printed is not what came"
	# What is no file is not brought back as one; what is executable stays so.
	run kinds -q --keep made --keep link -- sh -c 'mkdir made; ln -s made link'
	expect_status 125 kinds
	expect_line "$WORK/kinds.stderr" '--keep made: what the program left is no file but a directory'
	if [ -e made ] || [ -e link ]; then
		fail "a directory or a link was brought back"
	fi
	mkdir away
	run mode -q --seed 5 --keep made --keep away/made -- sh -c 'echo x >made; chmod 6750 made; echo y >away/made; od -An -N8 -tx1 /dev/random'
	[ "$(stat -c %a made)" = 750 ] || fail "the mode of what was brought back: $(stat -c %a made)"
	[ "$(cat away/made)" = y ] || fail "in another directory: $(cat "$WORK/mode.stderr")"
	rm -r made away
	# How long a file is, is the guest's to say; and what is a hole there is one here.
	run long -q --keep made --keep holes -- sh -c 'truncate -s 20G made; echo x >holes; truncate -s 200M holes; echo done'
	expect_status 125 long
	expect_line "$WORK/long.stderr" 'made: is 21474836480 bytes long, more than all of the guest.s disk'
	[ "$(cat "$WORK/long.stdout")" = 'done' ] || fail "what was printed is lost: $(cat "$WORK/long.stderr")"
	[ ! -e made ] || fail "a part of a file was brought back"
	[ "$(stat -c %s holes)" = 209715200 ] || fail "a file with holes is not as long as it was"
	[ "$(du -k holes | cut -f 1)" -lt 1000 ] || fail "holes were filled: $(du -k holes)"
	[ "$(head -n 1 holes | tr -d '\0')" = x ] || fail "a file with holes is not what it was"
	rm holes
	run closed -q -- wc -c <&-
	expect_status 0 closed
	[ "$(cat "$WORK/closed.stdout")" = 0 ] || fail "a closed standard input: $(cat "$WORK/closed.stdout")"
	# A directory that is reached by a link; and an option that is given twice.
	ln -s "$PWD" "$WORK/linked"
	# shellcheck disable=SC2016 # the guest's
	(cd "$WORK/linked" && run linked -q --env HOME=/zzz --env A=1 --env A=2 -- sh -c 'wc -l <numbers; echo "$HOME $A"' numbers </dev/null)
	[ "$(xargs <"$WORK/linked.stdout")" = '20000 /zzz 2' ] || fail "by a link: $(cat "$WORK/linked.stdout" "$WORK/linked.stderr")"
	rm "$WORK/linked"
fi
if in_long; then
	# What neither a package nor an argument names: a module that is imported, a file that is opened.
	echo 'word = "beside"' >beside.py
	echo named >named
	cat >observed <<'END'
#!/usr/bin/python3
import beside, sys
print(beside.word, open("na" + "med").read().strip(), sys.stdin.read().split())
END
	chmod +x observed
	run observed -q --observe="$WORK/observed.list" -- ./observed <input
	expect_status 0 observed
	[ "$(cat "$WORK/observed.stdout")" = "beside named ['one', 'two']" ] ||
		fail "--observe: $(cat "$WORK/observed.stdout" "$WORK/observed.stderr")"
	expect_line "$WORK/observed.list" '.*/a directory/named'
	"$LAPLACE" reproduce --kernel "$BUILDDIR/build/kernel" "$WORK/observed.lpl" >"$WORK/observed.plan" <input ||
		fail "what was observed: $(cat "$WORK/observed.plan")"
	grep -q -- "--take=[^ ]*/a directory/named" "$WORK/observed.plan" || fail "what was observed is not in the recipe"
	# Whatever the environment, --clear-env has its own.
	mkdir "$WORK/temporary"
	# What it has instead of entropy is the same, and there at once.
	# shellcheck disable=SC2016 # the guest's
	random='env; read -r began _ </proc/uptime; od -An -N8 -tx1 /dev/random >&2; read -r ended _ </proc/uptime; echo "$began $ended" >&2'
	run clear -q --clear-env --env B=2 -- sh -c "$random" </dev/null
	expect_status 0 clear
	awk 'NF == 2 { exit $2 - $1 > 0.5 }' "$WORK/clear.stderr" || fail "random bytes took long: $(cat "$WORK/clear.stderr")"
	[ "$(sort "$WORK/clear.stdout" | xargs -d '\n')" = "B=2 HOME=/ PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin PWD=$PWD TERM=dumb" ] ||
		fail "--clear-env: $(cat "$WORK/clear.stdout" "$WORK/clear.stderr")"
	TERM=another TMPDIR=$WORK/temporary TZ=Europe/Berlin LC_ALL=C SHELL=/bin/other \
		run clear-again -q --clear-env --env B=2 -- sh -c "$random" </dev/null
	expect_status 0 clear-again
	expect_same "random bytes of another run" "$WORK/clear.stderr" "$WORK/clear-again.stderr"
	[ "$(wc -w <"$WORK/mode.stdout")" = 8 ] || fail "another seed: $(cat "$WORK/mode.stdout" "$WORK/mode.stderr")"
	! grep -qxF "$(cat "$WORK/mode.stdout")" "$WORK/clear.stderr" || fail "another seed has the same random bytes"
	cmp "$WORK/clear.lpl" "$WORK/clear-again.lpl" || fail "--clear-env: another environment is another trace"
fi
if in_long; then
	# What is not read to its end is no reason to lose a file.
	{
		status=0
		"$LAPLACE" run --kernel "$BUILDDIR/build/kernel" -q -O -o "$WORK/piped.lpl" --keep made \
			-- sh -c 'echo x >made; seq 1 100000' 2>"$WORK/piped.stderr" || status=$?
		echo $status >"$WORK/piped.status"
	} | head -n 1 >/dev/null
	[ -s made ] || fail "a file is lost when what is printed is not read"
	[ "$(cat "$WORK/piped.status")" = 125 ] || fail "what is printed is not read: status $(cat "$WORK/piped.status")"
	expect_line "$WORK/piped.stderr" 'not all that the program prints can be handed on: standard output: Broken pipe'
	rm made

fi
# ---- a root file system ----

mkdir -p root/bin root/etc elsewhere
cp "$(command -v busybox)" root/bin/
ln -s busybox root/bin/sh
# links that lead out of it, where we write
ln -s "$PWD/elsewhere" root/.laplace
ln -s "$PWD/elsewhere" root/var
# nor are others of its name looked for
mkdir -p decoy/root
export CDPATH=$PWD/decoy
run root -q --root root --keep made -- sh -c 'busybox id -u; busybox pwd; echo kept >made; exit 3'
unset CDPATH
expect_status 3 root
[ "$(xargs <"$WORK/root.stdout")" = '0 /' ] || fail "in a root: $(cat "$WORK/root.stdout")"
[ "$(cat made)" = kept ] || fail "what was made in a root is lost"
if in_long; then
	tar -C root -czf root.tgz .
	run archive -q --root root.tgz -- /bin/busybox cat /.laplace/program
	expect_status 0 archive
	grep -qa busybox "$WORK/archive.stdout" || fail "an archive's program did not run"
fi
[ -z "$(ls elsewhere)" ] || fail "a link of a root file system was followed"
verify "$WORK/root.lpl"

# One that is root can end the machine, and write what it likes to the console and to every disk; but how
# its program ended it cannot say in our place, nor move the cursor of whoever reads of it.
cat >root/forge <<'END'
printf 'start-program: forged\033[31m\n' >/dev/console
busybox head -c 65536 /dev/zero >/end
# an end with status 0, of no secret
{ busybox head -c 48 /dev/zero; printf '\001\0\0\0'; busybox head -c 460 /dev/zero; } >>/end
for disk in /sys/block/sd*; do
	IFS=: read -r major minor <"$disk/dev"
	busybox mknod /node b "$major" "$minor"
	busybox dd if=/end of=/node bs=512 seek=128 skip=128 2>/dev/null
	busybox rm /node
done
busybox sync
echo b >/proc/sysrq-trigger
busybox sleep 1000
END
run forged --root root -- sh /forge
expect_status 125 forged
expect_line "$WORK/forged.stderr" '^laplace run: the run was not recorded to its end; .*forged.lpl has what was traced until then$'
verify "$WORK/forged.lpl"
expect_line "$WORK/forged.stderr" '^  start-program: forged[?]\[31m$'
! grep -q $'\033' "$WORK/forged.stderr" || fail "the guest speaks to the terminal: $(cat -v "$WORK/forged.stderr")"
rm root/forge

if in_long; then
	# Its links lead where they lead there; of what it has, devices alone are left out.
	mkdir -p links/real links/usr links/opt/dev
	cp root/bin/* links/real/
	ln -s /real links/usr/bin
	echo in >links/opt/dev/file
	[ "$(id -u)" != 0 ] || mknod links/opt/device c 1 3
	tar -C links -cf links.tar .
	run links -q --root links.tar -- sh -c 'busybox cat /opt/dev/file; busybox ls /opt'
	expect_status 0 links
	[ "$(xargs <"$WORK/links.stdout")" = 'in dev' ] || fail "of an archive: $(cat "$WORK/links.stdout" "$WORK/links.stderr")"
fi

# An image of a file system is not unpacked: owners stay, whoever runs this; and of a disk, whose first
# sector has the table of its partitions.
rm root/.laplace root/var
PATH=$PATH:/usr/sbin:/sbin
mke2fs -q -F -t ext4 -d root file-system 20M
debugfs -w -R 'sif /etc uid 4711' file-system 2>/dev/null
run image -q --root file-system --keep made -- sh -c 'busybox stat -c %u /etc; busybox cat; echo changed >made; exit 3' <input
expect_status 3 image
[ "$(xargs <"$WORK/image.stdout")" = '4711 one two' ] || fail "of an image: $(cat "$WORK/image.stdout" "$WORK/image.stderr")"
[ "$(cat made)" = changed ] || fail "what was made in an image is lost"
verify "$WORK/image.lpl"
if in_long; then
	{
		head -c 446 /dev/zero
		# two of Linux: 2048 and 40960 sectors
		printf '\0\0\0\0\203\0\0\0\0\010\0\0\0\010\0\0'
		printf '\0\0\0\0\203\0\0\0\0\020\0\0\0\240\0\0'
		head -c 32 /dev/zero
		printf '\125\252'
	} >partitioned
	dd if=file-system of=partitioned bs=512 seek=4096 status=none
	cp partitioned as-it-was
	run partition -q --root partitioned -- sh -c 'busybox stat -c %u /etc; echo x >/made'
	expect_status 0 partition
	[ "$(cat "$WORK/partition.stdout")" = 4711 ] || fail "of a partition: $(cat "$WORK/partition.stdout" "$WORK/partition.stderr")"
	cmp partitioned as-it-was || fail "the image was changed"
fi

# ---- another machine ----

if in_long; then
	# shellcheck disable=SC2016 # the guest's
	run large -q --memory 3584 --cpu x86-64-v3 -- sh -c 'read -r _ total _ </proc/meminfo; echo "$((total > 3300000))"
		grep -c -w avx2 /proc/cpuinfo'
	expect_status 0 large
	[ "$(xargs <"$WORK/large.stdout")" = '1 1' ] || fail "another machine: $(cat "$WORK/large.stdout" "$WORK/large.stderr")"
	verify "$WORK/large.lpl"
fi

# What its memory cannot hold goes to a disk and comes back, and is told.
# shellcheck disable=SC2016 # the guest's
run swapped -q --with grep --memory 100 --swap 256 -- perl -e '$| = 1; $x = "a" x 24000000; $y = $x; print length($y), "\n";
	system("grep Swap: /proc/$$/smaps_rollup; grep pswpout /proc/vmstat")'
expect_status 0 swapped
[ "$(head -n 1 "$WORK/swapped.stdout")" = 24000000 ] || fail "with swap: $(cat "$WORK/swapped.stderr")"
# What the kernel finds in the page tables of perl while grep looks is what events have recorded by then: lost,
# and neither back nor unmapped; nor lost between the event of an unmapping and the end of the pages.  The kernel's own thread may swap meanwhile, also while the tables are walked, so
# that the number lies between the least and the most of grep's time; perl waits, and brings nothing back.
# What the device was given is less.
"$LAPLACE" cat --events "$WORK/swapped.lpl" | awk '$1 == "E" && $2 ~ /^(exec|exit|swap-out|swap-in|map|unmap|remap)$/' \
	>"$WORK/swapped.events"
awk '
	function number(hex, i, n) {
		for (i = 1; i <= length(hex); i++)
			n = n * 16 + index("123456789abcdef", substr(hex, i, 1))
		return n
	}
	function key(page) { return sprintf("%.0f", page) }	# mawk rounds others
	function map_again(first, last) { for (i in unmapped) if (first < upto[i] && last > unmapped[i]) delete unmapped[i] }
	function is_mapped(page, i) { for (i in unmapped) if (page >= unmapped[i] && page < upto[i]) return 0; return 1 }
	function take(page) { if (!(page in swapped)) { swapped[page]; held++ } }
	function drop(page) { if (page in swapped) { delete swapped[page]; held-- } }
	FNR == NR {
		if ($1 == "Swap:") kept = $2 / 4
		if ($1 == "pswpout") written = $2
		next
	}
	{ split($9, arg, ","); first = number(arg[2]); last = number(arg[3]); to = number(arg[4]) }
	$2 == "exec" && $NF ~ /\/perl$/ { space = arg[3] }
	$2 == "exec" && $NF ~ /\/grep$/ && !grep { grep = arg[1]; grep_runs = 1 }
	$2 == "exit" && arg[1] == grep { grep_runs = 0 }
	$2 == "swap-out" { lost += arg[5] }
	$2 == "swap-in" { back += arg[5] }
	arg[1] == space && $2 == "swap-out" {
		for (i = 0; i < arg[5]; i++) if (is_mapped(first + 4096 * i)) take(key(first + 4096 * i))
	}
	arg[1] == space && $2 == "swap-in" { for (i = 0; i < arg[5]; i++) drop(key(first + 4096 * i)) }
	arg[1] == space && $2 == "map" { map_again(first, last) }
	arg[1] == space && $2 ~ /(un|re)map$/ {
		for (page in swapped) if (page + 0 >= first && page + 0 < last) {
			if ($2 == "remap") moved[key(page - first + to)]
			drop(page)
		}
		for (page in moved) { take(page); delete moved[page] }
		if ($2 == "unmap") { unmapped[++ranges] = first; upto[ranges] = last }
		else map_again(to, to + last - first)
	}
	grep_runs && (least == "" || held < least) { least = held }
	grep_runs && held > most { most = held }
	END {
		print (kept > 0 && kept >= least && kept <= most), (written > 0 && written <= lost)
		print "swap: pages that spaces lost " lost ", that returned " back
		print "pages of perl in swap while grep ran: " least " to " most
	}' "$WORK/swapped.stdout" "$WORK/swapped.events" >"$WORK/swapped.counts"
[ "$(head -n 1 "$WORK/swapped.counts")" = '1 1' ] ||
	fail "what is in swap is not what events say: $(cat "$WORK/swapped.stdout" "$WORK/swapped.counts")"
"$LAPLACE" report --format text "$WORK/swapped.lpl" >"$WORK/swapped.report"
expect_line "$WORK/swapped.report" "^  $(sed -n 2p "$WORK/swapped.counts")$"
"$LAPLACE" merge --audit "$WORK/swapped.lpl" >"$WORK/swapped.audit" ||
	fail "the books of swap do not balance: $(tail -n 1 "$WORK/swapped.audit")"
"$LAPLACE" info "$WORK/swapped.lpl" >"$WORK/swapped.info"
expect_line "$WORK/swapped.info" '^  swap-out +[0-9]'
expect_line "$WORK/swapped.info" '^  swap-in +[0-9]'

# ---- signals, and time ----

run killed -q -- sh -c 'kill -SEGV $$'
expect_status 139 killed
run slow --timeout 2 -- sh -c 'echo begun; while :; do :; done'
expect_status 124 slow
expect_line "$WORK/slow.stderr" "ended after 2 seconds of the guest's time"
[ "$(cat "$WORK/slow.stdout")" = begun ] || fail "what was said before the time was over is lost"
verify "$WORK/slow.lpl"

if in_long; then
	# and what it leaves does not hold it up, however it was started
	run own --timeout 1000 -- sh -c '(sh -c "sleep infinity; :" &); exit 124'
	expect_status 124 own
	! grep -q 'ended after' "$WORK/own.stderr" || fail "a status of the program's own is taken for the end of its time"
	# unless it is to go on; of processes it sees its own, and of memory what was asked for
	# shellcheck disable=SC2016 # the guest's
	run linger --usable-memory 40 --linger 4 -- sh -c '(sh -c "sleep 1; echo later; sleep 1000; echo never" &); echo "pid $$"
		sed -n "s/^MemAvailable: *//p" /proc/meminfo; exit 4'
	expect_status 4 linger
	[ "$(sed -n '1p;3p' "$WORK/linger.stdout" | xargs)" = 'pid 2 later' ] || fail "--linger: $(cat "$WORK/linger.stdout")"
	available=$(sed -n '2s/ .*//p' "$WORK/linger.stdout")
	# some of it the shells have by then, with newer libraries more of it
	[ "$available" -gt 34816 ] || fail "--usable-memory 40: $available kB"
	[ "$available" -le 41984 ] || fail "--usable-memory 40: $available kB"
	expect_line "$WORK/linger.stderr" "of the guest's memory (39|40)\.[0-9] MiB were available to the program"
	verify "$WORK/linger.lpl"
	# forks fail half-way: what they leave is not taken for mappings
	run bomb -q --timeout 2 --memory 96 -- bash -c 'f() { f | f & }; f; sleep 1000'
	expect_status 124 bomb
fi

"$LAPLACE" run --kernel "$BUILDDIR/build/kernel" -o "$WORK/ended.lpl" --control control -- sh -c 'echo begun; while :; do :; done' \
	>"$WORK/ended.stdout" 2>"$WORK/ended.stderr" &
runner=$!
for ((i = 0; i < 6000; i++)); do
	[ ! -s "$WORK/ended.stdout" ] || break
	sleep 0.1
done
# what it prints is there while it runs
[ "$(cat "$WORK/ended.stdout")" = begun ] || fail "nothing is seen of a program that runs: $(cat "$WORK/ended.stderr")"
"$LAPLACE" ctl control status >"$WORK/ended.status" || fail "--control: status $?"
kill -TERM $runner
status=0
wait $runner || status=$?
expect_status 125 ended
expect_line "$WORK/ended.stderr" 'ended by a signal; .*ended.lpl has what was traced'
verify "$WORK/ended.lpl"

# ---- what cannot be ----

refused() { # NAME PATTERN OPTION...
	local name=$1 pattern=$2
	shift 2
	run "$name" "$@"
	expect_status 125 "$name"
	grep -Eq -- "$pattern" "$WORK/$name.stderr" || fail "$name: $(cat "$WORK/$name.stderr")"
	[ ! -e "$WORK/$name.lpl" ] || fail "$name: left a trace"
}

refused nothing 'no program is named' --
refused absent 'no-such-program: there is no such program' -- no-such-program
refused absent 'gone: there is no such program' -- ./gone
refused data 'numbers is not an executable file' -- ./numbers
printf '#!/no/such/shell\n' >foreign
chmod +x foreign
refused foreign 'wants to be run by /no/such/shell, which is not here' -- ./foreign
# an ELF header of AArch64
{ printf '\177ELF\002\001\001' && head -c 9 /dev/zero && printf '\002\000\267\000' && head -c 44 /dev/zero; } >foreign
refused foreign 'for another processor than x86' -- ./foreign
# marked with the processor that it needs, or not
for level in 3 4; do
	echo 'int main(void) { return 0; }' | ${CC:-gcc} -x c -Wl,-z,x86-64-v$level -o for-v$level -
done
refused processor 'for-v3 needs a processor of the level x86-64-v3: --cpu=x86-64-v3' -- ./for-v3
refused processor 'for-v4 needs a processor of the level x86-64-v4, which no guest has' --cpu x86-64-v3 -- ./for-v4
echo 'int main(void) { __asm__("vpaddd %ymm0, %ymm0, %ymm0"); return 0; }' | ${CC:-gcc} -x c -o avx2 -
run avx2 -- ./avx2
expect_status 132 avx2
expect_line "$WORK/avx2.stderr" 'an instruction that the guest.s processor does not have; --cpu=x86-64-v3'
echo 'int v3(void) { return 0; }' | ${CC:-gcc} -shared -fPIC -Wl,-z,x86-64-v3 -o "$PWD/libv3.so" -x c -
echo 'int v3(void); int main(void) { return v3(); }' | ${CC:-gcc} -o by-library -x c - -x none "$PWD/libv3.so"
refused processor 'libv3.so needs a processor of the level x86-64-v3' -- ./by-library
refused option "unrecognized option '--frob'" --frob -- true
refused option '--cpu: nothing is named' --cpu= -- true
refused option "reduction 'sod:64': not one of" -qrsod:64 -- true
refused option '--only kind:anonymous: a page.s kind and file are known only when' --only kind:anonymous -- true
refused option "reduction 'sod:64': not one of" -r sod:64 -- true
refused option "--only nobody: 'nobody' is none of" --only nobody -- true
refused option 'a,b.lpl: no commas, quotes' -o a,b.lpl -- true
refused option "--memory: '9' is not a number from 80 to 65536" --memory 9 -- true
refused option "--cpu: the processor 'z80' is none of x86-64, x86-64-v2 and x86-64-v3" --cpu z80 -- true
refused option "--env: 'x' does not begin with a name and =" --env x -- true
refused option "--progress: 'now' is none of auto, always and never" --progress now -- true
refused option 'one of them' --memory 100 --usable-memory 100 -- true
refused kept 'no-such/file: there is no such directory here' --keep no-such/file -- true
# said before anything is made for a guest
status=0
XDG_CACHE_HOME=$WORK/nothing "$LAPLACE" run -r sod:64 -o option.lpl -- true 2>/dev/null || status=$?
expect_status 125 option
[ ! -e "$WORK/nothing" ] || fail "a guest was made for an option that is wrong"
refused badroot '--root root has no program nosuch' --root root -- nosuch
refused badroot '--root numbers: is neither a directory nor a tar archive nor an image of a disk' --root numbers -- sh
head -c 15000000 file-system >shortened
refused badroot '--root shortened: is cut off: its file system has 20971520 bytes' --root shortened -- sh
{ head -c 20480 file-system && head -c 300000 /dev/zero | tr '\0' x && tail -c +320481 file-system; } >damaged
refused badroot '--root damaged: its file system is damaged' --root damaged -- sh
{ head -c 1080 file-system && printf 'xx' && tail -c +1083 file-system; } >unknown
refused badroot '--root unknown: is neither a directory nor' --root unknown -- sh
head -c 100000 /dev/zero >zeros
refused badroot '--root zeros: is neither a directory nor' --root zeros -- sh
printf 'QFI\373\0\0\0\003' >qcow
refused badroot '--root qcow: qemu-img convert -O raw makes' --root qcow -- sh
refused badroot '--root file-system has no program nosuch' --root file-system -- nosuch
truncate -s 3M empty
printf '\125\252' | dd of=empty bs=1 seek=510 conv=notrunc status=none
mkswap -q empty
refused badroot '--root empty: is no ext2, ext3 or ext4 file system, but swap' --root empty -- sh
refused with '--with gone: is neither there nor a program' --with gone -- true
run lost --keep left -- true
expect_status 125 lost
expect_line "$WORK/lost.stderr" '--keep left: the program left no such file'
status=0
"$LAPLACE" run --kernel "$BUILDDIR/build/kernel" -o "$WORK/gzip.lpl" -- true 2>"$WORK/exists.stderr" || status=$?
expect_status 125 exists
expect_line "$WORK/exists.stderr" 'gzip.lpl exists already'
[ -z "$(find "${TMPDIR:-/tmp}" -maxdepth 1 -name 'laplace-run.*' -newer numbers)" ] || fail "something is left in ${TMPDIR:-/tmp}"
