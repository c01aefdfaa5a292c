"""Answers whose text would do harm, or would change the grader, if anything executed it."""

from attack import EMPTY, MARK, RIGHT, Attack, answer, answers, function, kernel

# Each of these would make the checks themselves lie.
PATCHING = (
    *answers("patching", {
        "the-checker": "import course_lib.checking\n"
        "course_lib.checking.examine_source = lambda *given, **named: PASSED\n" + EMPTY,
        "the-record-of-a-verdict": "import course_lib.grading.records as records\n"
        "records.Judgement.from_json = classmethod(lambda kind, text: kind('mat_add'))\n" + EMPTY,
        "the-vocabulary": "from course_lib.wording.findings import CODES\nCODES.clear()\n"
        "from course_lib.curriculum import EXERCISES\nEXERCISES['mat_add'].points.clear()\n"
        + EMPTY,
        "numpy": "import numpy as np\nnp.allclose = np.array_equal = lambda *given: True\n"
        "np.ndarray.__eq__ = lambda a, b: True\n" + EMPTY,
        "builtins": "import builtins\nbuiltins.all = builtins.any = lambda items: True\n" + EMPTY,
        "stdout": "import sys\nsys.stdout.write = lambda text: len(text)\nsys.stdout.close()\n"
        + EMPTY,
        "numba-configuration": "import numba\nnumba.config.DISABLE_JIT = 1\n"
        "numba.cuda.jit = lambda f: f\n" + EMPTY,
        "curriculum-in-the-kernel": kernel(
            "course_lib.curriculum.EXERCISES.clear()\ncourse_lib.checking.examine = None",
            before="import course_lib"),
        "the-class-of-numbers": kernel("np.float32.__add__ = None\nA.__class__.__add__ = None"),
    }),
    answer("patching", "modules",
        "import sys\nsys.modules['course_lib'] = sys.modules['numpy'] = None\n" + RIGHT,
        earns="all"),
)  # fmt: skip

FRAMES = (
    *answers("frames", {
        "subclasses": kernel("x = ().__class__.__mro__[1].__subclasses__()\nC[0, 0] = 1"),
        "globals-of-a-function": kernel("x = mat_add.__globals__['__builtins__']\nC[0, 0] = 1"),
        "code-object": "mat_add = (lambda A, B, C: None).__code__.replace(co_code=b'x')\n",
        "traceback": kernel(
            "try:\n    C[0, 0] = 1 // 0\n"
            "except Exception as error:\n    x = error.__traceback__.tb_frame.f_back.f_globals"),
        "generator-frame": kernel("g = (i for i in (1,))\nC[0, 0] = g.gi_frame.f_back.f_locals"),
        "array-interface": kernel("C[0, 0] = A.__array_interface__['data'][0]\nA.base[:] = 0"),
        "array-to-a-file": kernel(f"A.tofile('{MARK}')\nB.dump('{MARK}')\nC[0, 0] = 1"),
        "array-by-address": kernel("x = A.ctypes.data\nC.ctypes.data_as(x)[0] = 1"),
    }),
    *answers("frames", {
        "record-to-its-class": function(
            "return device.__class__.__init__.__globals__['occupancy'](device, threads)"),
        "record-to-its-table": function("return device.values['blocks_per_sm']"),
        "number-to-its-class": function(
            "return threads.__class__.__base__.__subclasses__().__len__()"),
    }, exercise="blocks_per_sm"),
    *answers("frames", {
        "format-tricks": function("return '{0.__class__.__init__.__globals__}'.format(device)"),
        "f-string-tricks": function("return len(f'{device.__class__.__mro__!r:{threads}}')"),
    }, earns="review", exercise="blocks_per_sm"),
)  # fmt: skip

