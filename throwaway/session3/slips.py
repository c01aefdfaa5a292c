import sys, json, difflib
sys.path[:0]=["/tmp/snap/tests","/tmp/snap/tests/tasks"]
import test_tasks as t
out=open("/tmp/logs/slips.jsonl","w")
n=0
for name, slips in t.WRONG.items():
    task=t.TASKS[name]
    for k,s in enumerate(slips):
        n+=1
        old,new,code,line=s
        text=new.join(task.answer.rsplit(old,1)); L=(t.HEAD+text).splitlines()
        blamed = max(i for i, each in enumerate(L, 1) if line in each)
        row=dict(task=name,k=k,old=old,new=new,code=code,line=line,blamed=blamed)
        try: errors=t.judged(task,text,seed=3).errors
        except Exception as e:
            row["crash"]=f"{type(e).__name__}: {e}"; print(json.dumps(row),file=out,flush=True); continue
        if errors and (errors[0].code,errors[0].line)==(code,blamed): continue
        row["told"]=[[e.code,e.line,str(e.message),str(e.hint)] for e in errors[:2]]
        A=(t.HEAD+task.answer).splitlines()
        ch=set()
        for op,i1,i2,j1,j2 in difflib.SequenceMatcher(None,A,L,autojunk=False).get_opcodes():
            if op=="equal": continue
            ch|=set(range(j1+1,j2+1)) or {j1,j1+1}
        row["changed"]=sorted(ch); row["L"]=L
        print(json.dumps(row),file=out,flush=True)
print(n,"slips",file=out,flush=True)
