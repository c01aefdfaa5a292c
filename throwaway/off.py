"""off.py PART OF OUT EVERY [nofresh] : judge with families off (or OFF=none), final code and line."""
import sys, json, time, glob, re, os
sys.path[:0]=['tests','tests/mutants']
import agreement
from contextlib import nullcontext
from expectations import all_mutants
import course_lib
part,of,out,every=int(sys.argv[1]),int(sys.argv[2]),sys.argv[3],int(sys.argv[4])
CTX="import numpy as np\nimport math\nfrom numba import cuda, float32\n"
jobs=[]
rows=json.load(open('tests/agreement.json'))[1:]
which=os.environ.get('WHICH','families')
want={(r[0],r[1]) for r in rows if which=='all' or (which.startswith('f:') and r[4].startswith(which[2:])) or not which.startswith('f:') and ( r[4].startswith('families') or r[4].startswith('seen_in') or r[4].startswith('repairs') or 'common' in r[4])}
st=[('stored',m.exercise,m.name,m.text,None,m) for m in all_mutants() if (m.exercise,m.name) in want][::every]
if len(sys.argv)<6:
  for d in ('w1','w2'):
    for p in sorted(glob.glob(f'/work/fresh2/{d}/*.py')):
        lines=open(p).read().split('\n'); ex=lines[0].split(':',1)[1].strip(); mark=lines[1].split('marked:',1)[1].strip()
        jobs.append((d,ex,p.split('/')[-1],'\n'.join(lines[2:]),mark,None))
jobs=(jobs+st)[part::of]
T=agreement.Table() if os.environ.get('OFF')!='none' else None
fns=T.finders.of_modules('course_lib.diagnosis.families') if T else []
keep=os.environ.get('KEEP','').split(',')
fns=[f for f in fns if not any(k and k in f.__module__ for k in keep)]

if os.environ.get('PATCH'): exec(os.environ['PATCH'])
f=open(out,'w')
with agreement.switched_off(fns):
  for kind,ex,name,text,mark,m in jobs:
    if T: T.notes.made.clear()
    t=time.process_time()
    try:
        if m is not None: r=course_lib.examine_source(ex,text,debug=True)
        else: r=course_lib.examine_source(ex,text,context=CTX)
        e=r.errors
        row=dict(kind=kind,exercise=ex,name=name,mark=mark,passed=r.passed,now=(e[0].code,e[0].line,str(e[0]),str(e[0].hint)) if e else None)
        if m is not None:
            told=[*r.findings] if m.is_warning else [*r.errors[:1]]
            row['codes_at']={k:sorted(v) for k,v in m.codes_at.items()}; row['any_line']=m.any_line
            row['ok']=any(not m.objection(x) for x in told) and r.passed is m.is_warning
            row['codeok']=any(x.code in m.codes for x in told)
        else:
            if mark.startswith('wrong'):
                q=re.search(r'code: ([\w|\- ]+);',mark); row['codeok']=bool(q) and bool(e) and e[0].code in q[1].replace(' ','').split('|')
                q=re.search(r'lines: \[([\d, ]*)\]',mark); row['lineok']=bool(q) and bool(e) and str(e[0].line) in q[1].replace(' ','').split(',')
    except Exception as x: row=dict(kind=kind,exercise=ex,name=name,mark=mark,failed=repr(x))
    row['cpu']=round(time.process_time()-t,2)
    f.write(json.dumps(row)+'\n'); f.flush()
