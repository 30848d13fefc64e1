# SPDX-License-Identifier: LGPL-2.1-or-later
# shellcheck shell=bash
# For cases of kernels that this machine's Debian does not have, but another suite where its packages
# come from.

suite_kernel() { # SUITE SERIES: what the module tells in QEMU, then a run in our Bochs
	local suite=$1 series=$2 mirror keys signed="" kernel="$WORK/kernel-$2"
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
	LAPLACE_KERNEL=$kernel "$GUEST/module-smoke" >"$kernel.log" 2>&1 || fail "module-smoke: $(tail -n 1 "$kernel.log")"
	# with a second disk, which Linux may find before the first
	"$LAPLACE" run --kernel "$kernel" -q -O -m 100 --swap 100 -o "$series.lpl" -- sh -c 'uname -r; cat /proc/swaps' \
		>"$series.stdout" 2>"$series.stderr" || fail "$(cat "$series.stderr")"
	expect_line "$series.stdout" "^$series\\."
	expect_line "$series.stdout" "^/dev/sd. .*partition"
	verify "$series.lpl"
	"$LAPLACE" merge --audit "$series.lpl" >"$series.audit" ||
		fail "the books do not balance: $(tail -n 1 "$series.audit")"
	rm -rf "$kernel" "apt-$suite"
}
