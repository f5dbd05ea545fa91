"""Which lines of which module were run, from the profiles of a build that counts them."""
import collections, json, os, pathlib, shutil, subprocess


def tool(name):
    """The compiler's own, which has the profile's format; or one of the system."""
    swift = shutil.which("swift")
    beside = pathlib.Path(os.path.realpath(swift)).parent / name if swift else None
    return str(beside) if beside and beside.exists() else name


def module(path, sources):
    """The module of a file of the verifier or the server, whose folders are the modules; None for what is elsewhere."""
    try:
        door, *parts = pathlib.Path(path).relative_to(sources).parts
    except ValueError:
        return None
    if door not in ("Verifier", "Server"):
        return None
    return parts[1] if parts[0] == "Encodings" else parts[0]


def by_module(repository, program, folder):
    """Of the profiles in a folder: how many lines were run of how many, for each module that was run at all."""
    merged = os.path.join(folder, "all.profdata")
    profiles = [str(path) for path in pathlib.Path(folder).glob("*.profraw")]
    subprocess.run([tool("llvm-profdata"), "merge", "-sparse", "-o", merged] + profiles, check=True)
    export = [tool("llvm-cov"), "export", "-summary-only", "-instr-profile", merged, program]
    files = json.loads(subprocess.run(export, check=True, stdout=subprocess.PIPE).stdout)["data"][0]["files"]
    sources = pathlib.Path(repository) / "Sources"
    counts = collections.defaultdict(lambda: [0, 0])
    for file in files:
        if name := module(file["filename"], sources):
            counts[name][0] += file["summary"]["lines"]["covered"]
            counts[name][1] += file["summary"]["lines"]["count"]
    return [{"module": name, "covered": covered, "lines": lines, "percent": round(100 * covered / lines, 1)}
            for name, (covered, lines) in sorted(counts.items()) if covered]
