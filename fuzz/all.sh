#!/bin/bash
# all.sh SECONDS OUT [BINARIES [SEEDS..]]: runs every fuzz target for so many seconds, side by side, one process each.
#
# BINARIES is the folder of the built targets. In OUT: a log per target, what crashed it, and summary.txt with one line
# per target. What was found beyond the seeds stays in OUT/corpus.
set -u
here=$(cd "$(dirname "$0")" && pwd)
seconds=$1 out=$2
binaries=${3:-$here/target/x86_64-unknown-linux-gnu/release}
shift $(($# < 3 ? $# : 3))
seeds=("$@")
[ ${#seeds[@]} -gt 0 ] || seeds=("$here/seeds" "$here/../crates/itergnn-graph/tests/fixtures")
mkdir -p "$out" && out=$(cd "$out" && pwd)
: > "$out/summary.txt"

fuzz() { # NAME BINARY FLAGS..
    local name=$1 binary=$binaries/$2 status line
    shift 2
    mkdir -p "$out/corpus/$name" "$out/crashes/$name" "$out/tmp/$name"
    TMPDIR=$out/tmp/$name "$binary" "$out/corpus/$name" "${seeds[@]}" -max_total_time="$seconds" -rss_limit_mb=2048 \
        -timeout=20 -print_final_stats=1 -artifact_prefix="$out/crashes/$name/" "$@" > "$out/$name.log" 2>&1
    status=$?
    line=$(grep -a -o 'stat::number_of_executed_units:.*' "$out/$name.log" | tr -s ' ' | cut -d' ' -f2)
    echo "$name: exit code $status, ${line:-0} runs, $(ls "$out/crashes/$name" | wc -l) crashes," \
        "$(grep -a -o 'cov: [0-9]*' "$out/$name.log" | tail -n 1)" >> "$out/summary.txt"
    # The log says something new several times per second; its ends are enough.
    { head -n 40 "$out/$name.log"; echo ..; tail -n 200 "$out/$name.log"; } > "$out/$name.short"
    mv "$out/$name.short" "$out/$name.log"
}

for source in "$here"/fuzz_targets/*.rs; do
    target=$(basename "$source" .rs)
    fuzz "$target" "$target" &
done
# JSON needs more than its share of the target for all formats.
fuzz json graph -only_ascii=1 -dict="$here/json.dict" &
wait
rm -rf "$out/tmp"
sort -o "$out/summary.txt" "$out/summary.txt"
cat "$out/summary.txt"
! grep -qv 'exit code 0' "$out/summary.txt"
