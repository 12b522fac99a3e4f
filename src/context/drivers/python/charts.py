"""charts.py: figures of matplotlib as what they show, in E2B's words."""

import re

plain = need("streams").plain


def label_or_none(text):
    return text or None


def unit_of(label):
    found = re.search(r"\s\(([^)]*)\)|\[([^\]]*)\]", label or "")
    return (found.group(1) or found.group(2) or None) if found else None


def is_straight(line):
    """Two points, level or upright: what grids and reference lines are made of."""
    x, y = line.get_xdata(), line.get_ydata()
    return len(x) == 2 and len(y) == 2 and bool(x[0] == x[1] or y[0] == y[1])


def kind_of(axes):
    from matplotlib.collections import PathCollection
    from matplotlib.lines import Line2D
    from matplotlib.patches import PathPatch, Rectangle, Wedge
    from matplotlib.text import Text
    artists = [a for a in axes._children if not isinstance(a, Text)]
    if all(isinstance(a, Line2D) for a in artists):
        return "line"
    if all(isinstance(a, (Line2D, PathPatch)) for a in artists):
        return "box_and_whisker"
    artists = [a for a in artists if not (isinstance(a, Line2D) and is_straight(a))]
    for kind, cls in (("scatter", PathCollection), ("pie", Wedge), ("bar", Rectangle)):
        if all(isinstance(a, cls) for a in artists):
            return kind
    return "unknown"


def is_dates(axis):
    import matplotlib.dates
    converter = axis.get_converter() if hasattr(axis, "get_converter") else axis.converter
    return isinstance(converter, (matplotlib.dates._SwitchableDateConverter, matplotlib.dates.DateConverter))


def ticks_of(axis):
    if is_dates(axis):
        import matplotlib.dates
        return [matplotlib.dates.num2date(t).isoformat() for t in axis.get_ticklocs()]
    return plain(list(axis.get_ticklocs()))


def scale_of(axis, scale, ticks, labels):
    if is_dates(axis):
        return "datetime"
    if scale != "linear":
        return scale
    counted = all(t == i and label != str(i) for i, (t, label) in enumerate(zip(ticks, labels)))
    return "categorical" if counted else "linear"


def point_value(value):
    if type(value).__name__ == "datetime64":
        return str(value.astype("datetime64[s]"))
    return plain(value)


def points_of(xs, ys):
    return [[point_value(x), point_value(y)] for x, y in zip(xs, ys)]


def describe_points(axes, chart, kind):
    for name, axis, scale in (("x", axes.xaxis, axes.get_xscale()), ("y", axes.yaxis, axes.get_yscale())):
        labels = [t.get_text() for t in axis.get_ticklabels()]
        ticks = ticks_of(axis)
        chart[name + "_ticks"] = ticks
        chart[name + "_tick_labels"] = labels
        chart[name + "_scale"] = scale_of(axis, scale, ticks, labels)
    if kind == "scatter":
        for group in axes.collections:
            offsets = group.get_offsets()
            chart["elements"].append({"label": str(group.get_label()), "points": plain([list(p) for p in offsets])})
        return
    for line in axes.get_lines():
        if is_straight(line):
            continue
        label = str(line.get_label())
        if label.startswith("_child"):
            label = "Line " + label[len("_child"):]
        chart["elements"].append({"label": label, "points": points_of(line.get_xdata(), line.get_ydata())})


def swap_axes(chart):
    for what in ("_label", "_unit"):
        chart["x" + what], chart["y" + what] = chart["y" + what], chart["x" + what]


def describe_bars(axes, chart):
    for group in axes.containers:
        name = str(group.get_label())
        if name.startswith("_container"):
            name = "Group " + name[len("_container"):]
        heights = [float(r.get_height()) for r in group]
        widths = [float(r.get_width()) for r in group]
        lying = len(heights) > 1 and len(set(heights)) == 1 and len(set(widths)) > 1
        lying = lying or getattr(group, "orientation", None) == "horizontal"
        if lying:
            swap_axes(chart)
        labels = [t.get_text() for t in (axes.get_yticklabels() if lying else axes.get_xticklabels())]
        for label, value in zip(labels, widths if lying else heights):
            chart["elements"].append({"label": label, "group": name, "value": value})


