"""fresh_search.py DIR odd|all: current line against the search's."""
import sys,glob,re,time,collections,json
sys.path.insert(0,'/work/notes')
import try_search
from try_search import launches, ALL
from course_lib.diagnosis.repair.search import Search
from course_lib.emulator import KernelRejected
from course_lib.diagnosis.provenance.suspects import explained
from course_lib.diagnosis.provenance.tables import experiment
now={r['file']:r for r in json.load(open(sys.argv[3]))}
CTX="import numpy as np\nimport math\nfrom numba import cuda, float32\n"
c=collections.Counter(); T=0
for p in sorted(glob.glob(sys.argv[1]+'/*.py')):
    f=p.split('/')[-1]
    if sys.argv[2]=='odd' and int(f[:3])%2==0: continue
    L=open(p).read().split('\n'); ex=L[0].split(':',1)[1].strip(); mark=L[1]; text='\n'.join(L[2:])
    if 'marked: wrong' not in mark or not ALL[ex].kind.is_launched: continue
    m=re.search(r'lines: \[([\d, ]*)\]',mark); good=[int(x) for x in m[1].split(',')]
    r=now[f]; c['n']+=1; c['line now']+=r.get('lineok',False)
    try: la,tr=launches(ex,text,CTX)
    except KernelRejected as e: print('REJ',f,e.findings[0].message); continue
    if all(t.right for t in tr): c['numbers right']+=1; continue
    t0=time.process_time()
    ee=experiment(la,[x for x in tr if not any(q.code=='timeout' for q in x.errors)]) ; fs=explained(ee) if ee else []
    tp=time.process_time()-t0; order=list(dict.fromkeys(x for f in fs for x in f.lines)); s=Search(la,tr,{l:n for n,l in enumerate(order)})
    try: reps=s.repairs()
    except KernelRejected as e: reps=[]; print('REJ2',f,e.findings[0].message)
    dt=time.process_time()-t0; T+=dt
    ok=bool(reps) and reps[0].line in good; anyok=any(x.line in good for x in reps)
    pok=bool(order) and order[0] in good; c['line by numbers']+=pok; c['in first 3']+=any(x in good for x in order[:3]); c['repaired']+=bool(reps); c['line by search']+=ok; c['any line']+=anyok; c['search only']+=ok and not r.get('lineok',False); c['now only (repaired)']+=bool(reps) and not ok and r.get('lineok',False)
    print(('LINE' if ok else 'oth ' if reps else '-   '),('now+' if r.get('lineok') else 'now-'),f,ex,'%.1f+%.1fs'%(tp,dt-tp),s.steps,good,r['first'],r['line'],[(e.cost,e.kind,e.line) for e in reps][:3],[(f.kind,f.lines[:3]) for f in fs][:3],flush=True)
print(dict(c),'%.0fs'%T)
