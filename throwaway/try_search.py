"""try_search.py EXERCISE [nth | name]: what the search finds for stored wrong answers."""
import sys, time, collections
sys.path[:0]=['tests','tests/mutants']
from expectations import as_mutant
from stored_answers import wrong_answers_to
from course_lib.curriculum import EXERCISES as _E, TASKS
from course_lib.emulator import load_program, names_around, KernelRejected
from course_lib import callers, checking
from course_lib.diagnosis.answer import Answer, source_of
from course_lib.diagnosis.launcher import Launcher
from course_lib.diagnosis.problems.launch_choice import choices
from course_lib.diagnosis.repair.search import Search
ALL={**TASKS,**_E}
def launches(ex,text,context=''):
    exercise=ALL[ex]
    prog=load_program(text,surroundings=names_around(context or callers.used_by(exercise) or ''))
    kernel=callers.as_launched(exercise,checking._function_in(exercise,prog))
    launcher=Launcher(exercise,Answer(kernel),None,0,next(iter(choices(exercise,source_of(kernel),kernel.namespace,None))))
    return launcher,[launcher.run(c) for c in launcher.cases() if not getattr(c,"further",0) and not getattr(c,"again",0)][:9]
def main(ex,arg):
    tot=collections.Counter(); T=0
    for n,(name,text) in enumerate(wrong_answers_to(ex).items()):
        if arg.isdigit() and n%int(arg) or not arg.isdigit() and name!=arg: continue
        m=as_mutant(ex,name,text)
        if m.is_warning: continue
        try: launcher,trials=launches(ex,text)
        except KernelRejected: continue
        if all(t.right and not t.errors for t in trials): tot['clean']+=1; continue
        t0=time.process_time(); s=Search(launcher,trials)
        try: r=s.repairs()
        except KernelRejected as e: r=[]; print('REJ',e.findings[0].message)
        dt=time.process_time()-t0; T+=dt
        ok=bool(r) and (m.any_line or r[0].line in m.codes_at)
        tot['repaired' if r else 'none']+=1; tot['line']+=ok
        print(('LINE ' if ok else 'other' if r else '-    '),name,'%.1fs'%dt,s.steps,sorted(m.codes),sorted(m.codes_at),[(e.cost,e.kind,e.line) for e in r][:5],flush=True)
    print(ex,dict(tot),'%.0fs'%T)
if __name__=='__main__': main(sys.argv[1],sys.argv[2] if len(sys.argv)>2 else '1')