# All of this runs where the text is only defined, before any kernel is launched.
WRITE = f"open('{MARK}', 'w').write('x')"
DEFINING = (
    *answers("defining", {
        "default-value": f"@cuda.jit\ndef mat_add(A, B, C, x={WRITE}):\n    C[0, 0] = 1\n",
        "class-body": f"class Mine(metaclass=type):\n    {WRITE}\n"
        f"    def __init_subclass__(cls): {WRITE}\n" + EMPTY,
        "import-hook": "import importlib, sys\nsys.meta_path.insert(0, Hook())\n" + EMPTY,
        "global-and-nonlocal": kernel("global A, __builtins__\n__builtins__ = 1\nC[0, 0] = 1"),
        "asynchronous": "async def mat_add(A, B, C):\n    await A\n",
    }),
    answer("defining", "default-of-a-plain-function",
        f"def blocks_per_sm(device, threads, registers, shared_bytes={WRITE}):\n    return 1\n",
        earns="review", exercise="blocks_per_sm"),
    *answers("defining", {
        "decorator": RIGHT.replace("@cuda.jit", f'@exec("{WRITE}")\n@cuda.jit'),
        "decorator-lambda": RIGHT.replace("@cuda.jit", f"@(lambda f: {WRITE} and f)\n@cuda.jit"),
        "deleted-afterwards": RIGHT + "del mat_add\n",
        "bound-to-something-else": RIGHT + "mat_add = print\n",
    }, earns="review"),
    *answers("defining", {
        "annotations": RIGHT.replace("(A, B, C)", f"(A: {WRITE}, B: exec('1'), C: 0) -> {WRITE}"),
        "comprehension": f"x = [{WRITE} for i in range(3)]\n" + RIGHT,
        "walrus": f"(x := {WRITE})\n" + RIGHT,
        "lambda-called": f"(lambda: {WRITE})()\n" + RIGHT,
        "match-statement": f"match {WRITE}:\n    case _ if exec('1'):\n        pass\n" + RIGHT,
        "star-import": "from os import *\nsystem('true')\n" + RIGHT,
        "import-hidden-in-a-test": "if True:\n    import os\n    os._exit(0)\n" + RIGHT,
        "dunder-import": "x = __import__('os')\n" + RIGHT,
        "relative-import": "from .. import conftest\n" + RIGHT,
        "with-and-finally": f"with {WRITE}: pass\n" + RIGHT,
        "endless-at-the-top": "while True: pass\n" + RIGHT,
        "raises-at-the-top": "raise SystemExit(0)\n" + RIGHT,
    }, earns="all"),
)  # fmt: skip

# What stands in a string or a comment must stay there, whichever file it is copied into. All of
# these are right answers, so that a text that goes astray costs points.
BATCH_CELL = 'judge(0, "mat_add", "passed")'
VERDICT = (
    '{"exercise": "mat_add", "findings": [], "held": [], "needs_review": false, '
    '"numbers_right": true, "outcome": "judged"}'
)
OUT_OF_THE_STRING = {
    "triple-quotes": "'''\n" + '"""\n' + "''' \"\"\" ''''''" + '"""' * 3,
    "backslashes": "\\" * 7 + "' \\\" \\n \\x00 \\u0027 \\N{APOSTROPHE} \\",
    "line-separators": "a\u2028b\u2029c\x85d\x0be\x0cf\x1cg\x1dh\x1e i",
    "carriage-returns": "a\rb\r\nc\r\r\n",
    "formats": "{} {0.__class__} %s %(x)n $HOME ${PATH} $(id) `id` {{ x }} {% x %} <%= x %>",
    "json": '"]}], "metadata": {}, "cells": [{"source": "' + VERDICT,
    "cell-delimiters": "# %%\n# In[3]:\n#%% md\n# + [markdown]\n# ---\n# EXERCISE mat_add\n"
    + BATCH_CELL,
    "magics": "%%javascript\n%%bash\n!id\n%exit\n?\n%run x",
    "nbval-markers": "# NBVAL_SKIP\n# NBVAL_IGNORE_OUTPUT\n# NBVAL_RAISES_EXCEPTION\n"
    "# NBVAL_CHECK_OUTPUT",
    "markup": "</script><script>x()</script><!-- --> ]]> <![CDATA[ &#0; &lt; </pre></code>",
    "terminal": "\x1b[2J\x1b]0;x\x07\x1b[31m\x08\x08\x08\x7f\x9b1m",
    "spreadsheet": "=cmd|' /C calc'!A0\n@SUM(1)\n+1\n-1\n\t=1",
    "astral": "\U0001f600\U0010ffff\ufeff\u202e\u2066\u200d\ufdd0",
}


