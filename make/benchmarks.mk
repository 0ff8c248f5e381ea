# Benchmarks: benchmarks/README.md explains what each one measures.
##@ Benchmarks

.PHONY: bench
bench: $(VENV) $(JARS) ## ratios to reading, shuffling and sorting the same rows
	$(PY) benchmarks/run.py w1 w2 w3 w3b w4 w5 w6 w7 w7-empty w7-counted w7-empty-counted w8 rows-size w5-size

.PHONY: bench-jmh
bench-jmh: ## core and state layout, in ns per operation; JMH="PagedMap -p size=100" for some
	mkdir -p artifacts/benchmarks
	./sbt "jmh/Jmh/run -foe true -rf json -rff $(CURDIR)/artifacts/benchmarks/jmh.json $(JMH)"

.PHONY: bench-python
bench-python: $(VENV) $(JARS) ## end to end through PySpark, small, with pytest-benchmark
	mkdir -p artifacts/benchmarks
	$(PY) -m pytest benchmarks/end_to_end --benchmark-json=artifacts/benchmarks/end-to-end.json

.PHONY: peers
peers: ## the programs on Spark, Flink and Esper that winops is compared with
	./sbt peers

# Slow engines run fewer rows, and a million keys (w2) run on the engines that can hold them.
.PHONY: bench-peers
bench-peers: $(VENV) $(JARS) peers ## the same jobs on what people use instead
	$(PY) benchmarks/run.py w1 w3 w4 w5 --peers fast --name peers --warm-up 6 --batches 5
	$(PY) benchmarks/run.py w2 --name peers-w2 --warm-up 6 --batches 3 \
		--peers "transformWithState,; flatMapGroupsWithState; function, heap; function, RocksDB"
	$(PY) benchmarks/run.py w2 --name peers-w2-esper --warm-up 6 --batches 3 \
		--peers "Esper, groupwin" --heap 8g
	$(PY) benchmarks/run.py w1 w5 --peers slow --name peers-slow --rows 100000 --keys 1000 \
		--warm-up 3 --batches 5
