"""Discussions of other systems, read from the files that these systems export."""