def _quoted(name: str, text: str) -> Attack:
    """A right answer with the text in a string and, line by line, in a comment."""
    comments = "".join(f"# {line}\n" for line in text.replace("\r", "\n").split("\n"))
    comments = "".join(c for c in comments if c not in "\x0b\x0c\x1c\x1d\x1e\x85\u2028\u2029")
    return answer("strings", name, f"TEXT = {text!r}\n{comments}{RIGHT}", earns="all")


STRINGS = (
    *answers("strings", {
        "nul": f"x = '\0'\n{RIGHT}",
        "half-a-surrogate-pair": f"x = '\ud800'\n{RIGHT}",
        "encoding-cookie": f"# -*- coding: utf-7 -*-\n# +AGE-\n{RIGHT}",
    }, earns="all"),
    *(_quoted(name, text) for name, text in OUT_OF_THE_STRING.items()),
)  # fmt: skip

FORGING = (
    *answers("forging", {
        "prints-a-verdict": f"print('''{VERDICT}''')\n" + EMPTY,
        "prints-a-verdict-from-the-kernel": kernel(f"print('{VERDICT}')"),
        "prints-a-verdict-and-writes": kernel(f"print('\\n{VERDICT}\\n')\nC[0, 0] = 1"),
        "verdict-in-the-docstring": EMPTY.replace("pass", f"'''{VERDICT}'''"),
        "verdict-in-a-name": kernel("PASSED_10_of_10 = 1\nC[0, 0] = PASSED_10_of_10"),
        "check-that-passes": EMPTY + "course_lib.check = lambda *given: print('PASSED')\n",
        "second-check": EMPTY + 'course_lib.check("mat_add", solution.mat_add)\n',
        "assertion": EMPTY + "assert True, 'mat_add: 10 of 10 points'\n",
    }),
)  # fmt: skip

READING = (
    *answers("reading", {
        "solutions": "exec(open('../solutions/00_start_here.ipynb').read())\n",
        "solutions-module": "from solutions import mat_add\n",
        "run-magic": "%run ../../solutions/00_start_here.ipynb\n",
    }, earns="review"),
    *answers("reading", {
        "load-magic": "%load ../neighbour-right/answer.ipynb\n",
        "shell": "!cat ../neighbour-right/answer.ipynb\n" + EMPTY,
        "numpy-loads-a-pickle": f"import numpy as np\n"
        f"X = np.load('{MARK}', allow_pickle=True)\n" + EMPTY,
        "numpy-in-the-kernel": kernel("C[0, 0] = np.fromfile('/etc/passwd')[0]"),
        "library-kernels": "from course_lib.kernels.rung_01_naive import naive as mat_add\n",
        "measured-counts": "from course_lib.problems.table import FAMILIES\n"
        + kernel("C[0, 0] = FAMILIES['sum'].answer(A, B)"),
        "the-checker-reads": "import inspect, linecache\n"
        "x = linecache.getlines('/etc/passwd')\n" + EMPTY,
    }),
    answer(
        "reading",
        "occupancy",
        "from course_lib.devices import occupancy\n"
        + function("return occupancy(device, threads, registers, shared_bytes).blocks"),
        exercise="blocks_per_sm"),
    answer("reading", "environment", "import os\nx = os.environ['GRADING_SECRET']\n" + RIGHT,
        earns="all"),
)  # fmt: skip

PROCESSES = (
    *answers("processes", {
        "kills-its-parent": "import os\nos.kill(os.getppid(), 9)\n" + RIGHT,
        "forks": "import os\nwhile True: os.fork()\n" + RIGHT,
        "daemon": f"import subprocess\n"
        f"subprocess.Popen(['sh', '-c', 'touch {MARK}; sleep 999'])\n" + RIGHT,
        "threads": "import threading\nthreading.Thread(target=print).start()\n" + RIGHT,
        "exit-hook": "import atexit\n@atexit.register\ndef last(): pass\n" + RIGHT,
        "signals": "import signal\nsignal.alarm(1)\n" + RIGHT,
        "crash": "import ctypes\nctypes.string_at(0)\n" + RIGHT,
        "socket": "import socket\nsocket.create_server(('', 40404))\n" + RIGHT,
        "download": "import urllib.request\nurllib.request.urlopen('http://localhost')\n" + RIGHT,
        "event-loop": "import asyncio\nasyncio.get_event_loop().run_forever()\n" + RIGHT,
    }, earns="all"),
    *answers("processes", {
        "exit-in-the-kernel": kernel("exit()\nquit()\nC[0, 0] = 1"),
        "interrupt-in-the-kernel": kernel("raise KeyboardInterrupt"),
        "shutdown": "get_ipython().kernel.do_shutdown(False)\n%kill\n" + EMPTY,
        "shell-magic": f"%%bash\ntouch {MARK}; kill -9 -1\n",
    }),
    answer("processes", "exit-in-a-function", function("raise SystemExit"),
        exercise="blocks_per_sm"),
)  # fmt: skip

