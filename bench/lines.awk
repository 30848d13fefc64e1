# SPDX-License-Identifier: LGPL-2.1-or-later
#
# awk -f lines.awk -v title=TEXT -v x_label=TEXT -v y_label=TEXT [-v log_x=1] [-v y_most=N]: a picture (SVG)
# of lines.  Input: CSV, a point a line: the name of its line, x, y; the points of a line in order.
#
# Colours, dashes and marks are those of laplace/cli/draw/series.c.  On a logarithmic axis, ticks are the
# points' own.
BEGIN {
	FS = ","
	split("#0072b2 #d55e00 #009e73 #2b2b2b #cc79a7 #e69f00 #56b4e9 #8c7a00", colour, " ")
	split(" |9 4|3 3|10 3 2 3|6 2|14 4|2 2|10 3 2 3 2 3", dash, "|")
	mark[0] = "M0-5L5 0L0 5L-5 0z"
	mark[1] = "M-4 0a4 4 0 1 0 8 0a4 4 0 1 0-8 0z"
	mark[2] = "M-3.6-3.6h7.2v7.2h-7.2z"
	mark[3] = "M0-5L4.6 3.4H-4.6z"
}

{
	if (!($1 in number)) {
		number[$1] = ++series
		name[series] = $1
	}
	n = number[$1]
	i = ++points[n]
	x[n, i] = $2
	y[n, i] = $3
	if (NR == 1 || $2 < x_least)
		x_least = $2
	if (NR == 1 || $2 > x_greatest)
		x_greatest = $2
	if ($3 > y_greatest)
		y_greatest = $3
	if (!($2 in seen)) {
		seen[$2] = 1
		tick[++ticks] = $2
	}
}

function place_x(value) {
	if (log_x)
		return 80 + 440 * log(value / x_least) / log(x_greatest / x_least)
	return 80 + 440 * (value - x_least) / (x_greatest - x_least)
}

function place_y(value) {
	return 434 - 368 * value / y_most
}

function text(at_x, at_y, anchor, what, more) {
	printf "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"%s\" fill=\"#222\"%s>%s</text>\n", at_x, at_y, anchor, more, what
}

# 1, 2 or 5 times a power of ten, so that there are five to ten of them
function step_of(range,   step) {
	step = 10 ^ int(log(range) / log(10) - (range < 1))
	return range / step >= 5 ? step : range / step >= 2 ? step / 2 : step / 5
}

END {
	step = y_most ? step_of(y_most) : step_of(y_greatest)
	if (!y_most)
		y_most = step * (int(y_greatest / step) + (y_greatest % step > 0))
	printf "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"760\" height=\"500\" viewBox=\"0 0 760 500\" role=\"img\" " \
		"font-family=\"DejaVu Sans, Helvetica, Arial, sans-serif\" font-size=\"14\"><title>%s</title>\n", title
	print "<rect width=\"760\" height=\"500\" fill=\"#fff\"/>"
	text(380, 28, "middle", title, " font-size=\"18\" font-weight=\"bold\"")
	for (i = 1; i <= ticks; i++) {
		at = place_x(tick[i])
		printf "<line x1=\"%.1f\" y1=\"66\" x2=\"%.1f\" y2=\"440\" stroke=\"#cfcfcf\"/>\n", at, at
		text(at, 455, "middle", tick[i], "")
	}
	for (value = 0; value <= y_most * 1.0001; value += step) {
		at = place_y(value)
		printf "<line x1=\"74\" y1=\"%.1f\" x2=\"520\" y2=\"%.1f\" stroke=\"#cfcfcf\"/>\n", at, at
		text(70, at + 5, "end", value, "")
	}
	text(300, 485, "middle", x_label, "")
	text(22, 250, "middle", y_label, " transform=\"rotate(-90 22 250)\"")
	for (n = 1; n <= series; n++) {
		style = (n - 1) % 8 + 1
		line = "<path fill=\"none\" stroke=\"" colour[style] "\" stroke-width=\"2\" stroke-linejoin=\"round\"" \
			(style > 1 ? " stroke-dasharray=\"" dash[style] "\"" : "") " d=\""
		shape = "d=\"" mark[style % 4] "\" " (style > 4 ? "fill=\"#fff\" stroke=\"" colour[style] "\" stroke-width=\"1.8\"/>" : \
			"fill=\"" colour[style] "\" stroke=\"#fff\"/>")
		printf "%s", line
		for (i = 1; i <= points[n]; i++)
			printf "%s%.1f %.1f", (i > 1 ? "L" : "M"), place_x(x[n, i]), place_y(y[n, i])
		print "\"/>"
		for (i = 1; i <= points[n]; i++)
			printf "<path transform=\"translate(%.1f %.1f)\" %s\n", place_x(x[n, i]), place_y(y[n, i]), shape
		at = 66 + 24 * n
		printf "%sM535 %dh32\"/>\n<path transform=\"translate(551 %d)\" %s\n", line, at, at, shape
		text(575, at + 5, "start", name[n], "")
	}
	print "</svg>"
}
