"""The page of `headroom report` in a real browser without a display: its DOM, and that it loads nothing and runs nothing wrong.

    report_test.py BINARY        exit code 77: no chromium here
"""
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile

SKIPPED = 77
BASE = {"task": {"dim": 4, "points": 4}, "model": {"width": 4, "attention": {"heads": 1}, "ffn": {"width": 0}},
        "train": {"steps": 40, "batch": 8}, "eval": {"items": 16, "every": 10}, "run": {"log_every": 1}}


def main():
    binary = os.path.abspath(sys.argv[1])
    browser = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if browser is None:
        print("skipped: no chromium installed (Debian: chromium)")
        return SKIPPED
    with tempfile.TemporaryDirectory(prefix="report test ") as folder:
        with open(os.path.join(folder, "base.json"), "w", encoding="utf-8") as file:
            json.dump(BASE, file)
        os.mkdir(os.path.join(folder, "runs"))
        for name, items, code in (("a", ["seed=1"], 0), ("b", ["seed=2"], 0),
                                  ("c", ["train.optimizer.lr=1e30", "model.norm.type=none"], 4)):
            sets = [word for item in items for word in ("--set", item)]
            done = subprocess.run([binary, "train", "base.json", *sets, "--out", "runs/" + name, "--quiet"], cwd=folder, check=False,
                                  capture_output=True)
            assert done.returncode == code, done.stderr
        subprocess.run([binary, "report", "runs", "--out", "page.html", "--quiet"], cwd=folder, check=True)
        common = [browser, "--headless=new", "--no-sandbox", "--disable-gpu", f"--user-data-dir={folder}/profile", "--hide-scrollbars"]
        page = "file://" + folder.replace(" ", "%20") + "/page.html"
        dom = subprocess.run([*common, "--virtual-time-budget=1000", "--dump-dom", page], capture_output=True, text=True, check=True,
                             timeout=120).stdout
        # What the browser made of it: nothing reparented, no stray text.
        body = re.search(r"<body>(.*)</body>", dom, re.S).group(1)
        assert re.search(r"<h1>3 runs</h1>", body), body[:300]
        rows = re.findall(r"<tr(?: class=\"bad\")?><td>([abc])</td>", re.search(r'id="runs".*?</table>', body, re.S).group(0))
        assert rows == ["a", "b", "c"], rows
        assert body.count('<tr class="bad">') == 1
        curves = re.findall(r'<path class="line" d="([^"]+)"', body)
        # Training: two runs of 40 updates. Held-out: two runs, and the baselines above 0.
        points = [len(re.findall("[ML]", curve)) for curve in curves]
        assert points[:2] == [40, 40], points
        assert points[2:4] == [4, 4], points
        assert "best_linear_map" in body and "the update is refused" in body
        shot = os.path.join(folder, "shot.png")
        subprocess.run([*common, "--window-size=1400,1600", f"--screenshot={shot}", page], capture_output=True, check=True, timeout=120)
        with open(shot, "rb") as file:
            assert file.read(8) == b"\x89PNG\r\n\x1a\n"
        assert os.path.getsize(shot) > 40000, os.path.getsize(shot)  # an empty page has some 8 kB
    print("the page stands in the browser as it was written")
    return 0


if __name__ == "__main__":
    sys.exit(main())
