"""What a deployment adds to the package that Chalice makes."""
