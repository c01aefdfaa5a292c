"""Memory reached through views, device functions, closures, and overlapping dynamic arrays."""

from hazards.hazard import Hazard

START = """
    i = cuda.threadIdx.x
    g = cuda.grid(1)
"""
SHARED = (
    """
    s = cuda.shared.array(64, float32)
"""
    + START
)

HAZARDS = (
    Hazard("through a row", """
    s = cuda.shared.array((8, 8), float32)
    i = cuda.threadIdx.x
    row = s[i // 8]
    row[i % 8] = x[i]                    #:
    #+ cuda.syncthreads()
    out[cuda.grid(1)] = s[i % 8, i // 8] #! RAW
    """),
    Hazard("through two slices that overlap", SHARED + """
    if i < 48:
        s[:48][i] = x[g]                 #:
    #+ cuda.syncthreads()
    if i >= 48:
        out[g] = s[24:][i - 48]          #! RAW
    """),
    Hazard("written and read by device functions", SHARED + """
    put(s, i, x[g])
    #+ cuda.syncthreads()
    out[g] = opposite(s, i)
    """, before="""
    @cuda.jit(device=True)
    def put(array, i, value):
        array[i] = value                 #:

    @cuda.jit(device=True)
    def opposite(array, i):
        return array[63 - i]             #! RAW
    """),
    Hazard("a device function is called twice", SHARED + """
    first = exchange(s, i, x[g])
    #+ cuda.syncthreads()
    out[g] = first + exchange(s, i, first)
    """, before="""
    @cuda.jit(device=True)
    def exchange(array, i, value):
        array[i] = value                 #! WAR
        cuda.syncthreads()
        return array[63 - i]             #:
    """),
    Hazard("a function within the kernel", SHARED + """
    def opposite():
        return s[63 - i]                 #! RAW

    s[i] = x[g]                          #:
    #+ cuda.syncthreads()
    out[g] = opposite()
    """),
    Hazard("two dynamic arrays of different types are one", START + """
    a = cuda.shared.array(0, float32)    #-
    #+ a = cuda.shared.array(0, float32)[:64]
    b = cuda.shared.array(0, int32)      #-
    #+ b = cuda.shared.array(0, int32)[64:]
    a[i] = x[g]                          #:
    b[63 - i] = i                        #! WAW
    cuda.syncthreads()
    out[g] = a[i] + b[i]
    """, shared_bytes=512),
    Hazard("parts of a dynamic array overlap", START + """
    a = cuda.shared.array(0, float32)
    b = a[60:]                           #-
    #+ b = a[64:]
    a[i] = x[g]                          #:
    b[i] = x[g] + 1                      #! WAW
    cuda.syncthreads()
    out[g] = a[i] + b[i]
    """, shared_bytes=512),
)  # fmt: skip
