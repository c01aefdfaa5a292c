import sys,time
sys.path[:0]=['tests','tests/mutants']
import os, course_lib
import course_lib.diagnosis.explained as X
from course_lib.diagnosis.repair import search as S
L=open(sys.argv[1]).read().split("\n"); ex=L[0].split(":",1)[1].strip(); text="\n".join(L[2:])
fns=[]
orig=S.Search.launched
def LL(self,edits,trial,only=None):
    a=self.steps; t0=time.process_time(); r=orig(self,edits,trial,only)
    print(len(edits),'loop' if edits and edits[0].is_of_a_loop else '','loads' if edits and edits[0].loads else '',trial.case.shape,only,'->',len(r),'steps',a-self.steps,round(time.process_time()-t0,3)); return r
S.Search.launched=LL
oi=S.Search.is_right
def ir(self,e,t):
    t0=time.process_time(); r=oi(self,e,t); print('is_right',r,round(time.process_time()-t0,2)); return r
S.Search.is_right=ir
oe=X.experiment
def ee(*a):
    t0=time.process_time(); r=oe(*a); print('experiment',round(time.process_time()-t0,2)); return r
X.experiment=ee
ox=X.explained
def xx(*a):
    t0=time.process_time(); r=ox(*a); print('facts',round(time.process_time()-t0,2)); return r
X.explained=xx
if 1:
    t0=time.process_time(); course_lib.examine_source(ex,text,context="import numpy as np\nimport math\nfrom numba import cuda, float32\n"); print(time.process_time()-t0)
