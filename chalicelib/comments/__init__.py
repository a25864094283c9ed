"""Discussions under any page; their comments live in interchangeable stores."""
