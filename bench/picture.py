"""Charts as SVG, shared by the scripts that draw figures."""

import math
from xml.sax.saxutils import escape

from figures import SIZES

# Colours that people with colour blindness can distinguish (Okabe and Ito), on a background that stays light on dark
# pages.
GREY, ORANGE, SKY, GREEN, YELLOW, BLUE, RED, PINK = (
    '#7f7f7f', '#e69f00', '#56b4e9', '#009e73', '#c9b800', '#0072b2', '#d55e00', '#cc79a7')
BACKGROUND, INK, FAINT, GRID = '#fcfcfa', '#222222', '#666666', '#dddddd'
WIDTH = 860


class Picture:
    """An SVG that is written from top to bottom; `y` is the position of the next element."""

    def __init__(self, title, subtitle):
        self.parts = []
        self.y = 34
        self.text(24, self.y, title, size=17, weight='bold')
        self.y += 20
        self.text(24, self.y, subtitle, colour=FAINT)
        self.y += 22

    def text(self, x, y, text, size=12, colour=INK, anchor='start', weight='normal'):
        self.parts.append(f'<text x="{x:.1f}" y="{y:.1f}" font-size="{size}" fill="{colour}" text-anchor="{anchor}" '
                          f'font-weight="{weight}">{escape(text)}</text>')

    def line(self, x1, y1, x2, y2, colour=GRID, width=1, dash=''):
        style = f' stroke-dasharray="{dash}"' if dash else ''
        self.parts.append(f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" stroke="{colour}" '
                          f'stroke-width="{width}"{style}/>')

    def bar(self, x, y, width, height, colour):
        self.parts.append(f'<rect x="{x:.1f}" y="{y:.1f}" width="{max(width, 1):.1f}" height="{height}" '
                          f'fill="{colour}"/>')

    def curve(self, points, colour, dash=''):
        path = ' '.join(f'{x:.1f},{y:.1f}' for x, y in points)
        style = f' stroke-dasharray="{dash}"' if dash else ''
        self.parts.append(f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="2.2"{style}/>')
        self.parts += [f'<circle cx="{x:.1f}" cy="{y:.1f}" r="2.6" fill="{colour}"/>' for x, y in points]

    def legend(self, entries):
        """`entries`: (name, colour, dash)."""
        x = 24
        for name, colour, dash in entries:
            width = 46 + 7 * len(name)
            if x + width > WIDTH - 10:
                x, self.y = 24, self.y + 20
            self.line(x, self.y - 4, x + 22, self.y - 4, colour, 4 if not dash else 3, dash)
            self.text(x + 28, self.y, name)
            x += width
        self.y += 24

    def write(self, path, note):
        self.y += 26
        self.text(24, self.y, note, size=11, colour=FAINT)
        height = self.y + 16
        body = '\n'.join(self.parts)
        path.write_text(f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height:.0f}" '
                        f'width="{WIDTH}" height="{height:.0f}" font-family="Helvetica, Arial, sans-serif">\n'
                        f'<rect width="100%" height="100%" rx="8" fill="{BACKGROUND}"/>\n{body}\n</svg>\n',
                        encoding='utf-8')
        print(path)


def log_ticks(low, high):
    """The powers of ten from just below `low` to just above `high`."""
    first, last = math.floor(math.log10(low)), math.ceil(math.log10(high))
    return [10.0 ** exponent for exponent in range(first, max(last, first + 1) + 1)]


def curves_by_size(picture, curves, unit):
    """Curves on logarithmic scales. `curves`: (name, colour, dash, {size in bytes: value})."""
    sizes = sorted({size for *_, points in curves for size in points})
    values = [value for *_, points in curves for value in points.values()]
    ticks = log_ticks(min(values), max(values))
    left, right, top, bottom = 80, WIDTH - 40, picture.y, picture.y + 380

    def at(size, value):
        return (left + (right - left) * math.log2(size / sizes[0]) / math.log2(sizes[-1] / sizes[0]),
                bottom - (bottom - top) * math.log10(value / ticks[0]) / math.log10(ticks[-1] / ticks[0]))

    for tick in ticks:
        picture.line(left, at(sizes[0], tick)[1], right, at(sizes[0], tick)[1])
        picture.text(left - 8, at(sizes[0], tick)[1] + 4, f'{tick:.8f}'.rstrip('0').rstrip('.'), size=11, colour=FAINT,
                     anchor='end')
    picture.text(left - 8, top - 8, unit, size=11, colour=FAINT, anchor='end')
    for size in sizes:
        name = next(name for name in ('GiB', 'MiB', 'KiB', 'B') if size >= SIZES[name])
        x = at(size, ticks[0])[0]
        picture.line(x, top, x, bottom)
        picture.text(x, bottom + 16, f'{size // SIZES[name]} {name}', size=10.5, colour=FAINT, anchor='middle')
    for _, colour, dash, points in curves:
        picture.curve([at(size, value) for size, value in sorted(points.items())], colour, dash)
    picture.y = bottom + 18
