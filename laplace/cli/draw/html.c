/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The frame of a page of HTML; see html.h. */
#include "html.h"

#include <stdarg.h>

#include "cli/say.h"
#include "svg.h"

static const char style[] =
	"body{font:15px/1.5 system-ui,'DejaVu Sans',Helvetica,Arial,sans-serif;color:#222;"
	"background:#fff;max-width:980px;margin:2em auto;padding:0 1em}"
	"h1{font-size:1.6em;margin:0 0 .2em}h2{font-size:1.2em;margin:2em 0 .4em;"
	"border-bottom:2px solid #0072b2;padding-bottom:.15em}"
	"p{max-width:62em;margin:.4em 0}.dim{color:#666}"
	"svg{max-width:100%;height:auto;display:block;margin:.6em 0}"
	".facts{display:grid;grid-template-columns:repeat(auto-fit,minmax(150px,1fr));gap:.6em;"
	"margin:1em 0}.facts div{background:#f4f7fa;border-radius:6px;padding:.5em .8em}"
	".facts b{display:block;font-size:1.25em;font-variant-numeric:tabular-nums}"
	".facts span{color:#555;font-size:.85em}"
	".notes{background:#fff7e0;border-left:4px solid #e69f00;padding:.5em 1em .5em 2em;"
	"margin:1em 0}"
	".notes li{margin:.2em 0}.wide{overflow-x:auto}"
	"table{border-collapse:collapse;font-size:.88em;margin:.6em 0;width:100%;"
	"font-variant-numeric:tabular-nums}"
	"th{text-align:right;color:#555;font-weight:600;border-bottom:1px solid #bbb;"
	"padding:.2em .5em;vertical-align:bottom}"
	"td{text-align:right;padding:.15em .5em;border-bottom:1px solid #eee}"
	"th:first-child,td:first-child,.t{text-align:left!important}"
	"td.t{word-break:break-all}@media print{body{margin:0}h2{break-after:avoid}}";

void html_escape(FILE *out, const char *text)
{
	char byte[5];

	for (; *text; text++)
		svg_escape(out, lpl_text_escape(byte, sizeof(byte), text, 1));
}

void html_begin(FILE *out, const char *title)
{
	fputs("<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\n"
	      "<meta name=\"viewport\" content=\"width=device-width\">\n<title>", out);
	html_escape(out, title);
	fprintf(out, "</title>\n<style>%s</style></head><body>\n<h1>", style);
	html_escape(out, title);
	fputs("</h1>\n", out);
}

void html_end(FILE *out)
{
	fputs("</body></html>\n", out);
}

void html_fact(FILE *out, const char *name, const char *format, ...)
{
	char text[160];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	fputs("<div><b>", out);
	svg_escape(out, text);
	fprintf(out, "</b><span>%s</span></div>\n", name);
}
