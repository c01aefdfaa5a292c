import sys
src=open('/work/notes/time_search.py').read()
src=src.replace("orig=S.Search.launched","""
import ast
ot=S.typing_for
def TT(k,a):
    try: return ot(k,a)
    except S.KernelRejected as e: print('   REJ',[str(f)[:150] for f in e.findings]); raise
orig=S.Search.launched""").replace("r=orig(self,edits,trial,only)","r=orig(self,edits,trial,only); len(edits)==1 and not r and print('   EDIT',edits[0].kind,edits[0].line,{str(p[-3:]):ast.unparse(v) for p,v in edits[0].values.items()},{str(p[-2:]):[ast.unparse(x) for x in v.before+(v.instead or ())+v.after] for p,v in edits[0].statements.items()})")
exec(src)
