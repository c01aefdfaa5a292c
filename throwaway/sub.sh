cd ${T:-/work/wt/p2}; export PYTHONPATH=$PWD OMP_NUM_THREADS=1
for i in 0 1; do /work/main/.venv/bin/python /work/notes/sub.py "$1" $2 $i 2 2>&1 | grep -v Warn & done; wait
python3 - <<P
import json,glob
r=[json.loads(l) for f in glob.glob("$2_?.jsonl") for l in open(f)]
c=sorted(x['cpu'] for x in r)
print(len(r),'ok',sum(x['ok'] for x in r),'cpu',sum(c),c[len(c)//2],c[-4:])
P
