import json,sys,glob
sys.path[:0]=['tests','tests/mutants']
from expectations import all_mutants
M={(m.exercise,m.name):m for m in all_mutants()}
rows=[json.loads(l) for f in sorted(glob.glob(sys.argv[1])) for l in open(f)]
for r in rows:
    if r.get('ok'): continue
    if len(sys.argv)>2 and r['exercise'] not in sys.argv[2].split(','): continue
    m=M[r['exercise'],r['name']]
    lines=m.text.splitlines()
    want={c:sorted(x) for c,x in m.codes_at.items()} or sorted(m.codes)
    now=r['now']
    print(f"## {r['exercise']} {r['name']} cpu {r['cpu']}\n   want {want} {'any' if m.any_line else ''} lines:", '')
    print("   now", now[0],now[1],'|', lines[now[1]-1].strip() if now and now[1] else '', '|', now[2][:330])
