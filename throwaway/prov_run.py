"""Throwaway: provenance over stored wrong answers. usage: prov_run.py exercise... [-n every] [-v]"""
import sys,time,collections
sys.path[:0]=['tests','tests/mutants']
from course_lib.curriculum import EXERCISES as _E, TASKS
EX={**TASKS,**_E}
from course_lib.emulator import load_program, names_around, KernelRejected
from course_lib import callers, checking
from course_lib.diagnosis.answer import Answer, source_of
from course_lib.diagnosis.launcher import Launcher
from course_lib.diagnosis.problems.launch_choice import choices
from course_lib.diagnosis.provenance.tables import experiment
from course_lib.diagnosis.provenance.suspects import explained
from stored_answers import wrong_answers_to
from expectations import as_mutant
FITS={'wrong-index':{'moved','reads other','unwritten','surplus','missing','only','independent','not finite','paired','alias','times'},
'wrong-bounds-check':{'unwritten','missing','not finite','reads other','only','surplus'},
'incomplete-output':{'unwritten'},'wrong-loop-bound':{'missing','only','surplus','not finite','unwritten','times'},
'accumulator-error':{'reads other','paired','before','start','only','surplus','times','weighted','missing','not finite'},
'wrong-formula':{'paired','alias','moved','times','weighted','independent','start','surplus','missing','reads other'},
'stale-shared-read':{'times','reads other','missing','surplus','only'},'missing-mask':{'times','start','not finite','reads other','surplus'},
'uninitialised-read':{'not finite','before'},'hardcoded-answer':{'start','independent'},'integer-arithmetic':{'weighted','start','independent'}}
NUMBERS={'wrong-index','wrong-formula','wrong-bounds-check','wrong-loop-bound','accumulator-error','incomplete-output','stale-shared-read','missing-mask'}
def begin(ex,text):
    exercise=EX[ex]
    prog=load_program(text,surroundings=names_around(callers.used_by(exercise) or ''))
    kernel=callers.as_launched(exercise,checking._function_in(exercise,prog))
    ch=next(iter(choices(exercise,source_of(kernel),kernel.namespace,None)))
    launcher=Launcher(exercise,Answer(kernel),None,0,ch)
    return launcher,[launcher.run(c) for c in launcher.cases() if not c.further][:8]
def short(f):
    s=f.kind+' '+','.join(f.arrays)+' %.0f%%'%(100*f.share)
    if f.forms: s+=' forms '+'; '.join(x.kind+str(x.numbers or '') for x in f.forms)
    elif f.read or f.right: s+=' at %s %s for %s'%(f.element,f.read,f.right)
    if f.terms: s+=' terms %s%s/%d'%(f.terms.kind,f.terms.numbers or '',f.terms.of)
    if f.apart: s+=' apart %d'%f.apart
    if f.factor: s+=' x %.3g'%f.factor
    return s
TOT=collections.Counter()
def main(ex,nth,verbose,only=None,offset=0):
    T=collections.Counter(); cpu=0; runs=0
    for n,(name,text) in enumerate(wrong_answers_to(ex).items()):
        if n%nth!=offset or only and name!=only: continue
        m=as_mutant(ex,name,text)
        if m.is_warning: continue
        try: l,t=begin(ex,text)
        except KernelRejected: continue
        if all(x.right for x in t): T['right']+=1; continue
        t=[x for x in t if not any(e.code=='timeout' for e in x.errors)]
        t0=time.process_time()
        try: e=experiment(l,t); fs=explained(e) if e else []
        except Exception as err:
            if only: raise
            print(name,'EXC',repr(err)[:150]); T['exc']+=1; continue
        dt=time.process_time()-t0; cpu+=dt; runs+=1
        numbers=bool(m.codes&NUMBERS)
        lines=list(dict.fromkeys(x for f in fs for x in f.lines))
        if not fs: k='no fact'
        elif m.any_line or lines and lines[0] in m.codes_at: k='first'
        elif any(x in m.codes_at for x in lines[:3]): k='top3'
        elif any(x in m.codes_at for x in lines): k='later'
        else: k='absent'
        kinds={f.kind for f in fs}
        fits=any(FITS.get(c,set())&kinds for c in m.codes)
        if numbers: T[k]+=1; T['fits']+=fits; T['n']+=1
        else: T['other '+k]+=1
        if verbose: print('%s%s'%('' if numbers else '  (other) ',name),k,'' if fits else 'NOFIT',sorted(m.codes),dict.fromkeys(m.codes_at).keys(),'->',lines[:8],e and e.case.shape,e and e.every_cell,'%.2fs'%dt)
        if verbose:
            for f in fs: print('       ',short(f),f.lines[:6])
    TOT.update(T)
    print(ex,dict(sorted(T.items())),'cpu %.2f s each'%(cpu/max(1,runs)),flush=True)
if __name__=='__main__':
    a=sys.argv[1:]; nth=1; v='-v' in a; only=None
    a=[x for x in a if x!='-v']
    if '-n' in a: i=a.index('-n'); nth=int(a[i+1]); del a[i:i+2]
    if '-o' in a: i=a.index('-o'); only=a[i+1]; del a[i:i+2]
    off=0
    if '-k' in a: i=a.index('-k'); off=int(a[i+1]); del a[i:i+2]
    for ex in a: main(ex,nth,v,only,off)
    print(dict(sorted(TOT.items())))
