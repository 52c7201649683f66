"""What the tests of a script share: a folder of their own, and a run of the script that says how it must end."""
import os
import shutil
import subprocess
import sys
import tempfile
import unittest

SCRIPTS = os.path.join(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))), "scripts")


class ScriptCase(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="script test ")  # a path with spaces
        self.addCleanup(shutil.rmtree, self.folder)

    def path(self, *parts):
        return os.path.join(self.folder, *parts)

    def run_script(self, name, *arguments, code=0, env=None):
        done = subprocess.run([sys.executable, "-B", os.path.join(SCRIPTS, name), *arguments], capture_output=True, text=True,
                              env=env, check=False)
        self.assertEqual(done.returncode, code, done.stderr)
        self.assertNotIn("Traceback", done.stderr)
        return done
