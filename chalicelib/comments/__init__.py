"""A discussion under any page: comments in interchangeable stores."""
