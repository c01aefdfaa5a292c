import sys, time, collections
sys.path.insert(0,'.'); sys.path.insert(0,'./tests'); sys.path.insert(0,'./tests/mutants')
from dataclasses import replace
import numpy as np
from expectations import as_mutant
from stored_answers import wrong_answers_to
from course_lib.curriculum import EXERCISES as _E, TASKS
EXERCISES={**TASKS,**_E}
from course_lib.emulator import load_program, names_around, emulate, KernelRejected, Budget
from course_lib import callers, checking
from course_lib.diagnosis.answer import Answer, source_of
from course_lib.diagnosis.launcher import Launcher, BUDGET
from course_lib.diagnosis.problems.launch_choice import choices
from course_lib.diagnosis.problems.inputs import as_held
from course_lib.emulator.inference.infer import infer
from course_lib.emulator.argument_types import types_of_arguments
from course_lib.diagnosis.repair.edits import Edits
from course_lib.diagnosis.repair.schemata import schemata
from course_lib.diagnosis.repairs.tried_out import repairs


from course_lib.emulator.unwatched import typing_for, run_unwatched
from course_lib.emulator.options import EmulationOptions, LaunchShape
TT=[0,0,0]
def survivors(launcher, kernel, trial, edits, verbose=False):
    if not edits: return []
    case, outcome = trial.case, trial.outcome
    launch = launcher.launch(case)
    C=len(edits)
    t=time.process_time()
    changed = schemata(kernel, edits, 2*max(*case.shape,32)+8)
    out = np.full((C,*outcome.expected.shape), case.poison, np.float32)
    args=(*as_held(launcher.problem, outcome.inputs), out)
    try: typing=typing_for(changed,args)
    except KernelRejected as e:
        TT[0]+=time.process_time()-t
        if verbose: print('  TYPING',C,e.findings[0].message)
        if len(edits)==1:
            if verbose: print('bad',edits[0].kind,edits[0].line,e.findings[0].message)
            return []
        h=C//2
        return survivors(launcher,kernel,trial,edits[:h],verbose)+survivors(launcher,kernel,trial,edits[h:],verbose)
    TT[0]+=time.process_time()-t
    t=time.process_time()
    g=(*launch.grid,1,1)[:3]; bl=(*launch.block,1,1)[:3]
    try: steps=run_unwatched(typing,args,LaunchShape((g[0],g[1],C),bl,0),EmulationOptions(schedule=case.schedule, seed=launcher.seed, counters=False, races=False, budget=Budget(steps=10**9, bytes=2<<30, printed_lines=0)))
    except KernelRejected as e:
        if verbose: print('  RUN',C,e.findings[0].message)
        if len(edits)==1: print('bad run',edits[0].kind,edits[0].line,e.findings[0].message); return []
        h=C//2
        return survivors(launcher,kernel,trial,edits[:h],verbose)+survivors(launcher,kernel,trial,edits[h:],verbose)
    TT[1]+=time.process_time()-t
    if verbose: print('   launch %.2f s, %d candidates, lanes %d, steps %d, shape %s' % (time.process_time()-t, C, C*np.prod(g)*np.prod(bl),steps,case.shape))
    return [e for e,o in zip(edits,out) if replace(outcome, got=o).right.all()]

import ast
from course_lib.diagnosis.repairs.change import node_at
def touches(tree,e):
    for path in [*e.values,*e.statements]:
        for n in range(len(path)):
            node=node_at(tree,path[:n])
            if isinstance(node,ast.For) and path[n][0]=='iter' or isinstance(node,ast.While) and path[n][0]=='test': return True
    return False
def main(ex, only=None, nth=1):
    exercise=EXERCISES[ex]; tot=collections.Counter(); T0=time.process_time()
    for n,(name,text) in enumerate(wrong_answers_to(ex).items()):
        if only and name!=only or (not only and n%nth): continue
        m=as_mutant(ex,name,text)
        if m.is_warning: continue
        try:
            prog=load_program(text,surroundings=names_around(callers.used_by(exercise) or ''))
            kernel=callers.as_launched(exercise,checking._function_in(exercise,prog))
            ans=Answer(kernel); ch=next(iter(choices(exercise,source_of(kernel),kernel.namespace,None)))
            launcher=Launcher(exercise,ans,None,0,ch)
            trials=[launcher.run(c) for c in launcher.cases() if not c.again][:8]
        except KernelRejected as e: print(name,'rejected'); continue
        wrong=[t for t in trials if not t.right]
        if not wrong: tot['all right']+=1; print(name,'all right'); continue
        order=sorted(trials,key=lambda t:(t.right, np.prod(t.profile.grid)*np.prod(t.profile.block)*t.profile.steps))
        t0=time.process_time()
        try:
            typing=infer(kernel, types_of_arguments(kernel, (*as_held(launcher.problem, wrong[0].outcome.inputs), wrong[0].outcome.got)))
            consts=[k for k,v in kernel.namespace.items() if isinstance(v,int) and not isinstance(v,bool) and k.isupper() and k in text]
            edits=Edits(kernel.tree, typing, consts).all()
            n0=len(edits); left=edits; sizes=[n0]
            for t in order[:3]:
                nxt=[]
                loopy=[e for e in left if touches(kernel.tree,e)]; rest=[e for e in left if not touches(kernel.tree,e)]
                lanes=int(np.prod(t.profile.grid)*np.prod(t.profile.block)); size=max(16,min(400,200_000//lanes))
                for chunk in [part[i:i+size] for part in (rest,loopy) for i in range(0,len(part),size)]:
                    nxt+=survivors(launcher,kernel,t,chunk,bool(only))
                left=nxt; sizes.append(len(left))
                if not left: break
            final=[]
            for e in left[:12]:
                ok,_=repairs(launcher, order, replace(kernel,tree=e.applied(kernel.tree)), 10**6)
                if ok: final.append(e)
        except Exception as e:
            import traceback; traceback.print_exc(); tot['EXC']+=1; print(name,'EXC',e); continue
        dt=time.process_time()-t0
        first=bool(final) and (m.any_line or final[0].line in m.codes_at)
        tot['repaired' if final else 'none']+=1; tot['line']+=first
        print(name, 'LINE' if first else ('other' if final else '-'), sizes, '%.1fs'%dt, sorted(m.codes), sorted(m.codes_at), [(e.cost,e.kind,e.line) for e in final][:4],flush=True)
    print(ex,dict(tot),TT,'%.0fs'%(time.process_time()-T0))
main(sys.argv[1], sys.argv[2] if len(sys.argv)>2 and not sys.argv[2].isdigit() else None, int(sys.argv[2]) if len(sys.argv)>2 and sys.argv[2].isdigit() else 1)
