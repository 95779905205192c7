"""`python -m isthmus` is `isthmus`."""

import sys

from isthmus.cli import main

sys.exit(main())
