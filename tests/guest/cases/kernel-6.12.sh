# shellcheck shell=bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# Debian 13's kernel, as it is built for Debian 12.
# shellcheck source=tests/guest/suite.sh
. "$GUEST/suite.sh"
suite_kernel bookworm-backports 6.12
