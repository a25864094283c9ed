"""Products from the files of other shops, for `script/plaza import-products`."""
