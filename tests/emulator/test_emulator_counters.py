"""The counters agree with counting by brute force, address by address, and with FACTS."""

import re
import subprocess
import sys
from collections import defaultdict
from dataclasses import fields
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import pytest
from emulator_helpers import HEADER, as_program, launch, line_of, run, run_clean
from hypothesis import given
from hypothesis import strategies as st

from course_lib.emulator import Counters, Profile
from course_lib.emulator.profile import annotate

WARP = 32


def warps(threads: int) -> list[range]:
    """The threads of one block, warp by warp."""
    return [range(start, min(start + WARP, threads)) for start in range(0, threads, WARP)]


def sectors(byte_addresses: list[int], width: int) -> int:
    """How many 32-byte sectors these accesses touch."""
    return len({byte // 32 for start in byte_addresses for byte in range(start, start + width)})


def lanes_at_once(byte_addresses: list[int | None], width: int) -> int:
    """How many lanes are served together: fewer for wide elements, more if lanes share them."""
    lanes = WARP // max(1, width // 4)
    for distance in (1, 2):
        pairs = [(a, byte_addresses[i ^ distance]) for i, a in enumerate(byte_addresses)]
        if width > 4 and all(a == b or None in (a, b) for a, b in pairs):
            return 2 * lanes
    return lanes


def wavefronts(byte_addresses: list[int | None], width: int) -> tuple[int, int]:
    """How many passes these accesses take, and how many phases they have."""
    total = phases = 0
    together = lanes_at_once(byte_addresses, width)
    for start in range(0, len(byte_addresses), together):
        words = defaultdict(set)
        for address in byte_addresses[start : start + together]:
            if address is not None:
                for word in range(address // 4, (address + width - 1) // 4 + 1):
                    words[word % 32].add(word)
        total += max((len(each) for each in words.values()), default=0)
        phases += bool(words)
    return total, phases


@st.composite
def patterns(draw) -> tuple[int, int, np.ndarray, np.ndarray]:
    """Blocks, threads, an index for every thread, and whether the thread takes part."""
    blocks = draw(st.integers(1, 3))
    threads = draw(st.sampled_from([1, 7, 32, 33, 64, 100, 128]))
    size = draw(st.sampled_from([8, 64, 300]))
    seed = draw(st.integers(0, 2**32 - 1))
    random = np.random.default_rng(seed)
    count = blocks * threads
    index = {
        "random": random.integers(0, size, count),
        "stride": (np.arange(count) * draw(st.integers(0, 40)) + draw(st.integers(0, 9))) % size,
        "permuted": random.permutation(count) % size,
    }[draw(st.sampled_from(["random", "stride", "permuted"]))]
    share = draw(st.sampled_from([0.0, 0.1, 0.9, 1.0]))
    return blocks, threads, index.astype(np.int64), random.random(count) < share


@pytest.mark.parametrize("dtype", [np.int8, np.float32, np.float64])
@given(pattern=patterns())
def test_global_requests_and_sectors(dtype: type, pattern) -> None:
    blocks, threads, index, active = pattern
    width = np.dtype(dtype).itemsize
    data = np.arange(300).astype(dtype)
    out = np.zeros(len(index), dtype)
    program = as_program(
        """
        i = cuda.grid(1)
        where = index[i]
        if active[i]:
            value = data[where]  # the load
            out[i] = value  # the store
        """,
        "data, index, active, out",
    )
    profile = launch(program, blocks, threads, data, index, active, out)
    expected = dict.fromkeys(
        ("load_requests", "load_sectors", "load_bytes", "store_requests", "store_sectors"), 0
    )
    for block in range(blocks):
        for warp in warps(threads):
            lanes = [block * threads + lane for lane in warp if active[block * threads + lane]]
            if lanes:
                expected["load_requests"] += 1
                expected["store_requests"] += 1
                expected["load_bytes"] += len(lanes) * width
                expected["load_sectors"] += sectors([int(index[i]) * width for i in lanes], width)
                expected["store_sectors"] += sectors([i * width for i in lanes], width)
    for name, count in expected.items():
        line = line_of(program, f"# the {name.partition('_')[0]}")
        assert getattr(profile.lines.get(line, Counters()), f"global_{name}") == count, name
    assert profile.global_store_bytes == expected["load_bytes"]
    np.testing.assert_array_equal(out, np.where(active, data[index], 0).astype(dtype))


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@given(pattern=patterns())
def test_shared_wavefronts_and_conflicts(dtype: str, pattern) -> None:
    blocks, threads, index, active = pattern
    width = np.dtype(dtype).itemsize
    program = as_program(
        f"""
        tile = cuda.shared.array(300, {dtype})
        for k in range(cuda.threadIdx.x, 300, cuda.blockDim.x):
            tile[k] = k
        cuda.syncthreads()
        i = cuda.grid(1)
        where = index[i]
        if active[i]:
            value = tile[where]  # the load
            out[i] = value
        """,
        "index, active, out",
    )
    out = np.zeros(len(index), dtype)
    profile = launch(program, blocks, threads, index, active, out)
    requests = passes = needed = 0
    for block in range(blocks):
        for warp in warps(threads):
            lanes = [block * threads + lane for lane in warp]
            addresses = [int(index[i]) * width if active[i] else None for i in lanes]
            if not any(address is not None for address in addresses):
                continue
            requests += 1
            addresses += [None] * (WARP - len(addresses))
            taken, phases = wavefronts(addresses, width)
            passes += taken
            needed += phases
    load = profile.lines.get(line_of(program, "# the load"), Counters())
    found = load.shared_load_requests, load.shared_load_wavefronts, load.shared_load_bank_conflicts
    assert found == (requests, passes, passes - needed)
    np.testing.assert_array_equal(out, np.where(active, index, 0))


def test_views_count_at_their_offset() -> None:
    data, out = np.zeros(512, np.float32), np.zeros(32, np.float32)
    body = "i = cuda.threadIdx.x\nout[i] = data[i]"
    for view, count in ((data, 4), (data[1:], 5), (data[::2], 8)):
        profile = run_clean(body, 1, 32, view, out, parameters="data, out")
        assert profile.global_load_sectors == count


def test_matmul_kernels_by_hand() -> None:
    """FACTS: 64 requests in 160 sectors for 32 steps of the coalesced kernel, 1056 strided."""
    n = 64
    A = B = np.ones((n, n), np.float32)
    body = """
        x, y = cuda.grid(2)
        row, col = ORDER
        acc = float32(0)
        for k in range(A.shape[1]):
            acc += A[row, k] * B[k, col]
        C[row, col] = acc
    """
    blocks = (n // 32) ** 2
    for order, sectors_per_warp in (("y, x", 5 * n), ("x, y", 33 * n)):
        C = np.zeros((n, n), np.float32)
        profile = run_clean(
            body.replace("ORDER", order), (n // 32, n // 32), (32, 32), A, B, C,
            parameters="A, B, C",
        )  # fmt: skip
        assert profile.global_load_requests == 2 * n * 32 * blocks
        assert profile.global_load_sectors == sectors_per_warp * 32 * blocks
        assert profile.global_load_bytes == 2 * n**3 * 4
        assert profile.flops == 2 * n**3
        assert profile.float64_flops == 0
        assert np.all(n == C)
        for name in ("global_load_requests", "global_load_sectors", "global_load_bytes", "flops"):
            lines = (getattr(each, name) for each in profile.lines.values())
            assert sum(lines) == getattr(profile, name)
        a, b, c = (profile.arrays[name] for name in "ABC")
        assert a.shape == (n, n) and a.load_requests == b.load_requests == n * 32 * blocks
        assert (a.loaded_elements, a.distinct_elements_loaded) == (n**3, n**2)
        assert (c.distinct_elements_stored, c.distinct_elements_loaded) == (n**2, 0)


def test_flops_count_active_lanes_and_fma_as_two() -> None:
    out = np.zeros(64, np.float32)
    body = """
        i = cuda.grid(1)
        x = out[i]
        if i < 10:
            x = x * x + x
            x = cuda.fma(x, x, x)
        x += 1 - 1 // 1
        out[i] = x / x - x
    """
    profile = run_clean(body.replace("x += 1 - 1 // 1", "x = -x"), 1, 64, out)
    # 10 lanes: multiply, add, fma (2); 64 lanes: divide, subtract. A negation is not counted here.
    assert profile.flops in (10 * 4 + 64 * 2, 10 * 4 + 64 * 3)


def test_branch_efficiency() -> None:
    out = np.zeros(64, np.float32)
    uniform = run_clean("i = cuda.grid(1)\nif i < 32:\n    out[i] = 1", 1, 64, out)
    split = run_clean("i = cuda.grid(1)\nif i < 40:\n    out[i] = 1", 1, 64, out)
    assert (uniform.branch_efficiency, uniform.divergent_branches) == (1.0, 0)
    assert (split.branches, split.divergent_branches, split.branch_efficiency) == (2, 1, 0.5)


VOID = {"br", "hr", "img", "input", "link", "meta"}


class Page(HTMLParser):
    """Checks that tags close, and collects the table's cells."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.rows: list[list[str]] = []
        self.words: list[str] = []
        self.feed(text)
        self.close()
        assert not self.open

    def handle_starttag(self, tag, attrs):
        assert tag not in VOID
        self.open.append(tag)
        self.tags.append((tag, dict(attrs)))
        if tag == "tr":
            self.rows.append([])
        if tag in ("td", "th"):
            self.rows[-1].append("")

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.words.append(data)
        if {"td", "th"} & set(self.open):
            self.rows[-1][-1] += data

    def row(self, number: int) -> dict[str, str]:
        """The cells of a line of the kernel, by the table's headings."""
        (found,) = [row for row in self.rows if row[-2] == str(number)]
        return dict(zip(self.rows[0], found, strict=True))


PROGRAM = as_program(
    """
    tile = cuda.shared.array(64, float32)
    i = cuda.threadIdx.x
    tile[2 * i] = out[i]
    cuda.syncthreads()
    if i < 3 and i < out.size:  # <script>alert('&amp;')</script>
        out[i] = tile[2 * i] * float32(2)
    """
)


@pytest.fixture(scope="module")
def profile() -> Profile:
    return launch(PROGRAM, 2, 32, np.ones(64, np.float32))


@pytest.fixture(scope="module")
def page(profile: Profile) -> Page:
    return Page(annotate.as_html(profile))


def test_each_line_has_its_counts(profile, page):
    store = page.row(line_of(PROGRAM, "tile[2 * i] = out"))
    assert store["sectors loaded"] == "8"
    assert store["shared wavefronts"] == "4"
    assert store["bank conflicts"] == "2"
    assert store["FLOP"] == store["sectors stored"] == ""
    double = page.row(line_of(PROGRAM, "out[i] = tile"))
    assert double["FLOP"] == "6"
    assert double["shared wavefronts"] == "2"
    assert double["source"].strip() == "out[i] = tile[2 * i] * float32(2)"
    assert page.rows[-1][: len(page.rows[0]) - 2] == [
        f"{column.of(profile):,}" for column in annotate.COLUMNS
    ]


def test_the_source_is_text_and_nothing_comes_from_outside(profile, page):
    assert "<script>alert('&amp;')</script>" in "".join(page.words)
    names = {name for _, attributes in page.tags for name in attributes}
    allowed = "div table caption thead tbody tfoot tr th td b ul li p"
    assert {tag for tag, _ in page.tags} <= set(allowed.split())
    assert names <= {"style", "scope", "title", "colspan", "role", "tabindex", "aria-label"}
    assert not re.search(r"url\(|http", annotate.as_html(profile))


def test_the_table_can_be_read_aloud(profile, page):
    scopes = [attributes.get("scope") for tag, attributes in page.tags if tag == "th"]
    assert scopes.count("col") == len(page.rows[0])
    assert scopes.count("row") == len(annotate.lines_of(profile)) + 1
    assert "".join(page.words).count("kernel: 64 threads") == 1
    # What a bar shows is said in words, too.
    line = line_of(PROGRAM, "tile[2 * i] = out")
    assert f"6 wavefronts of shared memory, 67 % of them at line {line}." in page.words
    region = page.tags[0][1]
    assert region["role"] == "region"
    assert "kernel" in region["aria-label"]


def test_each_column_shown_has_its_line_in_the_legend(profile):
    plain = run("out[cuda.grid(1)] = float32(1)", 1, 32, np.zeros(32, np.float32))
    for each, shown in ((profile, annotate.COLUMNS), (plain, annotate.COLUMNS[1:2])):
        page, lines = Page(annotate.as_html(each)), annotate.as_text(each).splitlines()
        for column in annotate.COLUMNS:
            said = column in shown
            assert page.words.count(f": {column.meaning}") == said
            assert lines.count(f"{column.short:>10}: {column.meaning}") == said
            assert len(column.meaning) < 88 and "\n" not in column.meaning


def test_findings_stand_under_their_line():
    program = as_program("s = cuda.shared.array(32, float32)\nout[0] = s[0]")
    profile = launch(program, 1, 1, np.zeros(1, np.float32))
    page = Page(annotate.as_html(profile))
    line = line_of(program, "out[0]")
    place = next(at for at, row in enumerate(page.rows) if row[-2] == str(line))
    assert "✗ error uninitialised-read" in page.rows[place + 1][-1]
    assert "uninitialised-read" in annotate.as_text(profile).splitlines()[-1]


def test_only_functions_that_ran_are_shown_and_these_whole():
    program = HEADER + (
        "def unused(x):\n    return x\n\n\n"
        "@cuda.jit(device=True)\ndef helper(x):\n    # a comment\n    return x + float32(1)\n\n\n"
        "@cuda.jit\ndef kernel(out):\n    '''Words.'''\n    out[0] = helper(out[0])\n    return\n"
    )
    profile = launch(program, 1, 1, np.zeros(1, np.float32))
    shown = [line.text for line in annotate.lines_of(profile)]
    assert {"    # a comment", "    '''Words.'''"} <= {*shown} and shown[-1] == "    return"
    assert shown.count("@cuda.jit") == 1
    assert "def unused(x):" not in shown
    text = annotate.as_text(profile)
    assert f"{line_of(program, 'return x + float')}      return x + float32(1)" in text


def test_a_terminal_gets_text_and_a_notebook_both(profile, capsys, monkeypatch):
    from IPython.core.formatters import DisplayFormatter

    text, table = annotate.as_text(profile), annotate.as_html(profile)
    profile.show()
    assert capsys.readouterr().out == text + "\n"
    shown = []
    monkeypatch.setattr(annotate, "_notebook_display", lambda: lambda *a, **k: shown.append((a, k)))
    profile.show()
    assert shown == [(({"text/html": table, "text/plain": text},), {"raw": True})]
    formats, _ = DisplayFormatter().format(profile)  # as a cell's value
    assert (formats["text/html"], formats["text/plain"]) == (table, repr(profile))


def test_ipython_is_used_where_it_runs_and_never_loaded():
    program = (
        "import sys\n"
        "from course_lib.emulator.profile import annotate\n"
        "assert 'IPython' not in sys.modules\n"
        "assert annotate._notebook_display() is None\n"
        "assert 'IPython' not in sys.modules\n"
        "from IPython.core.interactiveshell import InteractiveShell\n"
        "assert annotate._notebook_display() is None\n"
        "InteractiveShell.instance()\n"
        "assert annotate._notebook_display().__name__ == 'display'\n"
    )
    subprocess.run([sys.executable, "-c", program], check=True, timeout=60)


def test_every_counter_is_in_the_docs_with_its_metric():
    page = (Path(__file__).parents[2] / "docs" / "counters.md").read_text(encoding="utf-8")
    rows = [line.split("|")[1].strip(" `") for line in page.splitlines() if line.startswith("| `")]
    names = {each.name for each in fields(Counters)}
    names |= {name for name, each in vars(Counters).items() if isinstance(each, property)}
    assert len(rows) == len(set(rows))
    assert names - {"global_store_sectors_per_request"} == set(rows)
