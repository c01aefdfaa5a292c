"""The same kernel with another tile: a rung's file read once more, with other constants.

    small = variant("cp_async", A_GROUPS=1, B_GROUPS=2, WARPS_DOWN=4, WARPS_ACROSS=2, BK=16)
    small.launch(A, B, C)  # a block computes 128 x 64 outputs

To a compiler a tile's sides are constants, so every tile is a kernel of its own. C++ has templates
for that; here the rung's file is the template. It names its tile at its top and works everything
else out from that, and its code stands there once, as the lesson shows it.
"""

from __future__ import annotations

import ast
import inspect
from collections.abc import Mapping
from types import ModuleType
from typing import Any

from course_lib.kernels import rung_09_cp_async, rung_10_tensor_core_bf16
from course_lib.kernels.rung import RungKernel

TEMPLATES: dict[str, ModuleType] = {
    "cp_async": rung_09_cp_async,
    "tensor_core_bf16": rung_10_tensor_core_bf16,
}


def variant(name: str, **constants: int) -> RungKernel:
    """The rung of this name with other values for some constants of its file.

    Raises:
        KeyError: for a rung that has one tile only, or a constant that its file does not have.
        ValueError: for a tile whose copying the threads can't share evenly.
    """
    made: dict[str, Any] = {}
    try:
        read_again(TEMPLATES[name], constants, made)
    except SyntaxError as reason:  # from unroll, of no steps at all
        _check_shares(made)
        raise ValueError(f"{name} can't be made with {constants}: {reason.msg}") from reason
    _check_shares(made)
    rung: RungKernel = made["RUNG"]
    return rung


def read_again(usual: ModuleType, constants: Mapping[str, int], names: dict[str, Any]) -> None:
    """Run a rung's file with other values for some constants; `names` becomes what it defines.

    Raises:
        KeyError: for a constant that the file does not have.
    """
    unknown = constants.keys() - vars(usual).keys()
    if unknown:
        raise KeyError(f"{usual.RUNG.name} has no constant {min(unknown)}")
    tree = _WithConstants(dict(constants)).visit(ast.parse(inspect.getsource(usual)))
    # Under the same name and file, so that the kernel's source is found where it stands.
    made = ModuleType(usual.__name__)
    names.update(vars(made), __file__=usual.__file__)
    exec(compile(ast.fix_missing_locations(tree), str(usual.__file__), "exec"), names)


def _check_shares(constants: Mapping[str, Any]) -> None:
    """Whether a thread copies a whole number of pieces of each tile, and not too many of A's."""
    for matrix, side in (("A", "BM"), ("B", "BK")):
        rows, at_once = constants[side], constants[f"{matrix}_ROWS"]
        steps = constants[f"{matrix}_STEPS"]
        most = constants.get(f"MOST_{matrix}_STEPS", steps)
        if not 0 < steps <= most or steps * at_once != rows:
            raise ValueError(
                f"{constants['THREADS']} threads can't share a tile of {matrix}: it has {rows} "
                f"rows, and they copy {at_once} at once"
            )


class _WithConstants(ast.NodeTransformer):
    """Gives other values in assignments at the top of a file: `BK = 8`, `DOWN, ACROSS = 4, 8`."""

    def __init__(self, constants: dict[str, int]) -> None:
        self.constants = constants

    def visit_Assign(self, node: ast.Assign) -> ast.Assign:
        (target,) = node.targets
        if isinstance(target, ast.Tuple) and isinstance(node.value, ast.Tuple):
            pairs = zip(target.elts, node.value.elts, strict=True)
            node.value.elts = [self._value(name, value) for name, value in pairs]
        else:
            node.value = self._value(target, node.value)
        return node

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.FunctionDef:
        return node  # what a kernel computes is no constant

    def _value(self, target: ast.expr, value: ast.expr) -> ast.expr:
        if isinstance(target, ast.Name) and target.id in self.constants:
            return ast.copy_location(ast.Constant(self.constants[target.id]), value)
        return value
