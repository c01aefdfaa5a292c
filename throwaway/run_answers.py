import glob,re,sys,json,time,collections
from course_lib.checking import examine_source
import course_lib; print(course_lib.__file__, file=sys.stderr)
kind=sys.argv[1]; rows=[]
CTX="import numpy as np\nimport math\nfrom numba import cuda, float32\n"
for p in sorted(glob.glob(f'/work/fresh/{kind}/*.py')):
    lines=open(p).read().split('\n'); ex=lines[0].split(':',1)[1].strip(); mark=lines[1].split('marked:',1)[1].strip(); text='\n'.join(lines[2:])
    t=time.process_time(); r=examine_source(ex,text,context=CTX); dt=time.process_time()-t
    errs=r.errors
    row=dict(file=p.split('/')[-1],exercise=ex,mark=mark,passed=r.passed,points=r.points,max=r.max_points,review=r.needs_review,first=errs[0].code if errs else '',line=errs[0].line if errs else None,message=str(errs[0])[:300] if errs else '',hint=str(errs[0].hint)[:150] if errs else '',warn=[w.code for w in r.findings if w.severity!='error'],cpu=round(dt,2),allcodes=[(e.code,e.line) for e in errs])
    m=re.search(r'code: ([\w|\- ]+);',mark); row['codeok']=bool(m) and row['first'] in m[1].replace(' ','').split('|')
    m=re.search(r'lines: \[([\d, ]*)\]',mark); row['lineok']=bool(m) and (str(row['line']) in m[1].replace(' ','').split(','))
    rows.append(row)
json.dump(rows,open(sys.argv[2],'w'),indent=1)
if kind=='answers':
    w=[r for r in rows if r['mark'].startswith('wrong')]; g=[r for r in rows if r['mark'].startswith('right')]
    print('wrong',len(w),'refused',sum(not r['passed'] for r in w),'code',sum(r['codeok'] for r in w),'line',sum(r['lineok'] for r in w)); print('right',len(g),'accepted',sum(r['passed'] for r in g))
    for r in w:
        if r['passed'] or not r['codeok'] or not r['lineok']: print('-',r['file'],r['exercise'],r['mark'][:230],'\n    GOT',r['passed'],r['points'],r['first'],r['line'],r['message'],'|',r['hint'],r['warn'])
    for r in g:
        if not r['passed']: print('REFUSED',r['file'],r['exercise'],r['first'],r['line'],r['message'],r['hint'])
else:
    for r in rows:
        full=r['points']==r['max']
        bad = (full and r['mark'].startswith('attack')) or (not full and r['mark'].startswith('honest'))
        print('BAD' if bad else 'ok ',r['file'][:34].ljust(34),r['exercise'].ljust(20),r['points'],'/',r['max'],r['first'],r['line'],r['warn'],r['cpu'], '|', r['mark'][:130] if bad else '')
print('cpu',sum(r['cpu'] for r in rows), max(r['cpu'] for r in rows))
