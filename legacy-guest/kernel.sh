# shellcheck shell=bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# How an old kernel is made of the user's tree by the user's compiler: what the builds of
# linux-2.2.21-patch and kvmtrace-2.4.20-patch have in common.  They source this file, and
# have set (they read the command line, and define usage):
#
#	room		their own directory, named in messages
#	version		of the kernel
#	tree, prefix	--tree and --cross-compile
#	out		where to build; logs are out/NAME.log
#	boot		'', qemu or bochs
#	hostcc		what makes the kernel's own tools
#
# shellcheck disable=SC2154 # those

die() {
	echo "${room##*/}/build: $*" >&2
	exit 1
}

usage_error() {
	echo "${room##*/}/build: $*" >&2
	usage >&2
	exit 2
}

# ---- looks, before anything is made ----

check_tree() {
	local found changed
	[ -r "$tree/Makefile" ] || die "$tree is no tree of Linux: it has no Makefile"
	found=$(awk '$1 == "VERSION" || $1 == "PATCHLEVEL" || $1 == "SUBLEVEL" { v = v d $3; d = "." }
		$1 == "EXTRAVERSION" { v = v $3 } END { print v }' "$tree/Makefile")
	[ "$found" = "$version" ] || die "$tree is Linux '$found', not $version"
	changed=$(cd "$tree" && sha256sum --quiet -c "$room/pristine.sha256" 2>/dev/null |
		sed 's/: .*//' | tr '\n' ' ') ||
		die "$tree is not pristine: ${changed:-files are missing}"
}

# What is in DIR/linux is removed, and the copy must not be of itself.
check_out() {
	local from to
	from=$(cd "$tree" && pwd -P)
	to=$(realpath -m "$out")
	case $from/ in
	"$to/linux/"*)
		die "--out $out: its linux/, which is made anew, would be the tree itself; name another"
		;;
	esac
	case $to/ in
	"$from/"*) die "--out $out is within the tree, which is not to change; name another" ;;
	esac
}

check_compiler() { # TOOL...
	local found tool
	command -v "${prefix}gcc" >/dev/null ||
		die "no ${prefix}gcc: is '$prefix' the whole prefix, with its directory and last dash?"
	found=$("${prefix}gcc" -dumpversion) || die "${prefix}gcc does not run"
	case $found in
	2.95*) ;;
	*)
		die "${prefix}gcc is gcc $found: $version wants 2.95" \
			"(newer ones reject its sources, or make a kernel that does not boot)"
		;;
	esac
	for tool; do
		command -v "$prefix$tool" >/dev/null ||
			die "no $prefix$tool (as86 and ld86 are Debian's bin86; a link will do)"
	done
}

# What will boot the machine.
check_boot() {
	case $boot in
	'') ;;
	qemu)
		command -v qemu-system-i386 >/dev/null ||
			die "no qemu-system-i386: install it (Debian: qemu-system-x86)"
		;;
	bochs)
		command -v "${LAPLACE:-laplace}" >/dev/null ||
			die "no command ${LAPLACE:-laplace}: set LAPLACE to it"
		;;
	*) usage_error "--boot: '$boot' is neither qemu nor bochs" ;;
	esac
}

# ---- patch and build ----

# What a compiler, an assembler, a linker, make or patch complained of first; where none of
# them did, how it ended.
first_errors() { # LOG
	awk '
	/[Ww]arning:/ { next }
	/:[0-9]+: |[Ee]rror: |Error [0-9]|undefined reference|FAILED|[Nn]ot found|No such file/ {
		print "\t" $0
		if (++shown == 5) exit
	}
	END { exit shown == 0 }' "$1" || tail -n 5 "$1" | sed 's/^/\t/'
}

logged() { # NAME COMMAND...
	local log=$out/$1.log
	shift
	"$@" >"$log" 2>&1 </dev/null || die "$* failed; $log has all of this:
$(first_errors "$log")"
}

make_kernel() {
	env -u MAKEFLAGS -u MFLAGS "${MAKE:-make}" -C "$out/linux" ARCH=i386 CROSS_COMPILE="$prefix" \
		HOSTCC="$hostcc" "$@"
}

# What is not in our configuration gets the answer that the kernel suggests.
configure_kernel() {
	cp "$room/config" "$out/linux/.config"
	make_kernel oldconfig < <(while echo; do :; done 2>/dev/null)
}

# Makes out/linux, a copy of the tree with the patch in it, and makes out a whole path.
copy_patched() { # PATCH
	mkdir -p "$out"
	out=$(cd "$out" && pwd)
	rm -rf "$out/linux"
	mkdir "$out/linux"
	tar -C "$tree" --exclude=.git -cf - . | tar -C "$out/linux" -xf -
	logged patch patch -d "$out/linux" -p1 --fuzz=0 --no-backup-if-mismatch -i "$1"
	if grep -E 'offset|fuzz' "$out/patch.log" >&2; then
		die "the patch does not fit exactly ($out/patch.log)"
	fi
}

# Makes out/bzImage and out/System.map of the configured copy.
make_bzimage() {
	logged depend make_kernel dep
	logged make make_kernel bzImage
	cp "$out/linux/arch/i386/boot/bzImage" "$out/linux/System.map" "$out/"
}
