"""Double buffers, rings and prefetches with one buffer or one barrier too few."""

from hazards.hazard import Hazard

START = """
    i = cuda.threadIdx.x
    g = cuda.grid(1)
    total = float32(0)
"""

HAZARDS = (
    Hazard("a ring of two where three are needed", START + """
    s = cuda.shared.array((3, 64), float32)
    s[0, i] = x[i]
    s[1, i] = x[64 + i]
    cuda.syncthreads()
    for t in range(4):
        total += s[t % 2, 63 - i]        #: #-
        s[t % 2, i] = x[128 + i]         #! WAR #-
        #+ total += s[t % 3, 63 - i]
        #+ s[(t + 2) % 3, i] = x[128 + i]
        cuda.syncthreads()
    out[g] = total
    """),
    Hazard("names of two buffers swapped without a barrier", START + """
    front = cuda.shared.array(64, float32)
    back = cuda.shared.array(64, float32)
    front[i] = x[g]                      #:
    #+ cuda.syncthreads()
    for t in range(2):
        back[i] = front[63 - i]          #! RAW #-
        front[i] = back[63 - i]          #! RAW WAR #-
        #+ back[i] = front[63 - i]
        #+ cuda.syncthreads()
        #+ front[i] = back[63 - i]
        #+ cuda.syncthreads()
    out[g] = front[i]
    """),
)  # fmt: skip
