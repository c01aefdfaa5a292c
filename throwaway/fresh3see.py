import json,sys
rows=[json.loads(l) for i in (0,1) for l in open(f'{sys.argv[1]}_{i}.jsonl')]
w=[r for r in rows if r['mark'].startswith('wrong')]; h=[r for r in rows if not r['mark'].startswith('wrong')]
print('wrong',len(w),'refused',sum(not r.get('passed') for r in w),'code',sum(r.get('codeok',0) for r in w),'line',sum(r.get('lineok',0) for r in w),'right',sum(r.get('passed',0) for r in h),len(h),'failed',sum('failed' in r for r in rows),'cpu',sorted(r.get('cpu',0) for r in rows)[-4:])
if '-v' in sys.argv:
    for r in sorted(rows,key=lambda r:r['name']):
        bad = not(r.get('codeok') and r.get('lineok')) if r['mark'].startswith('wrong') else not r.get('passed')
        if bad: print(r['name'],r['exercise'],'code' if r.get('codeok') else '    ','line' if r.get('lineok') else '    ',r['mark'][:230],'\n    NOW',r.get('now') and (r['now'][0],r['now'][1],r['now'][2][:240]),r.get('failed',''))
