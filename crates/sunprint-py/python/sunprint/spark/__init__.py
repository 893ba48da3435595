"""Fits and draws on a Spark cluster.

::

    import sunprint.spark

    model = sunprint.spark.fit(frame, "people.toml", epsilon=1)
    synthetic = sunprint.spark.sample(spark, model, 10_000_000, seed=7)
    synthetic.write.parquet("s3://bucket/synthetic")

The rows stay where they are: in every pass, each partition becomes a tally on the executor that has it; tallies are
merged on executors, noise is added once, on the driver. ``docs/spark.md`` has more. The package must be installed on the
driver and on the executors; pyspark 3.5 or 4 comes with the cluster.
"""

from ._fit import fit
from ._sample import sample

__all__ = ["fit", "sample"]
