# SPDX-License-Identifier: LGPL-2.1-or-later
# shellcheck shell=bash
# For cases of kernels that this machine's Debian does not have, but another suite where its packages
# come from.

# The module, where this machine's compiler and C library are too old for the kernel's own tools: in a
# new root of that suite's, which is left out of this machine's mounts again as soon as it is done.
build_in_suite() { # SUITE MIRROR KERNEL OUT
	local root=$WORK/root-$1
	[ "$(id -u)" = 0 ] || skip "the module for $1 is built in a root of $1, which takes root"
	command -v debootstrap >/dev/null || skip "the module for $1 is built in a root of $1: there is no debootstrap"
	debootstrap --variant=minbase --include=gcc,make,libc6-dev,libelf-dev,xz-utils,zstd,lz4 "$1" "$root" "$2" \
		>"$root.log" 2>&1 || fail "debootstrap: $(tail -n 1 "$root.log")"
	mkdir -p "$root$SRCDIR" "$root$WORK" "$4"
	# shellcheck disable=SC2016 # for the shell that is started
	unshare --mount sh -euc '
		mount --bind "$2" "$1$2"
		mount --bind "$3" "$1$3"
		CC=gcc exec chroot "$1" "$2/linux-module/build" --kernel "$4" --out "$5"' \
		sh "$root" "$SRCDIR" "$WORK" "$3" "$4" >"$4.log" 2>&1 || fail "linux-module/build: $(tail -n 1 "$4.log")"
	rm -rf --one-file-system "$root"
}

suite_kernel() { # SUITE SERIES: what the module tells in QEMU, then a run in our Bochs
	local suite=$1 series=$2 mirror keys signed="" kernel="$WORK/kernel-$1" own=no
	export LAPLACE_DATADIR=$SRCDIR XDG_CACHE_HOME=$WORK/cache
	command -v apt-get >/dev/null || skip "there is no apt"
	cd "$WORK" || exit
	# shellcheck disable=SC2016 # apt's
	mirror=$(apt-get indextargets --format '$(CODENAME) $(SITE)' 'Created-By: Packages' | awk '$1 !~ /-/ { print $2; exit }')
	keys=/usr/share/keyrings/debian-archive-keyring.gpg
	[ ! -e $keys ] || signed="[signed-by=$keys]"
	mkdir -p "apt-$suite/lists/partial" "apt-$suite/cache/archives/partial"
	echo "deb $signed $mirror $suite main" >"apt-$suite/sources.list"
	cat >"apt-$suite/apt.conf" <<-END
		Dir::Etc::sourcelist "$WORK/apt-$suite/sources.list";
		Dir::Etc::sourceparts "-";
		Dir::State::lists "$WORK/apt-$suite/lists";
		Dir::Cache "$WORK/apt-$suite/cache";
		APT::Sandbox::User "$(id -un)";
	END
	APT_CONFIG=$WORK/apt-$suite/apt.conf apt-get update -qq >"apt-$suite/log" 2>&1 ||
		skip "no $suite where this machine's packages are: $(tail -n 1 "apt-$suite/log")"
	LAPLACE_DISTFILES='' APT_CONFIG=$WORK/apt-$suite/apt.conf "$SRCDIR/linux-module/fetch-kernel" \
		--out "$kernel" --suite-version "$series" >"apt-$suite/log" 2>&1 ||
		skip "no Linux $series in $suite: $(tail -n 1 "apt-$suite/log")"
	if "$SRCDIR/linux-module/build" --kernel "$kernel" --out "$WORK/module-$suite" >"$kernel.log" 2>&1; then
		own=yes
	elif grep -q 'use it on its own Debian$' "$kernel.log"; then
		build_in_suite "$suite" "$mirror" "$kernel" "$WORK/module-$suite"
	else
		fail "$(tail -n 1 "$kernel.log")"
	fi
	LAPLACE_KERNEL=$kernel LAPLACE_MODULE=$WORK/module-$suite LAPLACE_TRUTH_CHECK=$PROGRAMS/truth-check \
		"$GUEST/module-smoke" >"$kernel.log" 2>&1 || fail "module-smoke: $(tail -n 1 "$kernel.log")"
	if [ $own = no ]; then
		echo "# without a run in our Bochs: only $suite itself can build a guest of that kernel"
		rm -rf "$kernel" "apt-$suite" "module-$suite"
		return
	fi
	# with a second disk, which Linux may find before the first
	"$LAPLACE" run --kernel "$kernel" -q -O -m 100 --swap 100 -o "$series.lpl" -- sh -c 'uname -r; cat /proc/swaps' \
		>"$series.stdout" 2>"$series.stderr" || fail "$(cat "$series.stderr")"
	expect_line "$series.stdout" "^$series\\."
	expect_line "$series.stdout" "^/dev/sd. .*partition"
	verify "$series.lpl"
	"$LAPLACE" merge --audit "$series.lpl" >"$series.audit" ||
		fail "the books do not balance: $(tail -n 1 "$series.audit")"
	rm -rf "$kernel" "apt-$suite" "module-$suite"
}
