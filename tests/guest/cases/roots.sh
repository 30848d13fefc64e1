# shellcheck shell=bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# `laplace run --root`: Debian 13, without its init and booted by it, made by debootstrap from where this machine
# has its packages; and once more, from where it was saved.  Where LONG=yes, also without its init, all of its boot,
# against one that nothing was saved of, with roots and saved disks that have changed, and one that gives up.
export LAPLACE_DATADIR=$SRCDIR LAPLACE_BOCHS=$BUILDDIR/build/bochs/laplace-bochs
export XDG_CACHE_HOME=$WORK/cache
PATH=$PATH:/usr/sbin:/sbin
# shellcheck source=tests/package/root.sh
. "$SRCDIR/tests/package/root.sh"
reason=$(no_roots)
[ -z "$reason" ] || skip "$reason"
cd "$WORK" || exit

base() { # SUITE [OPTION...]
	rm -rf "$1"
	make_base "$1" "$1" "${@:2}" >"$1.log" 2>&1 || fail "debootstrap $1: $(tail -n 3 "$1.log")"
}

run() { # NAME OPTION...: sets `status`; what is said is in NAME.stdout and .stderr
	local name=$1
	shift
	status=0
	"$LAPLACE" run --kernel "$BUILDDIR/build/kernel" -q -O -o "$name.lpl" "$@" \
		>"$name.stdout" 2>"$name.stderr" </dev/null || status=$?
}

expect() { # NAME STATUS STDOUT
	[ "$status" = "$2" ] || fail "$1: status $status: $(tail -n 3 "$1.stderr")"
	[ "$(xargs <"$1.stdout")" = "$3" ] || fail "$1: printed '$(cat "$1.stdout")'"
}

balance() { # NAME
	verify "$1.lpl"
	"$LAPLACE" merge --audit "$1.lpl" >"$1.audit" || fail "$1: the books do not balance: $(tail -n 1 "$1.audit")"
}

# Which machines were saved, and when.
saved() {
	find cache/laplace -path '*/booted-*/serial' -printf '%p %T@ %i\n' | sort
}

mkdir empty
run empty --init --root empty -- true
[ "$status" = 125 ] || fail "the init of a root that has none: status $status"
expect_line empty.stderr 'has no systemd'

base trixie --include=systemd-sysv,dbus
# dbus is wanted by the default target, which is reached; and what the program leaves ends with it
cat >trixie/root/program <<'END'
. /etc/os-release
cat /proc/1/comm
systemctl is-active dbus.service default.target
sleep 1000 &
wc -l
grep -c /laplace.service /proc/self/cgroup
echo "$VERSION_CODENAME" >/made
exit 9
END
if [ "${LONG:-}" = yes ]; then
	# shellcheck disable=SC2016 # the guest's
	run bare --root trixie -- sh -c '. /etc/os-release; perl -e "print qq(\$ARGV[0] \$]\n)" "$VERSION_CODENAME"; exit 7'
	expect bare 7 'trixie 5.040001'
	balance bare
	# as it is kept; and a change is not missed
	echo one >trixie/root/it
	sleep 1.1
	run first --root trixie -- cat /root/it
	run second --root trixie -- cat /root/it
	expect second 0 one
	cmp first.lpl second.lpl || fail "the same root gives another trace"
	[ -n "$(find cache/laplace -path '*/ready-*/state')" ] || fail "the run was not kept"
	touch -r trixie/root/it time
	echo two >trixie/root/it
	touch -r time trixie/root/it
	run third --root trixie -- cat /root/it
	expect third 0 two
	rm trixie/root/it
fi
mke2fs -q -F -t ext4 -d trixie image 700M
run trixie --init --root image --keep made -- sh /root/program
expect trixie 9 'systemd active active 0 1'
[ "$(cat made)" = trixie ] || fail "what was made in Debian 13 is lost"
balance trixie
"$LAPLACE" cat --events trixie.lpl | awk '/^E exec / { print $NF }' >trixie.execs
grep -q 'systemctl$' trixie.execs || fail "systemctl's exec is not in the trace"
before=$(saved)
run again --init --root image --keep made -- sh /root/program
expect again 9 'systemd active active 0 1'
[ "$(saved)" = "$before" ] || fail "systemd was booted again"
cmp trixie.lpl again.lpl || fail "what begins where systemd has booted has another trace"
if [ "${LONG:-}" = yes ]; then
	run cold --cold --init --root image -- sh /root/program
	"$PROGRAMS/compare-traces" cold.lpl trixie.lpl || fail "one that boots has another trace"
	cmp <("$LAPLACE" cat -e cold.lpl) <("$LAPLACE" cat -e trixie.lpl) || fail "one that boots has another trace"
	# a disk that is not as it was saved
	for disk in cache/laplace/booted-*/disks/disk; do
		printf x | dd of="$disk" bs=1 seek=100000000 conv=notrunc status=none
	done
	run again --init --root image --keep made -- sh /root/program
	expect again 9 'systemd active active 0 1'
	[ "$(saved)" != "$before" ] || fail "a disk that has changed is taken"
	cmp trixie.lpl again.lpl || fail "a machine that is saved anew has another trace"
	run whole --init --whole --root image -- systemctl is-active dbus.service
	expect whole 0 active
	balance whole
	"$LAPLACE" cat --events whole.lpl | awk '/^E exec / { print $NF }' >whole.execs
	grep -q 'systemd/systemd-journald$' whole.execs || fail "the boot of systemd is not in the trace"
	# One that gives up says so.
	debugfs -w -R 'symlink /etc/systemd/system/default.target /lib/systemd/system/emergency.target' image 2>/dev/null
	run lost --init --root image -- true
	[ "$status" = 125 ] || fail "an init that gives up: status $status"
	expect_line lost.stderr "the disk's init did not get beyond emergency.service"
fi
rm -rf trixie image
