"""fresh3.py OUT PART OF: judges /work/fresh3 with the tree on PYTHONPATH."""
import sys,json,glob,re,time
import course_lib
out,part,of=sys.argv[1],int(sys.argv[2]),int(sys.argv[3])
f=open(f'{out}_{part}.jsonl','w')
CTX="import numpy as np\nimport math\nfrom numba import cuda, float32\n"
for p in sorted(glob.glob('/work/fresh3/*.py'))[part::of]:
    lines=open(p).read().split('\n'); ex=lines[0].split(':',1)[1].strip(); mark=lines[1].split('marked:',1)[1].strip()
    t=time.process_time()
    try:
        r=course_lib.examine_source(ex,'\n'.join(lines[2:]),context=CTX); e=r.errors
    except Exception as x:
        f.write(json.dumps(dict(name=p.split('/')[-1],exercise=ex,mark=mark,failed=repr(x)))+'\n'); continue
    row=dict(name=p.split('/')[-1],exercise=ex,mark=mark,passed=r.passed,cpu=round(time.process_time()-t,2),now=(e[0].code,e[0].line,str(e[0].message),str(e[0].hint)) if e else None, warnings=[x.code for x in r.findings if x.severity!='error'])
    if mark.startswith('wrong'):
        q=re.search(r'code: ([\w|\- ]+);',mark); row['codeok']=bool(q) and bool(e) and e[0].code in q[1].replace(' ','').split('|')
        q=re.search(r'lines: \[([\d, ]*)\]',mark); row['lineok']=bool(q) and bool(e) and str(e[0].line) in q[1].replace(' ','').split(',')
    f.write(json.dumps(row)+'\n'); f.flush()
