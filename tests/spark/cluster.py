"""A standalone cluster of Spark on the loopback: a master and two workers with one core each."""

from __future__ import annotations

import atexit
import os
import re
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import pyspark
from pyspark.sql import SparkSession

HERE = "127.0.0.1"
_PATIENCE = 120


class Cluster:
    """Starts at once; `stop` ends all its processes."""

    def __init__(self, workers: int = 2) -> None:
        given = os.environ.get("SUNPRINT_SPARK_FOLDER")
        self.folder = Path(given or tempfile.mkdtemp())
        self.spark: SparkSession | None = None
        self._daemons: dict[str, subprocess.Popen[bytes]] = {}
        atexit.register(self.stop)
        self._daemon("master", "org.apache.spark.deploy.master.Master", "--host", HERE, "--port", "0", "--webui-port", "0")
        self.master = self._wait("master", r"Starting Spark master at (spark://\S+)")
        for number in range(workers):
            self.start_worker(number)
        for number in range(workers):
            self._wait(f"worker-{number}", r"Successfully registered with master (\S+)")

    def start_worker(self, number: int) -> None:
        name = f"worker-{number}"
        # Spark begins a speculative copy of a task on another host only. Both names are the same address.
        host = HERE if number == 0 else "localhost"
        options = ["--host", host, "--port", "0", "--webui-port", "0", "--cores", "1", "--memory", "600m"]
        work = ["--work-dir", str(self.folder / name)]
        self._daemon(name, "org.apache.spark.deploy.worker.Worker", *options, *work, self.master)

    def restart_worker(self, number: int) -> None:
        """A new worker in place of one that was killed; it is there when this returns."""
        self.kill_worker(number)
        (self.folder / f"worker-{number}.log").unlink()
        self.start_worker(number)
        self._wait(f"worker-{number}", r"Successfully registered with master (\S+)")

    def kill_worker(self, number: int) -> None:
        """Kills a worker and its executors, without a warning."""
        self._kill(f"worker-{number}")

    def session(self, **conf: str) -> SparkSession:
        """A session on this cluster; the one before it is stopped."""
        self.stop_session()
        settings = {
            "spark.driver.host": HERE,
            "spark.driver.bindAddress": HERE,
            "spark.driver.memory": "512m",
            "spark.driver.extraJavaOptions": "-Djava.net.preferIPv4Stack=true",
            "spark.executor.extraJavaOptions": "-Djava.net.preferIPv4Stack=true",
            "spark.executor.memory": "512m",
            "spark.executor.cores": "1",
            "spark.local.dir": str(self.folder / "local"),
            "spark.log.level": "OFF",
            "spark.pyspark.python": sys.executable,
            "spark.pyspark.driver.python": sys.executable,
            "spark.scheduler.minRegisteredResourcesRatio": "1.0",
            "spark.sql.session.timeZone": "Europe/Zurich",
            "spark.sql.shuffle.partitions": "2",
            "spark.sql.warehouse.dir": str(self.folder / "warehouse"),
            "spark.ui.enabled": "false",
            "spark.ui.showConsoleProgress": "false",
            **{name.replace("__", "."): value for name, value in conf.items()},
        }
        # The JVM of the driver, and the Python of executors, come from here and not from the session.
        os.environ.update(_environment(), PYSPARK_PYTHON=settings["spark.pyspark.python"])
        builder: Any = SparkSession.builder.master(self.master).appName("sunprint")
        for name, value in settings.items():
            builder = builder.config(name, value)
        self.spark = builder.getOrCreate()
        return self.spark

    def stop_session(self) -> None:
        if self.spark is not None:
            self.spark.stop()
            self.spark = None

    def stop(self) -> None:
        try:
            self.stop_session()
        finally:
            for name in list(self._daemons):
                self._kill(name)

    def groups(self) -> list[int]:
        return [daemon.pid for daemon in self._daemons.values()]

    def _daemon(self, name: str, main: str, *arguments: str) -> None:
        home = Path(pyspark.__file__).parent
        with open(self.folder / f"{name}.log", "wb") as log:
            daemon = subprocess.Popen(
                [home / "bin" / "spark-class", main, *arguments],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                cwd=self.folder,
                start_new_session=True,
                env={**os.environ, **_environment()},
            )
        self._daemons[name] = daemon
        with open(self.folder / "groups", "a") as groups:
            groups.write(f"{daemon.pid}\n")

    def _wait(self, name: str, pattern: str) -> str:
        until = time.monotonic() + _PATIENCE
        while time.monotonic() < until:
            found = re.search(pattern, (self.folder / f"{name}.log").read_text(errors="replace"))
            if found:
                return found[1]
            if self._daemons[name].poll() is not None:
                break
            time.sleep(0.1)
        log = (self.folder / f"{name}.log").read_text(errors="replace")
        raise RuntimeError(f"the {name} of the cluster does not start:\n{log}")

    def _kill(self, name: str) -> None:
        daemon = self._daemons.pop(name, None)
        if daemon is not None:
            try:
                os.killpg(daemon.pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
            daemon.wait()


def _environment() -> dict[str, str]:
    return {
        "PYSPARK_PYTHON": sys.executable,
        "SPARK_DAEMON_JAVA_OPTS": "-Djava.net.preferIPv4Stack=true",
        "SPARK_DAEMON_MEMORY": "256m",
        "SPARK_LOCAL_IP": HERE,
        "SPARK_MASTER_HOST": HERE,
        "SPARK_NO_DAEMONIZE": "1",
    }
