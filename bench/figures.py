"""Sizes and tables, shared by the scripts of this folder."""

SIZES = {'B': 1, 'KiB': 1024, 'MiB': 1024 ** 2, 'GiB': 1024 ** 3}


def number(value):
    """A number for people: three significant digits; '-' for None."""
    if value is None:
        return '-'
    return f'{value:,.0f}' if abs(value) >= 1000 else f'{value:.3g}'


def cell(value):
    return value if isinstance(value, str) else number(value)


def print_table(table):
    """Prints rows, which are dictionaries with the same keys. Columns of text are aligned left, others right."""
    cells = [list(table[0])] + [[cell(value) for value in row.values()] for row in table]
    widths = [max(len(line[i]) for line in cells) for i in range(len(cells[0]))]
    text = [isinstance(value, str) for value in table[0].values()]
    for line in cells:
        print('  '.join(word.ljust(width) if left else word.rjust(width)
                        for word, width, left in zip(line, widths, text)).rstrip())
