"""The resources of a running Spark driver, read from its beans, registries and files."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

from pyspark.sql import SparkSession

Reading = dict[str, float]

_ROCKSDB = {
    "rocksdb_snapshots": "rocksdb.num-snapshots",
    "rocksdb_versions": "rocksdb.num-live-versions",
    "rocksdb_memtable_bytes": "rocksdb.cur-size-all-mem-tables",
    "rocksdb_reader_bytes": "rocksdb.estimate-table-readers-mem",
    "rocksdb_cache_bytes": "rocksdb.block-cache-usage",
    "rocksdb_pinned_bytes": "rocksdb.block-cache-pinned-usage",
}
_UNLOADING_SECONDS = 120.0
_CLEANING_SECONDS = 2.0


class Instruments:
    """Readings of one session's JVM; its driver runs on this machine and executes the tasks.

    Parameters
    ----------
    spark
        A classic session with a local master.
    checkpoint
        The folder of all checkpoints.
    local
        ``spark.local.dir``.
    """

    def __init__(self, spark: SparkSession, checkpoint: Path, local: Path) -> None:
        self._spark = spark
        self._jvm: Any = spark.sparkContext._jvm
        self._context: Any = spark.sparkContext._jsc.sc()
        self._environment = self._jvm.org.apache.spark.SparkEnv.get()
        self._beans = self._jvm.java.lang.management.ManagementFactory
        self._process = Path("/proc") / str(self._jvm.java.lang.ProcessHandle.current().pid())
        self._checkpoint = checkpoint
        self._local = local
        self._ended: list[Any] = []

    def read(self) -> Reading:
        """Read all instruments; the heap is read after a garbage collection."""
        self._beans.getMemoryMXBean().gc()
        return {
            **self._memory(),
            **self._process_numbers(),
            **self._registries(),
            **self._state_stores(),
            **_files_in("checkpoint", self._checkpoint),
            **_files_in("local", self._local),
        }

    def run_has_ended(self, run: str) -> None:
        """Record the run id of a query that was stopped."""
        self._ended.append(self._jvm.java.util.UUID.fromString(run))

    def read_at_rest(self) -> Reading:
        """Read all instruments while no query runs, after Spark's background cleanup.

        The method waits for the cleanup. The reading includes everything that remains after it.
        """
        give_up = time.monotonic() + _UNLOADING_SECONDS
        while self._providers() and time.monotonic() < give_up:
            self._unload_ended()
            time.sleep(0.2)
        # A thread cleans unreachable objects, and the next collection frees them.
        for _ in range(2):
            self._beans.getMemoryMXBean().gc()
            time.sleep(_CLEANING_SECONDS)
        return self.read()

    def _unload_ended(self) -> None:
        """Report again to Spark which runs have ended.

        An interrupted task may report its store after its run has ended. Spark then considers the
        store to be in use forever.
        """
        coordinator = self._spark._jsparkSession.streams().stateStoreCoordinator()
        for run in self._ended:
            coordinator.deactivateInstances(run)

    def _memory(self) -> Reading:
        memory = self._beans.getMemoryMXBean()
        pool = self._jvm.java.lang.Class.forName("java.lang.management.BufferPoolMXBean")
        buffers = {bean.getName(): bean for bean in self._beans.getPlatformMXBeans(pool)}
        spark = self._environment.memoryManager()
        return {
            "heap_bytes": memory.getHeapMemoryUsage().getUsed(),
            "non_heap_bytes": memory.getNonHeapMemoryUsage().getUsed(),
            "direct_bytes": buffers["direct"].getMemoryUsed(),
            "direct_buffers": buffers["direct"].getCount(),
            "mapped_bytes": buffers["mapped"].getMemoryUsed(),
            "task_memory_bytes": spark.executionMemoryUsed(),
            "storage_memory_bytes": spark.storageMemoryUsed(),
        }

    def _process_numbers(self) -> Reading:
        status = (self._process / "status").read_text().splitlines()
        [resident] = [line.split()[1] for line in status if line.startswith("VmRSS:")]
        return {
            "resident_bytes": int(resident) * 1024,
            "file_handles": sum(1 for _ in (self._process / "fd").iterdir()),
            "threads": self._beans.getThreadMXBean().getThreadCount(),
            "classes": self._beans.getClassLoadingMXBean().getLoadedClassCount(),
        }

    def _registries(self) -> Reading:
        session: Any = self._spark._jsparkSession
        accumulators = self._jvm.org.apache.spark.util.AccumulatorContext
        return {
            "temp_views": sum(t.isTemporary for t in self._spark.catalog.listTables()),
            "bus_listeners": self._context.listenerBus().listeners().size(),
            "query_listeners": len(session.streams().listListeners()),
            "execution_listeners": len(session.listenerManager().listListeners()),
            "running_queries": len(self._spark.streams.active),
            "cached_rdds": len(self._context.getRDDStorageInfo()),
            "accumulators": accumulators.numAccums(),
            "shuffles": self._environment.mapOutputTracker().shuffleStatuses().size(),
        }

    def _providers(self) -> list[Any]:
        module = "org.apache.spark.sql.execution.streaming.state.StateStore$"
        stores = self._jvm.java.lang.Class.forName(module)
        held = _field(stores.getField("MODULE$").get(None), "loadedProviders")
        return list(self._jvm.scala.jdk.javaapi.CollectionConverters.asJava(held.toSeq()))

    def _state_stores(self) -> Reading:
        providers = self._providers()
        stores = [_field(entry._2().rocksDB(), "db") for entry in providers]
        open_stores = [store for store in stores if store is not None]
        numbers = {
            name: sum(int(store.getProperty(asked)) for store in open_stores)
            for name, asked in _ROCKSDB.items()
        }
        return {"state_stores": len(providers), **numbers}


def _field(instance: Any, name: str) -> Any:
    """Return the value of a private field, whose name Scala may have mangled."""
    [field] = [
        field
        for field in instance.getClass().getDeclaredFields()
        if field.getName().rpartition("$")[2] == name
    ]
    field.setAccessible(True)
    return field.get(instance)


def _files_in(name: str, folder: Path) -> Reading:
    files = size = 0
    for file in folder.rglob("*"):
        try:
            status = file.stat()
        except FileNotFoundError:  # A running query may delete the file.
            continue
        if file.is_file():
            files += 1
            size += status.st_size
    return {f"{name}_files": files, f"{name}_bytes": size}
