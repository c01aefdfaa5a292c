import json,sys
sys.path[:0]=['/work/wt/p2/tests','/work/wt/p2/tests/mutants']
rows=[json.loads(l) for i in (0,1) for l in open(f'/work/notes/sh/{sys.argv[1]}_{i}.jsonl')]
BETTER={tuple(l.split()) for l in '''matmul_1d sum_indexed_by_the_step
matmul_2d sum_indexed_by_the_step
matmul_1d tiles_of_a_and_b_exchanged
matmul_2d sums_exchanged
matmul_2d sums_exchanged_at_store
matmul_2d sums_exchanged_in_product
matmul_coalesced lane_order_wrong_modulus
matmul_column_major column_offset_missing
matmul_tiled loads_only_from_the_first_warp
matmul_tiled zero_padding_of_a_missing
transpose_tiled load_check_too_strict
transpose_tiled load_offset_missing
transpose_tiled band_offset_missing_in_the_tile
transpose_tiled every_second_band_stored
transpose_tiled square_only
transpose_tiled sizes_exchanged_when_unpacked
matmul_naive transposed_view
block_scan first_block_only
block_scan starts_at_two
block_scan sums_to_start'''.splitlines()}
bad=sorted((r['exercise'],r['name'],r['now'][0],r['now'][1]) for r in rows if not r['ok'])
better=[b for b in bad if b[:2] in BETTER]; rest=[b for b in bad if b[:2] not in BETTER]
line=lambda b: f'{b[0]} {b[1]}: {b[2]} {b[3]}'
text='\n'.join(['# Told at the cause where the mark has its symptom, or with another change that mends as much:',*map(line,better),'# Told where it shows, or at another line of those that take part:',*map(line,rest)])+'\n'
open('/work/wt/p2/tests/mutants/otherwise.txt','w').write(text)
print(len(rows),len(bad),len(better),len(rest),[b for b in bad if not b[3]], [r for r in rows if not r['ok'] and r.get('passed')][:3])
