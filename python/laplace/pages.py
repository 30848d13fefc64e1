# SPDX-License-Identifier: LGPL-2.1-or-later
"""Pages of HTML that need nothing else, and have nothing in them that does not repeat."""
from __future__ import annotations

import html
import os
import re

_STYLE = (
    "body{font:15px/1.5 system-ui,'DejaVu Sans',Helvetica,Arial,sans-serif;color:#222;"
    "background:#fff;max-width:1500px;margin:2em auto;padding:0 1em}"
    "h1{font-size:1.6em;margin:0 0 .2em}.dim{color:#666}"
    ".curves{display:grid;grid-template-columns:repeat(auto-fit,minmax(440px,1fr));gap:1em}"
    "figure{margin:0}figcaption{font-weight:600}svg{max-width:100%;height:auto;display:block}"
    "table{border-collapse:collapse;font-size:.88em;font-variant-numeric:tabular-nums}"
    "th,td{text-align:right;padding:.15em .6em;border-bottom:1px solid #eee}"
    "th:first-child,td:first-child{text-align:left}")


def escaped(text: str) -> str:
    """With a control character, or no UTF-8, it would be no XML."""
    text = html.escape(re.sub("[\0-\x1f\x7f]", " ", text), False).replace('"', "&quot;")
    return re.sub("[\x80-\x9f\udc80-\udcff]", lambda match: "?" * len(os.fsencode(match[0])), text)


def document(title: str, body: str) -> str:
    """`body` is HTML."""
    title = escaped(title)
    return f"""<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">\
<title>{title}</title><style>{_STYLE}</style></head><body>
<h1>{title}</h1>
{body}</body></html>
"""
