"""Sums, maxima and prefix sums in shared memory."""

from __future__ import annotations

from hazards.hazard import Hazard

SHARED = """
    s = cuda.shared.array(64, float32)
    i = cuda.threadIdx.x
    g = cuda.grid(1)
    s[i] = x[g]
"""

HAZARDS = (
    Hazard("tree without barriers between its levels", SHARED + """
    cuda.syncthreads()
    step = 32
    while step > 0:
        if i < step:
            s[i] += s[i + step]          #! RAW
        #+ cuda.syncthreads()
        step //= 2
    if i == 0:
        out[cuda.blockIdx.x] = s[0]
    """),
    Hazard("tree without the barrier before its first level", SHARED.replace("x[g]", "x[g]   #:")
    + """
    step = 32
    #+ cuda.syncthreads()
    while step > 0:
        if i < step:
            s[i] += s[i + step]          #! RAW
        cuda.syncthreads()
        step //= 2
    if i == 0:
        out[cuda.blockIdx.x] = s[0]
    """),
    Hazard("tree with growing steps", SHARED + """
    cuda.syncthreads()
    step = 1
    while step < 64:
        if i % (2 * step) == 0:
            s[i] += s[i + step]          #! RAW
        #+ cuda.syncthreads()
        step *= 2
    if i == 0:
        out[cuda.blockIdx.x] = s[0]
    """),
    Hazard("tree with neighbouring threads at work", SHARED + """
    cuda.syncthreads()
    step = 1
    while step < 64:
        k = 2 * step * i
        if k < 64:
            s[k] += s[k + step]          #! RAW WAR WAW
        #+ cuda.syncthreads()
        step *= 2
    if i == 0:
        out[cuda.blockIdx.x] = s[0]
    """),
    Hazard("tree in which the upper half works too", SHARED + """
    cuda.syncthreads()
    step = 32
    while step > 0:
        s[i] += s[(i + step) % 64]       #! WAR #-
        #+ if i < step:
        #+     s[i] += s[i + step]
        cuda.syncthreads()
        step //= 2
    if i == 0:
        out[cuda.blockIdx.x] = s[0]
    """),
    Hazard("the last warp leaves out its barriers", SHARED + """
    cuda.syncthreads()
    if i < 32:
        s[i] += s[i + 32]                #:
    cuda.syncthreads()
    if i < 32:
        for k in range(5):
            step = 16 >> k
            #+ if i < step:
            #+     s[i] += s[i + step]
            s[i] += s[(i + step) % 32]   #! RAW WAR #-
            #+ cuda.syncwarp()
    if i == 0:
        out[cuda.blockIdx.x] = s[0]
    """),
    Hazard("the sum is read before the last level is done", SHARED + """
    cuda.syncthreads()
    step = 32
    while step > 0:
        if i < step:
            s[i] += s[i + step]          #:
        if step > 1:                     #-
            cuda.syncthreads()           #-
        #+ cuda.syncthreads()
        step //= 2
    out[g] = s[0]                        #! RAW
    """),
    Hazard("one thread adds up too early", SHARED.replace("x[g]", "x[g]   #:") + """
    #+ cuda.syncthreads()
    if i == 0:
        total = float32(0)
        for k in range(64):
            total += s[k]                #! RAW
        out[cuda.blockIdx.x] = total
    """),
    Hazard("all threads add to one cell", """
    s = cuda.shared.array(1, float32)
    i = cuda.threadIdx.x
    if i == 0:
        s[0] = 0
    cuda.syncthreads()
    s[0] += x[i]                         #! WAR WAW #-
    #+ cuda.atomic.add(s, 0, x[i])
    cuda.syncthreads()
    if i == 0:
        out[cuda.blockIdx.x] = s[0]
    """),
    Hazard("the buffer of the maxima is used for the sums", SHARED + """
    cuda.syncthreads()
    step = 32
    while step > 0:
        if i < step:
            s[i] = max(s[i], s[i + step])
        cuda.syncthreads()
        step //= 2
    largest = s[0]                       #:
    #+ cuda.syncthreads()
    s[i] = x[g] - largest                #! WAR
    cuda.syncthreads()
    out[g] = s[63 - i] + largest
    """),
    Hazard("place and value of the largest element", """
    s = cuda.shared.array(64, float32)
    place = cuda.shared.array(64, int32)
    i = cuda.threadIdx.x
    s[i] = x[63 - i]
    place[i] = i                         #:
    #+ cuda.syncthreads()
    step = 32
    while step > 0:
        if i < step and place[i + step] < 64:    #! RAW
            if s[i + step] > s[i]:
                s[i] = s[i + step]
                place[i] = place[i + step]
        cuda.syncthreads()
        step //= 2
    if i == 0:
        out[cuda.blockIdx.x] = place[0] + s[0]
    """.replace("s[i] = x[63 - i]", "s[i] = x[63 - i]\n    cuda.syncthreads()")),
    Hazard("a sum for each row of the block", """
    s = cuda.shared.array((8, 8), float32)
    a, b = cuda.threadIdx.x, cuda.threadIdx.y
    s[b, a] = x[8 * b + a]
    cuda.syncthreads()
    step = 4
    while step > 0:
        if a < step:
            s[b, a] += s[b, a + step]    #! RAW
        #+ cuda.syncthreads()
        step //= 2
    if a == 0:
        out[8 * cuda.blockIdx.x + b] = s[b, 0]
    """, block=(8, 8)),
    Hazard("scan, read and written in one line", SHARED + """
    cuda.syncthreads()
    step = 1
    while step < 64:
        if i >= step:                    #-
            s[i] += s[i - step]          #! WAR #-
        #+ value = s[i]
        #+ if i >= step:
        #+     value += s[i - step]
        #+ cuda.syncthreads()
        #+ s[i] = value
        cuda.syncthreads()
        step *= 2
    out[g] = s[i]
    """),
    Hazard("scan with a barrier too few in each turn", SHARED + """
    cuda.syncthreads()
    step = 1
    while step < 64:
        value = s[i]
        if i >= step:
            value += s[i - step]         #:
        #+ cuda.syncthreads()
        s[i] = value                     #! WAR
        cuda.syncthreads()
        step *= 2
    out[g] = s[i]
    """),
    Hazard("scan that does not wait for the next turn", SHARED + """
    cuda.syncthreads()
    step = 1
    while step < 64:
        value = s[i]
        if i >= step:
            value += s[i - step]         #! RAW
        cuda.syncthreads()
        s[i] = value                     #:
        #+ cuda.syncthreads()
        step *= 2
    out[g] = s[i]
    """),
    Hazard("scan from the top: first half", SHARED + """
    cuda.syncthreads()
    step = 1
    while step < 64:
        k = 2 * step * (i + 1) - 1
        if k < 64:
            s[k] += s[k - step]          #! RAW WAR WAW
        #+ cuda.syncthreads()
        step *= 2
    #+ cuda.syncthreads()
    if i == 63:
        out[cuda.blockIdx.x] = s[63]     #! RAW
    """),
    Hazard("scan from the top: second half", SHARED + """
    cuda.syncthreads()
    step = 32
    while step > 0:
        k = 2 * step * (i + 1) - 1
        if k < 64:
            left = s[k - step]           #:
            s[k - step] = s[k]           #! RAW
            s[k] += left                 #! RAW WAR WAW
        #+ cuda.syncthreads()
        step //= 2
    cuda.syncthreads()
    out[g] = s[i]
    """),
    Hazard("mean first, then the distance from it", SHARED + """
    m = cuda.shared.array(1, float32)
    cuda.syncthreads()
    if i == 0:
        total = float32(0)
        for k in range(64):
            total += s[k]
        m[0] = total / float32(64)       #:
    #+ cuda.syncthreads()
    out[g] = s[i] - m[0]                 #! RAW
    """),
)  # fmt: skip
