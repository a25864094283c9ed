"""Pages from the files of other systems, for `script/plaza import-pages`."""