def describe_pie(axes, chart):
    for wedge in axes.patches:
        angle = round(abs(float(wedge.theta2) - float(wedge.theta1)), 4)
        chart["elements"].append({"label": str(wedge.get_label()), "angle": angle, "radius": float(wedge.r)})


def near(a, b):
    return abs(a - b) <= 1e-9 * max(1.0, abs(a), abs(b))


def tidy(value):
    return float("%.9g" % float(value))


def boxes_of(axes):
    """Extent of each box along the axis of its position, and along that of its values."""
    boxes = []
    for patch in axes.patches:
        corners = patch.get_path().vertices
        xs, ys = [float(v[0]) for v in corners], [float(v[1]) for v in corners]
        boxes.append(((min(xs), max(xs)), (min(ys), max(ys))))
    return boxes


def describe_boxes(axes, chart):
    boxes = boxes_of(axes)
    if not boxes:
        return
    lying = len({round(b[1][1] - b[1][0], 9) for b in boxes}) == 1 and len({round(b[0][1] - b[0][0], 9) for b in boxes}) > 1
    if lying:
        swap_axes(chart)
        boxes = [(y, x) for x, y in boxes]
    labels = [t.get_text() for t in (axes.get_yticklabels() if lying else axes.get_xticklabels())]
    elements = []
    for (label, (place, values)) in zip(labels, boxes):
        low, high = values
        elements.append({"place": place, "label": label, "min": low, "first_quartile": low, "median": low,
                         "third_quartile": high, "max": high, "outliers": []})
    for line in axes.lines:
        at, values = [float(v) for v in line.get_xdata()], [float(v) for v in line.get_ydata()]
        if lying:
            at, values = values, at
        if at:
            place_line(line, at, values, elements)
    for element in elements:
        del element["place"]
        for key in ("min", "first_quartile", "median", "third_quartile", "max"):
            element[key] = tidy(element[key])
        chart["elements"].append(element)


def place_line(line, at, values, elements):
    """A line of a box plot: points beyond, the median across, or a whisker along."""
    for element in elements:
        left, right = element["place"]
        if not (left - 1e-9 <= min(at) and max(at) <= right + 1e-9):
            continue
        low, high = element["first_quartile"], element["third_quartile"]
        if line.get_linestyle() in ("None", "", " ") or len(values) == 1:
            element["outliers"] += [tidy(v) for v in values]
        elif len(values) == 2 and near(values[0], values[1]) and low <= values[0] <= high and near(max(at) - min(at), right - left):
            element["median"] = values[0]
        elif len(values) == 2 and near(at[0], at[1]) and near(max(values), low):
            element["min"] = min(values)
        elif len(values) == 2 and near(at[0], at[1]) and near(min(values), high):
            element["max"] = max(values)
        return


def chart_of_axes(axes):
    kind = kind_of(axes)
    chart = {"type": kind, "title": label_or_none(axes.get_title()), "elements": []}
    if kind in ("line", "scatter", "bar", "box_and_whisker"):
        for name, label in (("x", axes.get_xlabel()), ("y", axes.get_ylabel())):
            chart[name + "_label"] = label_or_none(label)
            chart[name + "_unit"] = unit_of(label)
    if kind in ("line", "scatter"):
        describe_points(axes, chart, kind)
    elif kind == "bar":
        describe_bars(axes, chart)
    elif kind == "pie":
        describe_pie(axes, chart)
    elif kind == "box_and_whisker":
        describe_boxes(axes, chart)
    return chart


def chart_of(figure):
    all_axes = figure.get_axes()
    if not any(a.has_data() for a in all_axes):
        return None
    if len(all_axes) == 1:
        return chart_of_axes(all_axes[0])
    title = figure._suptitle.get_text() if getattr(figure, "_suptitle", None) else ""
    return {"type": "superchart", "title": title, "elements": [chart_of_axes(a) for a in all_axes]}
