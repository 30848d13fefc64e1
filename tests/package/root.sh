# shellcheck shell=bash
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# To be sourced: roots of Debian's releases that have nothing but their base, made by debootstrap
# from where this machine has its packages, and commands in them.  What is mounted in a root is
# mounted for the processes of one command only.

# Where this machine has Debian's packages; nothing if apt has no lists of them.
mirror() {
	# shellcheck disable=SC2016 # apt's
	apt-get indextargets --format '$(CODENAME) $(SITE)' 'Created-By: Packages' 'Label: Debian' |
		awk '$1 !~ /-/ && !site { site = $2 } END { print site }'
}

# ... and through what; nothing if directly.
proxy() {
	local proxy=
	eval "$(apt-config shell proxy Acquire::http::Proxy)"
	echo "${proxy:-${http_proxy-}}"
}

# Why no roots can be made here; nothing if they can.
no_roots() {
	local tool
	[ "$(id -u)" = 0 ] || { echo "debootstrap wants root"; return; }
	for tool in debootstrap apt-get unshare; do
		command -v "$tool" >/dev/null || { echo "there is no $tool"; return; }
	done
	unshare --mount --pid --fork --net true 2>/dev/null ||
		{ echo "no namespaces can be made here"; return; }
	[ -n "$(mirror)" ] || echo "apt has no lists of Debian's: apt-get update"
}

# In a root, as root, with no network if OFFLINE is set.  The root is a mount of its own, as that of
# a system is: in a mere directory no process can have mounts of its own.
inside() { # ROOT COMMAND...
	# shellcheck disable=SC2016 # the inner shell's
	unshare --mount --pid --fork --kill-child ${OFFLINE:+--net} sh -c '
		mount --bind "$0" "$0" && mount -t proc proc "$0/proc" && mount -t sysfs sysfs "$0/sys" &&
			mount --rbind /dev "$0/dev" && chroot "$0" "$@"
		exit $? # this shell stays, as the init that buries what daemons leave
	' "$@"
}

apt() { # ROOT ARGUMENT...
	local root=$1
	shift
	inside "$root" env DEBIAN_FRONTEND=noninteractive apt-get -q -y "$@"
}

make_base() { # ROOT RELEASE [OPTION...]: of debootstrap's
	http_proxy=$(proxy) debootstrap --variant=minbase "${@:3}" "$2" "$1" "$(mirror)"
}

# ... and one in which packages can be installed.
make_root() { # ROOT RELEASE
	local proxy
	make_base "$@" || return 1
	proxy=$(proxy)
	[ -z "$proxy" ] || echo "Acquire::http::Proxy \"$proxy\";" >"$1/etc/apt/apt.conf.d/proxy"
	echo "deb $(mirror) $2 main" >"$1/etc/apt/sources.list"
	apt "$1" update
}

remove_root() { # ROOT
	rm -rf --one-file-system "$1"
}
