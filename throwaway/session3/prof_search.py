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
X.with_causes=w
course_lib.examine_source(ex,m.text,debug=True)
l,t=got[0]
from course_lib.diagnosis.trial import runs_out
in_order=[x for x in t if x.case.is_counted]
s=S.Search(l,in_order,{})
p=cProfile.Profile(); p.enable(); t0=time.process_time(); r=s.repairs(); p.disable()
print([(e.kind,e.line) for e in r], s.steps, time.process_time()-t0, {x.case.shape:(x.profile.steps,x.profile.grid,x.profile.block,x.right) for x in in_order})
st=pstats.Stats(p); st.sort_stats("cumtime").print_stats(60); st.sort_stats("tottime").print_stats(16)
