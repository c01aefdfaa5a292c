from numba import cuda


@cuda.jit
def mat_add(A, B, C):
    x, y = cuda.grid(2)
    if y < C.shape[0]:
        a, b, c = A[y], B[y], C[y]
        if x < c.size:
            c[x] = a[x] + b[x]
