# shellcheck shell=bash
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# cache.sh: where `laplace run` keeps what it makes once: `cache`, which need not be there yet.  Read by those scripts.
# shellcheck disable=SC2034 # they use it

cache=${XDG_CACHE_HOME:-${HOME:-}/.cache}/laplace