# Code that a tool would run because of its name, if it stood in the tool's way.
STARTUP = (
    answer("start-up", "python", EMPTY, sitecustomize_py=WRITE, usercustomize_py=WRITE,
        mine_pth=f"import os; {WRITE}"),
    answer("start-up", "pytest", EMPTY, conftest_py=WRITE,
        pytest_ini="[pytest]\naddopts = --exitfirst", setup_cfg="[tool:pytest]\naddopts=-x",
        tox_ini="[pytest]"),
    answer("start-up", "project", EMPTY,
        pyproject_toml="[tool.pytest.ini_options]\naddopts = '--nope'", setup_py=WRITE),
    answer("start-up", "jupyter", EMPTY, jupyter_config_py=WRITE, jupyter_notebook_config_py=WRITE,
        ipython_config_py=WRITE),
    answer("start-up", "modules-of-ours", EMPTY, course_lib_py=WRITE, numpy_py=WRITE,
        nbval_py=WRITE, json_py=WRITE),
    answer("start-up", "grading-rules", EMPTY, grading_toml='[points]\n"mat_add" = 1000\n',
        grades_csv="submission,points\n", junit_xml="<x/>"),
)  # fmt: skip

INJECTION = (
    *answers("injection", {
        "markup-in-a-message": kernel(
            "C['</td><script>alert(1)</script><img src=x onerror=x>'] = 1"),
        "formula-in-a-message": kernel("C['=HYPERLINK(\"http://x\")'] = 1"),
        "xml-in-a-message": kernel("C[']]>\\x08\\x1b[2J\\x00<a>'] = 1"),
        "terminal-in-a-message": kernel("C['\x1b[2J\x1b]0;x\x07'] = 1"),
        "syntax-error-with-markup": "def mat_add(A, B, C): <script>alert(1)</script>\n",
        "formula-first": "=1+1\n",
        "undefined-name": kernel("C[0, 0] = alert_1_script_src_x_onerror"),
        "message-of-a-thousand-lines": kernel("C['" + "\\n" * 3000 + "x'] = 1"),
        "right-to-left": kernel("C['\u202eevil\u2066'] = 1"),
    }),
    answer(
        "injection",
        "code-for-the-page",
        "# </code></pre><script>x</script><style>*{display:none}</style>\n"
        "# <img src=http://localhost/x onerror=x> javascript:x\n" + RIGHT,
        earns="all"),
)  # fmt: skip

LOOKALIKES = (
    answer("look-alikes", "cyrillic-name", RIGHT.replace("mat_add", "m\u0430t_add"),
        earns="review"),
    *answers("look-alikes", {
        "fullwidth-name": RIGHT.replace("def mat_add", "def \uff4d\uff41\uff54_add"),
        "mathematical-names": RIGHT.replace("col", "\U0001d41c\U0001d428\U0001d425"),
        "fullwidth-open": "\uff4f\uff50\uff45\uff4e('x')\n" + RIGHT,
        "reversed-comment": RIGHT.replace("pass", "") + "# \u202e )C ,B ,A(dda_tam fed \u202c\n",
        "cyrillic-import": "import \u043es\n" + RIGHT,
        "dotless-module": "from nump\u0443 import x\n" + RIGHT,
    }, earns="all"),
    *answers("look-alikes", {
        "fullwidth-digits": RIGHT.replace("grid(2)", "grid(\uff12)"),
        "invisible-characters": RIGHT.replace("mat_add", "mat\u200b_add"),
        "byte-order-mark": "\ufeff" + RIGHT,
    }),
)  # fmt: skip

ATTACKS = PATCHING + FRAMES + DEFINING + STRINGS + FORGING
ATTACKS += READING + PROCESSES + STARTUP + INJECTION + LOOKALIKES
