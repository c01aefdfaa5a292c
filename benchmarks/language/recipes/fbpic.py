"""FBPIC: a plasma in cylindrical modes, particles in one dimension, fields in two."""

from __future__ import annotations

import numpy as np

from recipes.recipe import Array, full, launch, real, states, whole

N, NZ, NR = 150, 12, 10  # particles, cells
C, E = 299792458.0, 1.602176634e-19
CELLS = NZ * (NR + 1)
AROUND = {
    "c": C, "e": E, "m_e": 9.1093837e-31, "epsilon_0": 8.8541878128e-12, "mu_0": 1.25663706212e-06,
    "physical_constants": {"classical electron radius": (2.8179403262e-15,)},
}  # fmt: skip


def _counts() -> Array:
    """How many particles lie in the cells up to each one."""
    return Array(lambda random: np.sort(random.integers(0, N, CELLS)).astype("i4"))


def _table(names: str, value: Array) -> dict[str, Array]:
    return dict.fromkeys(names.split(), value)


FIELD = real(NZ, NR, low=-1, kind="c16")
NAMES = (
    _table(
        "Er Et Ez Br Bt Bz Er_pml Et_pml Br_pml Bt_pml grid grid_r grid_t grid_z pml_r pml_t "
        "Jp Jm Jz rho_prev rho_next rho_next_z rho_next_xy Ep Em Bp Bm Ep_pml Em_pml Bp_pml "
        "Bm_pml field fieldr fieldt fieldz rho_m j_r_m j_t_m j_z_m rho_m0 rho_m1 j_r_m0 j_r_m1 "
        "j_t_m0 j_t_m1 j_z_m0 j_z_m1 Er_m Et_m Ez_m Br_m Bt_m Bz_m Er_m0 Et_m0 Ez_m0 Er_m1 Et_m1 "
        "Ez_m1 Br_m0 Bt_m0 Bz_m0 Br_m1 Bt_m1 Bz_m1 buffer_r buffer_t buffer_p buffer_m array_2d "
        "array array_r array_t array_z T_eb T_cc T_rho j_corr_coef j_coef rho_prev_coef "
        "rho_next_coef field_array",
        FIELD,
    )
    | _table("C S_w inv_k2 kr kz", real(NZ, NR, low=0.1))
    | _table("x y elec_x elec_y", real(N, low=-6, high=6))
    | _table("z elec_z", real(N, high=NZ))
    | _table("ux uy uz ux_prev uy_prev uz_prev elec_ux elec_uy elec_uz", real(N, low=-1))
    | _table("w inv_gamma elec_w elec_inv_gamma val gamma_inv", real(N, low=0.5))
    | _table("sx sy sz vx vy vz", real(N, low=-1))
    | {
        "q": -1.0, "m": 1, "invdz": 1.0, "zmin": 0.0, "Nz": NZ, "invdr": 1.0, "rmin": 0.0, "Nr": NR,
        "rmax_gather": 9.0, "cell_idx": whole(N, high=CELLS, kind="i4"), "dt": 1e-9,
        "sorted_idx": whole(N, high=N), "prefix_sum": _counts(), "beta_n": real(NR + 1),
        "beta_n_m0": real(NR + 1), "beta_n_m1": real(NR + 1), "inv_dt": 3.0, "V": 0.5 * C,
        "use_true_rho": True, "filter_array_z": real(NZ), "filter_array_r": real(NR),
        "copy_left": True, "copy_right": True, "nz_start": 2, "nz_end": 6, "nd": 5,
        "damp_array": real(NZ), "n_pml": 4, "Ntot": N, "z_plane": 5.0, "anom": 1.16e-3,
        "ionization_level": whole(N, high=4, kind="u8"), "invvol": real(NR, low=0.1),
        "vec_buffer_l": real(6, 4, NR, kind="c16"), "vec_buffer_r": real(6, 4, NR, kind="c16"),
        "scal_buffer_l": real(2, 4, NR, kind="c16"), "scal_buffer_r": real(2, 4, NR, kind="c16"),
        "batch_size": 10, "N_batch": N // 10, "random_states": states(N // 10),
    }
)  # fmt: skip

