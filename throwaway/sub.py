"""sub.py ROWS_GLOB OUT_PREFIX PART OF [all|bad]: judges again the bad rows."""
import sys,json,glob,time
sys.path[:0]=['tests','tests/mutants']
from expectations import all_mutants
import course_lib
M={(m.exercise,m.name):m for m in all_mutants()}
rows=[json.loads(l) for f in sorted(glob.glob(sys.argv[1])) for l in open(f)]
bad=[r for r in rows if not r.get('ok')]
part,of=int(sys.argv[3]),int(sys.argv[4])
out=open(sys.argv[2]+f'_{part}.jsonl','w')
for r in sorted(bad,key=lambda r:(r['exercise'],r['name']))[part::of]:
    m=M[r['exercise'],r['name']]; t=time.process_time()
    rep=course_lib.examine_source(m.exercise,m.text,debug=True); e=rep.errors
    told=[*rep.findings] if m.is_warning else [*e[:1]]
    row=dict(exercise=m.exercise,name=m.name,now=(e[0].code,e[0].line,str(e[0]),str(e[0].hint)) if e else None,ok=any(not m.objection(x) for x in told) and rep.passed is m.is_warning,codeok=any(x.code in m.codes for x in told),cpu=round(time.process_time()-t,2))
    out.write(json.dumps(row)+'\n'); out.flush()
