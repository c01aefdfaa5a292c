import ast, json, sys
from pathlib import Path
D=Path("/work/wt/p2/tests/tasks")
SKIP={("put_seven",2),("put_seven",3),("add_ten",5),("add_ten",6),("sum_of_three",3),("one_tile_product",5),("quad_sum",4),("mix_tiles",10),("tree_sum",10),("banded",2)}
OK={("add_ten",4),("swizzle_strip",0),("swizzle_strip",1),("load_tile",1),("turn_tile",2),("lane_place",0),("lane_place",2),("lane_place",3),("warp_piece",0),("warp_product",13),("running_totals",1),("banded",3),("sums_of_four",6),("copy_by_fours",3)}
todo={}
for l in open("/tmp/logs/slips.jsonl"):
    if not l.startswith("{"): continue
    r=json.loads(l)
    if "crash" in r or not r["told"]: continue
    key=(r["task"],r["k"]); c,ln,m,h=r["told"][0]
    if key in OK or (ln in r["changed"] and key not in SKIP):
        L=r["L"]; hit=lambda s: max((n for n,e in enumerate(L,1) if s in e),default=0)
        snip=r["line"]
        if hit(snip)!=ln:
            full=L[ln-1].strip()
            snip=next((full[:n] for n in range(4,len(full)+1) if hit(full[:n])==ln and (n==len(full) or not (full[n-1].isalnum() and full[n].isalnum()) and full[n-1]!=" ")),None)
            if snip is None: print("no snippet",key,full); continue
        todo[key]=(c,snip)
done=0
for f in sorted(D.glob("slips_*.py")):
    t=f.read_text(); tree=ast.parse(t); lines=t.splitlines(keepends=True)
    off=[0]
    for x in lines: off.append(off[-1]+len(x.encode()))
    b=t.encode()
    pos=lambda n:(off[n.lineno-1]+n.col_offset, off[n.end_lineno-1]+n.end_col_offset)
    reps=[]
    d=next(n.value for n in tree.body if isinstance(n,ast.AnnAssign) and n.target.id=="SLIPS")
    for k,v in zip(d.keys,d.values):
        for i,e in enumerate(v.elts if isinstance(v,ast.List) else []):
            if (k.value,i) in todo:
                if not isinstance(e,ast.Tuple) or any(isinstance(x,ast.Starred) for x in v.elts): print("odd",k.value,i); continue
                c,s=todo.pop((k.value,i))
                q=json.dumps(s,ensure_ascii=False) 
                if not (isinstance(e.elts[2],ast.Constant) and e.elts[2].value==c): reps.append((*pos(e.elts[2]),json.dumps(c)))
                old=e.elts[3]
                if not (isinstance(old,ast.Constant) and old.value==s): reps.append((*pos(old),q))
                done+=1
    for a,z,n in sorted(reps,reverse=True): b=b[:a]+n.encode()+b[z:]
    if reps: f.write_bytes(b)
print(done,"left",todo)
