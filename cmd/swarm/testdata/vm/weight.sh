# A disk whose scheduler knows weights.
run swarm doctor; says 'I/O weight'
run swarm spawn --name light --io-weight 50 -- sleep 600; exits 0
dir=$(group light)
cat "$dir/io.bfq.weight" "$dir/io.weight" 2>/dev/null
grep -q 50 "$dir/io.bfq.weight" "$dir/io.weight" 2>/dev/null || fail 'the weight is not set'
run swarm kill light; exits 0
