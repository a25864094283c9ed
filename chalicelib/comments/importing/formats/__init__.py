"""A parser for each file that other systems export: from a stream to items, and nothing else."""
