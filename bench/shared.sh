# shellcheck shell=sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# What the scripts of this directory share; each reads it after it has set `here`, its
# directory, and `name`, its own name.
: "${here:?}" "${name:?}"

die() {
	echo "bench/$name: $*" >&2
	exit 1
}

# What cannot be measured on this machine.
skip() {
	echo "bench/$name: $*" >&2
	exit 77
}

# Sets `builddir`, absolute, and `bochs`, where the simulators are.
use_build() { # DIR
	builddir=$(CDPATH='' cd -- "$1" && pwd)
	bochs=$builddir/build/bochs
	need "$bochs/laplace-bochs" "$builddir/build/kernel/kernel.env" \
		"$builddir/build/module/laplace.ko"
}

need() { # FILE...
	for file; do
		[ -r "$file" ] || die "$file is not there: build first (make bench does)"
	done
}

# Sets `scratch`, a directory that is removed when the script ends, with what `measure` runs.
make_scratch() {
	scratch=$(mktemp -d "$builddir/build/bench.XXXXXX")
	trap 'rm -rf "$scratch"' EXIT
	trap 'exit 1' HUP INT TERM
	"${CC:-cc}" -std=c11 -D_GNU_SOURCE -O2 -o "$scratch/measure" "$here/measure.c" ||
		die "measure.c does not compile"
}

# A guest that runs a workload, of disk-images/workloads, of ours or of what OPTIONs
# (of disk-images/build) add: sets `machine`, and `serial`, where it says how it went.
# MIB: its memory, unless it is to be 256.
make_machine() { # DIRECTORY WORKLOAD [MIB [OPTION...]]
	directory=$1 workload_path=$2 guest_mib=${3:-256}
	shift 2
	[ $# = 0 ] || shift
	if [ $# = 0 ] && [ -e "$here/workloads/$workload_path" ]; then
		workload_path=workloads/$workload_path
		set -- --add "$here/workloads"
	fi
	"$here/../disk-images/build" --kernel "$builddir/build/kernel" \
		--module-dir "$builddir/build/module" --out "$directory" \
		--workload "$workload_path" "$@" >"$scratch/image.log" 2>&1 ||
		die "no image: $(tail -n 1 "$scratch/image.log")"
	machine=$directory/$(echo "$workload_path" | tr / -).bochsrc
	serial=${machine%.bochsrc}.serial
	# of the host's, Bochs takes no more than 2 GiB; what is above comes and goes
	host_mib=$((guest_mib < 2048 ? guest_mib : 2048))
	sed -i "s/^memory:.*/memory: guest=$guest_mib, host=$host_mib/" "$machine"
}

# Runs COMMAND, and sets what measure.c prints of it: wall, first, all, rss, status,
# first_instructions, all_instructions.
measure() { # COMMAND...
	"$scratch/measure" "$scratch/measured" "$@" >"$scratch/out" 2>&1 </dev/null ||
		die "cannot measure: $(tail -n 1 "$scratch/out")"
	# shellcheck disable=SC2034 # for the caller
	read -r wall first all rss status first_instructions all_instructions \
		<"$scratch/measured"
}

# Did the guest on `machine` end well?  Plain Bochs has one status for every end.
ended_well() {
	tr -d '\r' <"$serial" | grep -qx 'LAPLACE-END ok'
}
