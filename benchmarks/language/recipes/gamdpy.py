"""gamdpy: molecules as points. What a kernel closes over is written here, for a plain system."""

from __future__ import annotations

import math

import numpy as np
from numba import cuda

from recipes.recipe import Launch, fixed, full, launch, real, whole

PARTICLES, SIDE = 40, 3


@cuda.jit(device=True)
def squared(here, there, sim_box):  # type: ignore[no-untyped-def]
    total = np.float32(0)
    for k in range(3):
        apart = here[k] - there[k]
        total += apart * apart
    return total


@cuda.jit(device=True)
def squared_and_apart(here, there, sim_box, apart):  # type: ignore[no-untyped-def]
    total = np.float32(0)
    for k in range(3):
        apart[k] = here[k] - there[k]
        total += apart[k] * apart[k]
    return total


@cuda.jit(device=True)
def type_of(particle, types):  # type: ignore[no-untyped-def]
    return types[particle]


@cuda.jit(device=True, inline=True)
def parameters_of(first, second, parameters):  # type: ignore[no-untyped-def]
    return parameters[first, second]


@cuda.jit(device=True)
def spring(distance, parameters, apart, force, scalars, stress, forces, other):  # type: ignore[no-untyped-def]
    pull = parameters[0] * (distance - parameters[1]) / distance
    for k in range(3):
        force[k] += apart[k] * pull
    scalars[0] += parameters[0] * math.sqrt(distance)


@cuda.jit(device=True)
def nothing(grid, vectors, scalars, ptype, sim_box, interaction_params):  # type: ignore[no-untyped-def]
    pass


@cuda.jit(device=True)
def drift(grid, vectors, scalars, r_im, sim_box, integrator_params, time, ptype):  # type: ignore[no-untyped-def]
    vectors[0, 0, 0] += time


AROUND = {
    "gridsync": False, "num_part": PARTICLES, "num_dim": 3, "D": 3, "pb": 16, "tp": 2, "r_id": 0,
    "f_id": 1, "sx_id": 2, "sy_id": 3, "sz_id": 4, "sw_id": 5, "num_cscalars": 2,
    "compute_stresses": False, "UtilizeNIII": False, "dist_sq_function": squared,
    "dist_sq_dr_function": squared_and_apart, "ptype_function": type_of,
    "params_function": parameters_of, "pairpotential_calculator": spring, "dot_v_f_id": 0,
    "vel_sql_id": 1, "forces_sql_id": 2, "u_id": 0, "compute_interactions": nothing,
    "integration_step": drift, "runtime_actions_prestep_kernel": None,
    "runtime_actions_poststep_kernel": None,
}  # fmt: skip
NAMES = {
    "vectors": real(6, PARTICLES, 3, low=-SIDE, high=SIDE, kind="f4"),
    "scalars": real(PARTICLES, 4, kind="f4"), "cscalars": full(PARTICLES, 2, kind="f4"),
    "ptype": whole(PARTICLES, high=2, kind="i4"), "r_im": full(PARTICLES, 3, kind="i4"),
    "sim_box": fixed([2.0 * SIDE] * 3, "f4"), "grid": 0, "time": np.float32(1.0),
    "params": real(2, 2, 3, low=1, high=4, kind="f4"),
    "nblist": whole(PARTICLES, 11, high=10, kind="i4"), "nbflag": fixed([9, 0, 0], "i4"),
    "exclusions": full(PARTICLES, 5, kind="i4"), "cut_plus_skin": np.float32(3.0),
    "r_ref": full(PARTICLES, 3, kind="f4"), "simbox_last_rebuild": full(3, kind="f4"),
    "cells_per_dimension": fixed([4, 4, 4], "i4"), "cells": full(4, 4, 4, value=-1, kind="i4"),
    "my_cell": full(PARTICLES, 3, kind="i4"), "next_particle_in_cell": full(PARTICLES, kind="i4"),
    "my_f": real(3, kind="f4"), "my_v": real(3, kind="f4"), "my_m": np.float32(1.0),
    "d_scalars_shared": real(4, low=1, high=2, kind="f4"), "my_a": real(3, kind="f4"),
    "my_b": real(3, kind="f4"), "result_arr": full(4, kind="f4"), "result_id": 1,
    "source_r": real(3, kind="f4"), "source_r_im": whole(3, high=9, kind="i4"),
    "dest_r": full(3, kind="f4"), "dest_r_im": full(3, kind="i4"),
    "interaction_params": (real(2, kind="f4"),), "integrator_params": (np.float32(0.1),),
    "runtime_actions_params": (np.float32(0.1),), "time_zero": np.float32(0.0), "steps": 3,
}  # fmt: skip

# A kernel that is given a `grid` to wait on is a device function wherever there is such a thing.
NO_LAUNCH = dict.fromkeys(
    ("kernel", "save_potential_energy_path", "calculate_potential_energy", "compute_interactions"),
    "It waits on a grid that is an argument, and that only a cooperative kernel has to give.",
)

# Blocks of 16 particles, two threads for each.
LAUNCHES = {
    name: launch(3, (16, 2))
    for name in (
        "get_dot_in_conf_space nblist_update put_particles_in_cells calc_forces integrator"
    ).split()
} | {  # these are given the rows of one particle
    name: Launch(3, (16, 2), around={"num_part": 1})
    for name in ("copy_positions_and_images", "update_velocities_kernel")
}
