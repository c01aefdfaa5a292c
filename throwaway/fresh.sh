# fresh.sh NAME : the 184 fresh answers, final code and line (held-out marks are counted only)
cd ${T:-/work/wt/p2}
for i in 0 1; do WHICH=zzz OFF=none PYTHONPATH=$PWD:tests:tests/mutants OMP_NUM_THREADS=1 /work/main/.venv/bin/python /work/notes/off.py $i 2 /work/notes/sh/$1$i.jsonl 4 2>&1 | grep -v "RuntimeWarn\|  [a-z]" | tail -3 & done; wait
python3 /work/notes/frs.py $1
