"""Assets: pictures and other files of a site or of a person, in versions that never change."""
