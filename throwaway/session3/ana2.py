import json,sys
from collections import Counter
rows=[json.loads(l) for p in sys.argv[1:] if not p.startswith('-') for l in open(p)]
tot={}
for r in rows:
    k=r['kind'] if r['kind']=='stored' else r['kind']+('odd' if int(r['name'][:3])%2 else 'even')
    if 'failed' in r: print('FAILED',r['exercise'],r['name'],r['failed'][:300]); continue
    t=tot.setdefault(k,Counter())
    if r['kind']!='stored' and r['mark'].startswith('right'): t['right']+=1; t['accepted']+=r['passed']; continue
    t['n']+=1; t['code']+=r['codeok']; t['line']+=r.get('lineok',False); t['both']+=r.get('ok',r['codeok'] and r.get('lineok',False)); t['cpu']+=r['cpu']; t['wr']+=bool(r['now']) and r['now'][0]=='wrong-result'; t['passed']+=r['passed']
    t['max']=max(t['max'],r['cpu'])
for k,t in tot.items(): print(k,dict(t))
if '-v' in sys.argv:
    c=Counter()
    for r in rows:
        if r['kind']=='stored' and 'failed' not in r: c[r['exercise'],r['ok']]+=1
    for k in sorted(c): print(k,c[k])
if '-o' in sys.argv:
    for r in rows:
        if 'failed' in r or (r['kind']!='stored' and (int(r['name'][:3])%2==0 or r['mark'].startswith('right'))): continue
        if not r.get('ok',r['codeok'] and r.get('lineok',False)): print(r['kind'],r['exercise'],r['name'],(r['mark'] or str(r.get('codes_at')))[:220],'\n     GOT',r['now'][:3] if r['now'] else None)
