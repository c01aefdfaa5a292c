import sys,cProfile,pstats,time
sys.path[:0]=['tests','tests/mutants']
from expectations import all_mutants
import course_lib
import course_lib.diagnosis.examination as X
from course_lib.diagnosis.repair import search as S
ex,name=sys.argv[1:3]
m=next(m for m in all_mutants() if (m.exercise,m.name)==(ex,name))
got=[]
def w(l,f,t): got.append((l,t)); return f
X.with_a_change=w
course_lib.examine_source(ex,m.text,debug=True)
l,t=got[0]
from course_lib.diagnosis.trial import runs_out
in_order=[x for x in t if x.case.is_counted]
from course_lib.diagnosis.provenance.tables import experiment
from course_lib.diagnosis.provenance.suspects import explained
made=experiment(l,[x for x in in_order if not runs_out(x)])
lines=[q for f in (explained(made) if made else []) for q in f.lines]
sus={q:r for r,q in enumerate(dict.fromkeys(lines))}
print(sus)
s=S.Search(l,in_order,sus)
print({x.case.shape:(x.profile.steps,x.profile.grid,x.profile.block,x.right) for x in in_order})
from collections import Counter
print(sorted(Counter(s.distance(e) for e in s.edits(in_order[0])).items()))


import ast
first=min(in_order,key=lambda t:(S._is_fine(t),t.profile.steps)); print(first.case.shape)
line=int(sys.argv[3])
for e in s.edits(first):
    if e.line==line:
        for p,v in e.values.items():
            print(e.kind,e.cost,s.distance(e),str(p[-3:]),ast.unparse(v))
    txt=sys.argv[4] if len(sys.argv)>4 else None
    if txt and e.line==line and any(ast.unparse(v)==txt for v in e.values.values()):
        print('TRY',e.kind,e.values.keys(), e.loads,e.is_of_a_loop)
        for only in [None,(0,0)]:
            r=s.launched([e],first,only); 
            for x in r: print(only,x.is_right,x.outside,(~x.outcome.untouched).sum(),x.right.sum(),x.right.size, x.right_as_far_as_written)
