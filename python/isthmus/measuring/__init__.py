"""Measuring programs and what they print: for doctor, tune and isthmus-lab."""
