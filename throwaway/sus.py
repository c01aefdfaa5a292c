import sys,glob,json
sys.path[:0]=['tests','tests/mutants']
from expectations import all_mutants
import course_lib
import course_lib.diagnosis.examination as X
from course_lib.diagnosis.explained import CauseSearch
M={(m.exercise,m.name):m for m in all_mutants()}
got=[]
def w(l,f,t): got.append((l,f,t)); return f
X.with_causes=w
if ':' in sys.argv[1]: todo=[tuple(a.split(':')) for a in sys.argv[1:]]
else:
    rows=[json.loads(l) for f in sorted(glob.glob(sys.argv[1])) for l in open(f)]
    todo=[(r['exercise'],r['name']) for r in rows if not r.get('ok') and r['exercise'] in sys.argv[2].split(',')]
for k in todo:
    m=M[k]; got.clear()
    course_lib.examine_source(m.exercise,m.text,debug=True)
    print('##',*k,{n:sorted(c) for n,c in m.codes_at.items()} if 0 else {c:sorted(x) for c,x in m.codes_at.items()})
    lines=m.text.splitlines()
    for n in m.codes_at: print('    mark',n,lines[n-1].strip())
    if not got: print('   none'); continue
    l,f,t=got[0]
    s=CauseSearch(l,f[0],t)
    print('  seen',f[0].code,f[0].line)
    for x in s.facts: print('   ',x.kind,x.arrays,round(x.share,2),x.element,x.read,x.right,x.forms,x.terms,x.apart,x.lines)
