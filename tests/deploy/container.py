#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""The Containerfile: known instructions, known packages, a closed run stage.

    container.py [ROOT]    prints faults; exit 1 if there is one

What the build stage installs stands in tests/packages.sh. What the run stage installs are the
packages of the libraries that the program is linked with; that is compared when a build is here.
"""
import pathlib
import re
import subprocess
import sys

INSTRUCTIONS = {"ARG", "FROM", "RUN", "COPY", "ENV", "USER", "WORKDIR", "EXPOSE", "STOPSIGNAL", "ENTRYPOINT"}
faults = 0


def fault(text):
    global faults
    faults += 1
    print(f"deploy/Containerfile: {text}")


def instructions(text):
    """(word, rest) of each, lines joined; a list for each stage, what stands before the first one left out."""
    text = re.sub(r"^\s*#.*\n", "", text, flags=re.M).replace("\\\n", " ")
    stages = []
    for line in filter(str.strip, text.splitlines()):
        word, _, rest = line.strip().partition(" ")
        if word not in INSTRUCTIONS:
            fault(f"{word}: unknown or unwanted instruction")
        if word == "FROM":
            stages.append([])
        if stages:
            stages[-1].append((word, " ".join(rest.split())))
    return stages


def installed(stage):
    found = []
    for word, rest in stage:
        for command in rest.split("&&") if word == "RUN" else ():
            if "apt-get install" in command:
                words = command.split("apt-get install")[1].split()
                if not {"-y", "--no-install-recommends"} <= set(words):
                    fault(f"without -y or --no-install-recommends: {command.strip()}")
                found += [one for one in words if not one.startswith("-")]
        if word == "RUN" and "apt-get update" in rest and "rm -rf /var/lib/apt/lists/*" not in rest:
            fault("the package lists stay in a layer")
    return found


def build_packages(root):
    text = (root / "tests" / "packages.sh").read_text()
    return set(re.search(r"packages_build=\((.*?)\)", text, re.S)[1].split())


def unknown_to_apt(packages):
    """Those that Debian's lists do not have; none where there are no lists."""
    try:
        policy = subprocess.run(["apt-cache", "policy", *packages], capture_output=True, text=True, check=False).stdout
    except FileNotFoundError:
        return set()
    known = set(re.findall(r"^(\S+):\n +Installed: .*\n +Candidate: (?!\(none\))", policy, re.M))
    return set(packages) - known if known else set()


def packages_of(program):
    """The Debian packages of the libraries that the program is linked with; None when that cannot be told."""
    try:
        loaded = subprocess.run(["ldd", program], capture_output=True, text=True, check=True).stdout
        needed = subprocess.run(["objdump", "-p", program], capture_output=True, text=True, check=True).stdout
        found = set()
        for name in set(re.findall(r"NEEDED\s+(\S+)", needed)):
            path = re.search(rf"{re.escape(name)} => (\S+)", loaded)[1]
            real = str(pathlib.Path(path).resolve())
            owner = subprocess.run(["dpkg", "-S", real], capture_output=True, text=True, check=False).stdout or \
                subprocess.run(["dpkg", "-S", real.removeprefix("/usr")], capture_output=True, text=True,
                               check=True).stdout
            found.add(owner.split(":")[0])
        return found - {"libc6"}
    except (OSError, subprocess.CalledProcessError, TypeError):
        return None


def check_run_stage(stage, packages, root):
    last = {word: rest for word, rest in stage}
    if not re.fullmatch(r"[1-9]\d*:[1-9]\d*", last.get("USER", "")):
        fault("USER has to be a number that is not 0")
    if not last.get("ENTRYPOINT", "").startswith("["):
        fault("ENTRYPOINT has to be a list: no shell is needed")
    if last.get("STOPSIGNAL") != "SIGTERM":
        fault("STOPSIGNAL has to be SIGTERM")
    if last.get("EXPOSE", "").split() != ["17912", "2121"]:
        fault("EXPOSE has to name 17912 and 2121")
    if any(one.endswith("-dev") for one in packages):
        fault("the run stage installs a -dev package")
    debian_12 = 'VERSION_ID="12"' in pathlib.Path("/etc/os-release").read_text()
    if not debian_12:
        return
    for package in sorted(unknown_to_apt(packages)):
        fault(f"Debian has no package {package}")
    for program in sorted(root.glob("build*/**/liaison/bydb-liaison")):
        needed = packages_of(str(program))
        if needed is not None and "sanitize" not in str(program):
            if needed != set(packages):
                fault(f"the run stage installs {sorted(packages)}, the program needs {sorted(needed)}")
            return


def main(root):
    stages = instructions((root / "deploy" / "Containerfile").read_text())
    if len(stages) != 2:
        fault(f"{len(stages)} stages, expected 2")
        return 1
    known = build_packages(root)
    for package in installed(stages[0]):
        if package not in known:
            fault(f"the build stage installs {package}, which tests/packages.sh does not know")
    for word, rest in stages[0] + stages[1]:
        source = rest.split()[0]
        if word == "COPY" and not source.startswith("--") and not (root / source).exists():
            fault(f"COPY {source}: not there")
    check_run_stage(stages[1], installed(stages[1]), root)
    return 1 if faults else 0


if __name__ == "__main__":
    default = pathlib.Path(__file__).resolve().parents[2]
    sys.exit(main(pathlib.Path(sys.argv[1]).resolve() if len(sys.argv) > 1 else default))
