"""Pages for a browser, each in one file that needs no network."""
