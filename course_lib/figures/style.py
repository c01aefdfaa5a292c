"""Give every picture of the course the same looks: colours, sizes, the white card.

Colours are the Okabe-Ito set, which colour-blind readers can tell apart; meaning never hangs on
colour alone, a hatch, a label or a marker always says the same. A colour means the same thing in
every picture: A is blue, B is orange, C is green, trouble is vermilion.
"""

from collections.abc import Callable
from functools import wraps
from typing import Any, ParamSpec

import matplotlib
from matplotlib.axes import Axes
from matplotlib.colors import to_rgb
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from course_lib.figures.picture import Picture

BLUE = "#0072B2"
GREEN = "#009E73"
ORANGE = "#E69F00"
VERMILION = "#D55E00"
PURPLE = "#CC79A7"
INK = "#1B1F24"
GREY = "#6B7280"
FAINT = "#D5D9DF"
PAPER = "#FFFFFF"
WASH = "#F4F5F7"

WIDTH = 7.6  # inches: 836 pixels at DPI, which fits a notebook's column
DPI = 110
SMALL, NORMAL, LARGE = 9.0, 10.0, 12.0
MONO = "DejaVu Sans Mono"

_SETTINGS: Any = {
    "font.family": ["sans-serif"],
    "font.sans-serif": ["DejaVu Sans"],
    "font.size": NORMAL,
    "mathtext.fontset": "dejavusans",
    "axes.edgecolor": GREY,
    "axes.labelcolor": INK,
    "axes.titlecolor": INK,
    "axes.titlesize": NORMAL,
    "axes.labelsize": NORMAL,
    "axes.linewidth": 0.8,
    "axes.facecolor": PAPER,
    "axes.grid": False,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "figure.facecolor": PAPER,
    "figure.dpi": DPI,
    "hatch.linewidth": 0.7,
    "legend.frameon": False,
    "legend.fontsize": SMALL,
    "text.color": INK,
    "text.usetex": False,
    "text.antialiased": True,
    "path.sketch": None,
    "savefig.bbox": None,
    "savefig.transparent": False,
    "svg.hashsalt": "matmul-ladder",
    "xtick.color": GREY,
    "ytick.color": GREY,
    "xtick.labelcolor": INK,
    "ytick.labelcolor": INK,
    "xtick.labelsize": SMALL,
    "ytick.labelsize": SMALL,
}

_Arguments = ParamSpec("_Arguments")


def drawn(function: Callable[_Arguments, Picture]) -> Callable[_Arguments, Picture]:
    """Draw with the course's settings, whatever the notebook has set for itself."""

    @wraps(function)
    def with_settings(*args: _Arguments.args, **keywords: _Arguments.kwargs) -> Picture:
        with matplotlib.rc_context(_SETTINGS):
            return function(*args, **keywords)

    return with_settings


def card(height: float, title: str = "", subtitle: str = "", width: float = WIDTH) -> Figure:
    """A white card with a thin edge, readable on a white page and on a dark one."""
    figure = Figure(figsize=(width, height), dpi=DPI, facecolor=PAPER)
    figure.add_artist(
        Rectangle(
            (0, 0), 1, 1, transform=figure.transFigure, fill=False, edgecolor=FAINT, linewidth=2
        )
    )
    if title:
        figure.text(
            0.16 / width, 1 - 0.13 / height, title, fontsize=LARGE, fontweight="bold", va="top"
        )
    if subtitle:
        figure.text(0.16 / width, 1 - 0.37 / height, subtitle, fontsize=SMALL, color=GREY, va="top")
    return figure


def footnote(figure: Figure, text: str) -> None:
    """Small print at the bottom: where the numbers are from."""
    width, height = figure.get_size_inches()
    figure.text(0.16 / width, 0.1 / height, text, fontsize=SMALL, color=GREY, va="bottom")


def area(figure: Figure, left: float, bottom: float, right: float, top: float) -> Axes:
    """Axes placed by their distance in inches from the four edges of the card."""
    width, height = figure.get_size_inches()
    return figure.add_axes(
        (
            left / width,
            bottom / height,
            (width - left - right) / width,
            (height - bottom - top) / height,
        )
    )


def tint(colour: str, strength: float) -> tuple[float, float, float]:
    """The colour thinned with white: strength 1 is the colour itself, 0 is white."""
    red, green, blue = to_rgb(colour)
    return (1 - strength * (1 - red), 1 - strength * (1 - green), 1 - strength * (1 - blue))


def whole(number: float) -> str:
    """Rounded as people do it, with commas: 1986.5 becomes 1,987."""
    return f"{int(number + 0.5):,}"


_STEPS = ((1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k"))


def short_number(value: float) -> str:
    """1234567 as "1.23 M": three digits and a letter; small whole numbers in full."""
    for size, letter in _STEPS:
        if abs(value) >= size and not (letter == "k" and abs(value) < 10_000):
            return f"{value / size:.3g} {letter}"
    return f"{value:.4g}"


def short_bytes(count: float) -> str:
    """A number of bytes with a decimal unit: 549.8 GB, 17.2 GB, 512 B."""
    for size, letter in _STEPS:
        if abs(count) >= size:
            return f"{count / size:.4g} {letter}B"
    return f"{count:.0f} B"


def kib(amount: float) -> str:
    """KiB with no needless digits, MiB from 1024 on."""
    if amount >= 1024 and amount % 1024 == 0:
        return f"{amount / 1024:g} MiB"
    return f"{amount:g} KiB"
