import sys,cProfile,pstats,time
sys.path[:0]=['tests','tests/mutants']
from expectations import all_mutants
import course_lib
import course_lib.diagnosis.examination as X
from course_lib.diagnosis.repair import search as S
ex,name=sys.argv[1:3]

class M: text=open(name).read()
m=M if name.endswith('.py') else next(m for m in all_mutants() if (m.exercise,m.name)==(ex,name))
got=[]
def w(l,f,t): got.append((l,t)); return f
X.with_causes=w
print(course_lib.examine_source(ex,m.text,debug=True))
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

orig=S.Search.launched
def L(self,edits,trial,only=None):
    a=self.steps; t0=time.process_time(); r=orig(self,edits,trial,only)
    print(len(edits),'loop' if edits and edits[0].is_of_a_loop else '','loads' if edits and edits[0].loads else '',trial.case.shape,only,'->',len(r),'steps',a-self.steps,round(time.process_time()-t0,3),'right',sum(x.is_right for x in r),sum(x.right_as_far_as_written for x in r)); return r
S.Search.launched=L
t0=time.process_time(); r=s.repairs(); 
print([(e.kind,e.line) for e in r], s.steps, time.process_time()-t0)
