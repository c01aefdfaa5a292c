"""run_w.py DIR OUT.json [odd]: judge fresh answers; details of odd numbers only."""
import glob,re,sys,json,time
from course_lib.checking import examine_source
CTX="import numpy as np\nimport math\nfrom numba import cuda, float32\n"
rows=[]
for p in sorted(glob.glob(sys.argv[1]+'/*.py')):
    lines=open(p).read().split('\n'); ex=lines[0].split(':',1)[1].strip(); mark=lines[1].split('marked:',1)[1].strip(); text='\n'.join(lines[2:])
    t=time.process_time()
    try: r=examine_source(ex,text,context=CTX)
    except Exception as e: rows.append(dict(file=p,exercise=ex,mark=mark,failed=repr(e))); continue
    dt=time.process_time()-t; e=r.errors
    row=dict(file=p.split('/')[-1],exercise=ex,mark=mark,passed=r.passed,first=e[0].code if e else '',line=e[0].line if e else None,message=str(e[0])[:400] if e else '',hint=str(e[0].hint)[:150] if e else '',cpu=round(dt,2))
    m=re.search(r'code: ([\w|\- ]+);',mark); row['codeok']=bool(m) and row['first'] in m[1].replace(' ','').split('|')
    m=re.search(r'lines: \[([\d, ]*)\]',mark); row['lineok']=bool(m) and (str(row['line']) in m[1].replace(' ','').split(','))
    rows.append(row)
json.dump(rows,open(sys.argv[2],'w'),indent=1)
for half in ('odd','even'):
    mine=[r for r in rows if (int(r['file'].split('/')[-1][:3])%2==1)==(half=='odd') and 'failed' not in r]
    w=[r for r in mine if r['mark'].startswith('wrong')]; g=[r for r in mine if r['mark'].startswith('right')]
    print(half,'wrong',len(w),'refused',sum(not r['passed'] for r in w),'code',sum(r['codeok'] for r in w),'line',sum(r['lineok'] for r in w),'wrong-result',sum(r['first']=='wrong-result' for r in w),'| right',len(g),'accepted',sum(r['passed'] for r in g),'cpu',round(sum(r['cpu'] for r in mine),1),max(r['cpu'] for r in mine))
    if half=='odd' or 'all' in sys.argv:
        for r in w:
            if r['passed'] or not r['codeok'] or not r['lineok']: print('-',r['file'],r['exercise'],r['mark'][:260],'\n    GOT',r['passed'],r['first'],r['line'],r['message'][:330],'|',r['hint'])
        for r in g:
            if not r['passed']: print('REFUSED',r['file'],r['exercise'],r['first'],r['line'],r['message'],r['hint'])
for r in rows:
    if 'failed' in r: print('FAILED',r['file'],r['failed'])
