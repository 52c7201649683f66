"""How long a sweep will take here: `headroom grid --format json` on stdin, the binary as the only argument."""
import json
import shlex
import subprocess
import sys

SEEDS = ("seed", "seeds.init", "seeds.data")


def decode_all(text):
    """The JSON lists of several sweeps behind each other, as one."""
    decoder, points, at = json.JSONDecoder(), [], 0
    text = text.strip()
    while at < len(text):
        some, at = decoder.raw_decode(text, at)
        points += some
        while at < len(text) and text[at].isspace():
            at += 1
    return points


def check(binary, point):
    """(seconds, parameters) that `headroom check` projects for a run."""
    words = point["command_words"]
    done = subprocess.run([binary, "check", *words, "--json"], capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(f"estimate: {point['name']}: {done.stderr.strip()}")
    found = json.loads(done.stdout)
    return found["projection"]["total_s"], found["projection"]["threads"]


def main():
    points, seen, total, left = decode_all(sys.stdin.read()), {}, 0.0, 0
    for point in points:
        words = shlex.split(point["command"])[2:]
        point["command_words"] = words[:words.index("--out")]
        key = json.dumps({k: v for k, v in point["set"].items() if k not in SEEDS})
        if key not in seen:
            seen[key] = check(sys.argv[1], point)
            print(f"{seen[key][0] / 60:10.1f} min  {point['name']}", flush=True)
        if not point["finished"]:
            left += 1
            total += seen[key][0]
    threads = max((t for _, t in seen.values()), default=1)
    print(f"{len(points)} runs, {left} to do: about {total / 3600:.1f} h one after the other, {threads} threads each")


if __name__ == "__main__":
    main()
