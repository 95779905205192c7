"""Pages for a browser. A page is one file, and works without a network."""
