import sys
sys.path[:0]=['tests','tests/mutants']
from expectations import all_mutants
for a in sys.argv[1:]:
    ex,name=a.split(':')
    m=next(m for m in all_mutants() if (m.exercise,m.name)==(ex,name))
    open(f'/tmp/m_{ex}_{name}.py','w').write(m.text)
    print('##',a)
    for i,l in enumerate(m.text.splitlines(),1):
        if l.strip(): print(i,l)
