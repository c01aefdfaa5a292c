"""Global memory: threads of one block, and blocks of one launch, which nothing orders."""

from hazards.hazard import Hazard

START = """
    i = cuda.threadIdx.x
    g = cuda.grid(1)
"""

HAZARDS = (
    Hazard("a fence does not order blocks", START + """
    out[g] = x[g]                        #:
    cuda.threadfence()
    out[256 + g] = out[127 - g]          #! RAW #-
    #+ cuda.syncthreads()
    #+ out[256 + g] = out[64 * cuda.blockIdx.x + 63 - i]
    """),
    Hazard("all blocks write one element", START + """
    out[0] = g                           #! WAW #-
    #+ if g == 0:
    #+     out[0] = 1
    """, grid=3),
    Hazard("a grid-stride loop with the wrong stride", START + """
    for k in range(g, 256, 64):          #-
    #+ for k in range(g, 256, 128):
        out[k] = x[k]                    #! WAW
    """),
    Hazard("histogram without atomics", START + """
    count[int(x[g]) % 16] += 1           #! WAR WAW #-
    #+ cuda.atomic.add(count, int(x[g]) % 16, 1)
    """),
    Hazard("a flag tells another block to go on", START + """
    if cuda.blockIdx.x == 0:
        out[i] = x[g]
        cuda.threadfence()
        if i == 0:
            count[0] = 1                 #: #-
            #+ cuda.atomic.add(count, 0, 1)
    else:
        #+ cuda.atomic.add(count, 1, 1)
        if count[0] == 1:                #! RAW #-
            out[g] = x[g]                #-
    """),
    Hazard("the last block adds up what the others stored, without a fence", START + """
    if i == 0:
        out[1 + cuda.blockIdx.x] = x[g]          #:
        #+ cuda.threadfence()
        if cuda.atomic.add(count, 0, 1) == cuda.gridDim.x - 1:
            for k in range(cuda.gridDim.x):
                out[0] += out[1 + k]             #! RAW
    """, grid=4),
    Hazard("not only the last block adds up what the others stored", START + """
    if i == 0:
        out[1 + cuda.blockIdx.x] = x[g]          #:
        cuda.threadfence()
        ticket = cuda.atomic.add(count, 0, 1)
        if ticket >= cuda.gridDim.x - 2:         #-
        #+ if ticket == cuda.gridDim.x - 1:
            for k in range(cuda.gridDim.x):
                out[8 + cuda.blockIdx.x] += out[1 + k]   #! RAW #-
                #+ out[8] += out[1 + k]
    """, grid=4),
)  # fmt: skip
