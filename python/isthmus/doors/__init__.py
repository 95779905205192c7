"""The places where this command listens, and the limits that keep strangers from blocking them."""
