# SPDX-License-Identifier: LGPL-2.1-or-later
"""What `laplace campaign` and `laplace study` do (laplace/cli/python.c starts them)."""
