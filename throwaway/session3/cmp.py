import json,sys
a,b=sys.argv[1:3]
def load(x):
    return {(r['kind'],r['exercise'],r['name']):r for i in (0,1) for r in map(json.loads,open(f'/work/notes/sh/{x}{i}.jsonl')) if 'failed' not in r}
A,B=load(a),load(b)
for k in sorted(A.keys()&B.keys()):
    if k[0]!='stored' and (int(k[2][:3])%2==0 or A[k]['mark'].startswith('right')): continue
    g=lambda r:r.get('ok',r.get('codeok') and r.get('lineok',False))
    if g(A[k]) and not g(B[k]): print('-',k,str(A[k]['mark'] or A[k].get('codes_at'))[:200],'\n   A',A[k]['now'][:3] if A[k]['now'] else None,'\n   B',B[k]['now'][:3] if B[k]['now'] else None)
print('better:',[k[1:] for k in A.keys()&B.keys() if (k[0]=='stored' or int(k[2][:3])%2) and not A[k].get('ok',A[k].get('codeok') and A[k].get('lineok',False)) and B[k].get('ok',B[k].get('codeok') and B[k].get('lineok',False))])
