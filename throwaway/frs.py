import json,re,sys
n=sys.argv[1]
rows=[r for i in (0,1) for l in open(f'/work/notes/sh/{n}{i}.jsonl') for r in [json.loads(l)] if r.get('mark')]
for odd in (1,0):
    g=[r for r in rows if r['mark'].startswith('wrong') and int(re.search(r'\d+',r['name'])[0])%2==odd]
    h=[r for r in rows if not r['mark'].startswith('wrong') and int(re.search(r'\d+',r['name'])[0])%2==odd]
    print('odd' if odd else 'even',len(g),'code',sum(r.get('codeok') or 0 for r in g),'line',sum(r.get('lineok') or 0 for r in g),'accepted wrong',sum(r.get('passed') or 0 for r in g),'right',sum(r.get('passed') or 0 for r in h),len(h),'failed',sum('failed' in r for r in g+h))
c=sorted(r['cpu'] for r in rows if r['mark'].startswith('wrong')); print('cpu',sum(c),c[len(c)//2],c[-6:])
if '-v' in sys.argv:
  for r in rows:
    if r['mark'].startswith('wrong') and int(re.search(r'\d+',r['name'])[0])%2 and not (r.get('codeok') and r.get('lineok')):
        print(r['kind'],r['name'],r['exercise'],'code' if r.get('codeok') else '    ','line' if r.get('lineok') else '    ',r['mark'][:160],'\n    NOW',r['now'] and (r['now'][0],r['now'][1],r['now'][2][:260]))
