#!/bin/sh
# The command `isthmus` of an installation by pip: starts the Python that it was installed for, which
# looks at none of Python's own variables. Modules of clusters set them (PYTHONPATH, PYTHONHOME) for
# another Python. Ranks find them unchanged. Arguments are bytes in every locale (UTF-8 mode).
here=$0
if [ -L "$here" ]; then here=$(readlink -f -- "$here"); fi
case $here in
*/*) here=${here%/*} ;;
*) here=. ;;
esac
command=$here/isthmus-python
# Its first line is "#!PYTHON". Where that path is long or has a blank, the second is
# '''exec' "PYTHON" "$0" "$@"
{
  read -r first || exit 1
  read -r second || :
} < "$command" || {
  echo "isthmus: $command is missing or empty; reinstall Isthmus." >&2
  exit 1
}
python=${first#\#!}
if [ "$python" = /bin/sh ]; then
  python=${second#"'''exec' "}
  eval "python=${python% \"\$0\" *}"
fi
exec "$python" -E -X utf8 "$command" "$@"
