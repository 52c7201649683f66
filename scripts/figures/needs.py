"""A Python that sees the packages a script needs: the python3 on the PATH may be another than Debian's, which has them."""
import importlib.util
import os
import sys

SYSTEM = "/usr/bin/python3"


def need(*modules):
    """Goes on where all of them can be imported, else as the system's Python, else ends with a line that says what is missing."""
    missing = [module for module in modules if importlib.util.find_spec(module) is None]
    if not missing:
        return
    if os.path.exists(SYSTEM) and os.path.realpath(sys.executable) != os.path.realpath(SYSTEM):
        os.execv(SYSTEM, [SYSTEM, *sys.argv])
    packages = " ".join(f"python3-{module}" for module in missing)
    script = os.path.basename(sys.argv[0])
    print(f"{script}: missing: {', '.join(missing)} (Debian: {packages})", file=sys.stderr)
    sys.exit(3)
