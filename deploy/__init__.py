"""Deployment: the template's parts beyond the package that Chalice makes."""
