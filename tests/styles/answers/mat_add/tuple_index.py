from numba import cuda


@cuda.jit
def mat_add(A, B, C):
    j, i = cuda.grid(2)
    here = (i, j)
    if i < C.shape[0]:
        if j < C.shape[1]:
            C[here] = A[here] + B[here]
        else:
            pass
