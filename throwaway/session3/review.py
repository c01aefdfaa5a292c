import json
good=bad=0
for l in open("/tmp/logs/slips.jsonl"):
    if not l.startswith("{"): print(l); continue
    r=json.loads(l)
    if "crash" in r: print("CRASH", r["task"], repr(r["old"])[:60],'->',repr(r["new"])[:60], r["crash"][:110]); continue
    if not r["told"]: print("NOTHING", r["task"], r["old"],r["new"]); continue
    c,ln,m,h=r["told"][0]
    ok = ln in r["changed"]
    good+=ok; bad+=not ok
    if not ok:
        L=r["L"]; print(f"OFF {r['task']}#{r['k']}: {r['old']!r} -> {r['new']!r} exp {r['code']}@{r['blamed']} changed {r['changed']}\n    told {c}@{ln} {L[ln-1].strip() if ln else None!r} | {m[:330]}")
print(good,bad)
