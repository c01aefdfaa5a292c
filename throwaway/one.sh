# one.sh "ex name" ... : code line message of stored answers
cd ${T:-/work/wt/p2}; export PYTHONPATH=$PWD OMP_NUM_THREADS=1
for x in "$@"; do set -- $x; /work/main/.venv/bin/python /work/notes/mt.py $1:$2 > /dev/null 2>&1; /work/main/.venv/bin/python -c "
import course_lib,time
t=time.process_time()
r=course_lib.examine_source('$1',open('/tmp/m_$1_$2.py').read(),debug=True); e=r.errors[0]; print('$2',e.code,e.line,str(e.message)[:330],round(time.process_time()-t,1))" 2>&1 | tail -3; done