# FBPIC's launches: one thread for a particle, or for a point of the field.
ONE, TWO = (2, 128), ((NZ + 1, 1), (1, 16))
FORCES = _table("Ex Ey Ez", real(N, low=-1))
MOVED = FORCES | _table("Bx By Bz", real(N, low=-1))
# Charges, masses and steps that turn a particle by about one radian.
PUSHED = FORCES | _table("Bx By Bz", real(N, low=-1e-8, high=1e-8)) | {"m": 1e-8, "dt": 1.0}
IONS_PUSHED = PUSHED | {"m": 1e-27}
PML = {"vec_buffer_l": real(10, 4, NR, kind="c16"), "vec_buffer_r": real(10, 4, NR, kind="c16")}
ELECTRONS = _table(
    "elec_x elec_y elec_z elec_inv_gamma elec_ux elec_uy elec_uz elec_w elec_Ex elec_Ey elec_Ez "
    "elec_Bx elec_By elec_Bz elec_sx elec_sy elec_sz",
    full(N + 40),
)
IONS = _table(
    "ion_x ion_y ion_z ion_inv_gamma ion_ux ion_uy ion_uz ion_w ion_Ex ion_Ey ion_Ez ion_Bx ion_By "
    "ion_Bz ion_sx ion_sy ion_sz rand_sx rand_sy rand_sz",
    real(N),
)
IONISED = ELECTRONS | IONS | {
    "elec_old_Ntot": 20, "ion_Ntot": N, "i_level": 1, "store_electrons_per_level": True,
    "ionized_from": whole(N, low=-1, high=3, kind="i2"),
    "cumulative_n_ionized": Array(lambda random: np.tile(np.arange(N // 10 + 1) * 8, (3, 1))),
}  # fmt: skip
PHOTONS = _table(
    "photon_x photon_y photon_z photon_inv_gamma photon_ux photon_uy photon_uz photon_w",
    full(5 + 3 * N),
)
PHOTON = {"photon_p": 1e-22, "photon_px": 0.0, "photon_py": 0.0, "photon_pz": -1e-22}

LAUNCHES = (
    {
        name: launch(*TWO)
        for name in (
            "copy_vec_to_gpu_buffer copy_scal_to_gpu_buffer replace_vec_from_gpu_buffer "
            "replace_scal_from_gpu_buffer add_vec_from_gpu_buffer add_scal_from_gpu_buffer "
            "cuda_damp_EB_left cuda_damp_EB_left_pml cuda_damp_EB_right cuda_damp_EB_right_pml "
            "cuda_damp_pml_EB cuda_erase_scalar cuda_erase_vector cuda_divide_scalar_by_volume "
            "cuda_divide_vector_by_volume cuda_correct_currents_curlfree_standard "
            "cuda_correct_currents_crossdeposition_standard "
            "cuda_correct_currents_curlfree_comoving "
            "cuda_correct_currents_crossdeposition_comoving cuda_push_eb_pml_standard "
            "cuda_push_eb_comoving cuda_push_eb_pml_comoving cuda_push_rho cuda_filter_scalar "
            "cuda_filter_vector cuda_rt_to_pm cuda_pm_to_rt"
        ).split()
    }
    | {
        name: launch(*ONE, **MOVED)
        for name in (
            "gather_field_gpu_linear gather_field_gpu_cubic erase_eb_cuda "
            "gather_field_gpu_linear_one_mode gather_field_gpu_cubic_one_mode "
            "get_cell_idx_per_particle "
            "deposit_rho_gpu_linear deposit_J_gpu_linear deposit_rho_gpu_cubic deposit_J_gpu_cubic "
            "deposit_rho_gpu_linear_one_mode deposit_J_gpu_linear_one_mode "
            "deposit_rho_gpu_cubic_one_mode deposit_J_gpu_cubic_one_mode "
            "deposit_rho_gpu_unsorted deposit_J_gpu_unsorted"
        ).split()
    }
    | {
        "push_p_gpu": launch(*ONE, **PUSHED),
        "push_p_after_plane_gpu": launch(*ONE, **PUSHED),
        "push_s_gpu": launch(*ONE, **PUSHED),
        "push_p_ioniz_gpu": launch(*ONE, **IONS_PUSHED),
        "push_s_ioniz_gpu": launch(*ONE, **IONS_PUSHED),
        "copy_pml_to_gpu_buffer": launch(*TWO, **PML),
        "replace_pml_from_gpu_buffer": launch(*TWO, **PML),
        "cuda_push_eb_standard": launch(
            *TWO, **_table("rho_prev_coef rho_next_coef j_coef", real(NZ, NR)), use_true_rho=False
        ),
        "cuda_copy_2dC_to_2dR": launch(*TWO, array_in=FIELD, array_out=full(2 * NZ, NR)),
        "cuda_copy_2dR_to_2dC": launch(
            *TWO, array_in=real(2 * NZ, NR), array_out=full(NZ, NR, kind="c16")
        ),
        "cuda_copy_2d_to_1d": launch(*TWO, array_1d=full(NZ * NR, kind="c16")),
        "cuda_copy_1d_to_2d": launch(*TWO, array_1d=real(NZ * NR, kind="c16")),
        "shift_spect_array_gpu": launch(*TWO, shift_factor=real(NZ, kind="c16"), n_move=-3),
        "split_particles_to_buffers": launch(
            *ONE, particle_array=real(N), left_buffer=full(30), stay_buffer=full(80),
            right_buffer=full(40), i_min=30, i_max=110,
        ),
        "copy_particles": launch(
            *ONE, N_elements=90, source_array=real(N), source_start=20, target_array=full(N),
            target_start=5,
        ),
        "shift_particles_periodic_cuda": launch(
            *ONE, z=real(N, low=-20, high=30), zmin=0.0, zmax=float(NZ)
        ),
        "copy_particle_data_cuda": launch(*ONE, old_array=real(N), new_array=full(N + 9)),
        "push_x_gpu": launch(*ONE, x_push=1.0, y_push=1.0, z_push=1.0),
        "generate_ids_gpu": launch(
            *ONE, id_array=full(N, kind="u8"), i_start=10, i_end=N, next_attributed_id=7, id_step=3
        ),
        "incl_prefix_sum": launch(
            *ONE, cell_idx=Array(lambda random: np.sort(random.integers(0, CELLS, N)).astype("i4")),
            prefix_sum=full(CELLS, kind="i4"),
        ),
        "prefill_prefix_sum": launch(
            *ONE, cell_idx=Array(lambda random: np.sort(random.integers(5, 99, N)).astype("i4"))
        ),
        "write_sorting_buffer": launch(*ONE, buf=full(N)),
        "get_photon_density_gaussian_cuda": launch(
            *ONE, photon_n=full(N), elec_Ntot=N, ct=0.4, photon_n_lab_max=3.0, inv_laser_waist2=0.1,
            inv_laser_ctau2=0.2, laser_initial_z0=3.0, gamma_boost=1.5, beta_boost=0.74,
        ),
        "determine_scatterings_cuda": launch(
            1, 32, elec_Ntot=N, nscatter_per_elec=full(N, kind="i8"),
            nscatter_per_batch=full(N // 10, kind="i8"), ratio_w_electron_photon=1.0,
            photon_n=real(N, high=1e30), **PHOTON, photon_beta_x=0.0, photon_beta_y=0.0,
            photon_beta_z=-1.0,
        ),
        "scatter_photons_electrons_cuda": launch(
            1, 32, photon_old_Ntot=5, elec_Ntot=N, **PHOTON, **PHOTONS,
            cumul_nscatter_per_batch=Array(lambda random: np.arange(N // 10 + 1) * 30),
            nscatter_per_elec=whole(N, high=4), inv_ratio_w_elec_photon=0.5,
        ),
        "ionize_ions_cuda": launch(
            1, 32, **MOVED, level_start=0, level_max=3, n_levels=3,
            n_ionized=full(3, N // 10, kind="i8"), ionized_from=full(N, kind="i2"),
            random_draw=real(N), adk_prefactor=real(4), adk_power=real(4, low=-1),
            adk_exp_prefactor=real(4, low=-1, high=0), w_times_level=real(N),
        ),
        "copy_ionized_electrons_cuda": launch(1, 32, **IONISED),
        "copy_ionized_electron_spin_cuda": launch(1, 32, **IONISED),
        "gather_synchrotron_cuda": launch(
            1, 32, **MOVED | _table("Ex Ey Ez", real(N, low=-1e9, high=1e9)),
            **_table("ux uy", real(N, low=-0.1, high=0.1)), uz=real(N, low=5, high=9),
            gamma_inv=real(N, low=0.1, high=0.2), Larmore_factor_density=1e-3,
            Larmore_factor_momentum=1e-30, gamma_cutoff_inv=0.9, radiation_reaction=True,
            omega_ax=Array(lambda random: np.linspace(1e6, 1e9, 6)), SR_dxi=0.1,
            SR_xi_data=real(50), theta_x_min=-0.2, theta_x_max=0.2, d_th_x=0.05, theta_y_min=-0.2,
            theta_y_max=0.2, d_th_y=0.05, spect_batch=full(N // 10, 6),
            rng_states_batch=states(N // 10), radiation_data=full(10, 10, 6),
        ),
        "extract_particles_from_gpu": launch(*ONE, part_idx_start=20, selected=full(8, 90)),
        "extract_array_from_gpu": launch(
            *ONE, part_idx_start=20, array=real(N), selected=full(90)
        ),
        "extract_slice_cuda": launch(
            1, 16, iz=3, Sz=0.3, slice_arr=full(10, 3, NR), Jr=FIELD, Jt=FIELD, rho=FIELD
        ),
    }
)  # fmt: skip
