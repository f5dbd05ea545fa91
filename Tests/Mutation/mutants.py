"""Removes one check of the verifier at a time, and sees whether the corpus or a test notices. Run by Tests/Mutation/mutants."""

import argparse
import collections
import concurrent.futures
import datetime
import json
import os
import pathlib
import re
import shutil
import sys
import time
import tomllib

from mutant_copy import MODULES, ROOT, TARGETS, Project
from mutant_runs import Reach, Runner
from mutant_sites import Site


def exceptions() -> tuple[dict[str, str], set[str]]:
    """Of Tests/Mutation/mutants.toml: the arguments by the name of a site, and the sites that only published vectors reach."""
    content = tomllib.loads((ROOT / "Tests/Mutation/mutants.toml").read_text())
    entries, published = content.get("exception", []), content.get("published", [])
    named = {entry["site"]: " ".join(entry["argument"].split()) for entry in entries}
    if len(named) != len(entries) or len(set(published)) != len(published):
        raise SystemExit("mutants.toml names a site twice")
    return named, set(published)


def chosen(project: Project, published: set[str], options) -> list[Site]:
    sites = [site for site in project.sites if project.has_facts or site.kind != "fact"]
    if not project.has_published:
        sites = [site for site in sites if site.name not in published]
    if options.module:
        sites = [site for site in sites if site.module in options.module]
    if options.site:
        sites = [site for site in sites if re.search(options.site, site.name)]
    if options.again:
        rows = json.loads(pathlib.Path(options.report).with_suffix(".json").read_text())["sites"]
        names = {row["site"] for row in rows if row["outcome"] in ("survived", "exception")}
        sites = [site for site in sites if site.name in names]
    if options.part:
        part, parts = map(int, options.part.split("/"))
        sites = [site for index, site in enumerate(sites) if index % parts == part % parts]
    return sites


def judge(sites: list[Site], runner: Runner, options) -> dict[int, tuple[str, str]]:
    """Where each removal was noticed, and by what; ("", "") where it was not."""
    reach = Reach(runner)
    outcomes: dict[int, tuple[str, str]] = {}

    def by_corpus(site: Site) -> tuple[str, str]:
        names = [name for name in runner.vectors() if site.number in reach.reached[name]]
        noticed = runner.judge(names, site.number) if names else None
        return ("corpus", noticed) if noticed else ("", "")

    def by_tests(suites: list[str]):
        def one(site: Site) -> tuple[str, str]:
            for suite in suites:
                if site.number in reach.reached[suite]:
                    # Twice, since a deadline may be missed for another reason.
                    if runner.test(suite, site.number) and (noticed := runner.test(suite, site.number)):
                        return suite, noticed
            return "", ""

        return one

    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:

        def stage(name: str, notice, open_sites: list[Site], begun: float) -> list[Site]:
            for done, (site, outcome) in enumerate(zip(open_sites, pool.map(notice, open_sites)), 1):
                outcomes[site.number] = outcome
                progress(name, done, len(open_sites), begun)
            left = [site for site in open_sites if not outcomes[site.number][0]]
            seconds = time.monotonic() - begun
            print(f"{name}: {len(open_sites) - len(left)} of {len(open_sites)} noticed, {seconds:.0f} s", flush=True)
            return left

        begun = time.monotonic()
        list(pool.map(reach.vector, runner.vectors()))
        reach.forget()
        print(f"{len(reach.reached)} vectors pass, {time.monotonic() - begun:.0f} s", flush=True)
        left = stage("corpus", by_corpus, sites, time.monotonic())
        remaining = runner.scratch.parent / "left.txt"
        remaining.write_text("".join(f"{site.name}\n" for site in left))
        for target in [] if options.corpus_only else ordered(left):
            begun = time.monotonic()
            suites = runner.suites([target]) if left else []
            list(pool.map(reach.suite, suites))
            # What reaches least is the nearest.
            suites.sort(key=lambda suite: len(reach.reached[suite]))
            left = stage(f"{target}Tests", by_tests(suites), left, begun) if suites else left
            remaining.write_text("".join(f"{site.name}\n" for site in left))
    return outcomes


def progress(name: str, done: int, total: int, begun: float) -> None:
    """How far a stage is, and about how long it still takes, on one line of a terminal."""
    if sys.stderr.isatty():
        left = (time.monotonic() - begun) * (total - done) / done
        line = f"{name}: {done} of {total}, about {left / 60:.0f} min left" if done < total else ""
        print(f"\r\033[K{line}", end="", file=sys.stderr, flush=True)


def ordered(sites: list[Site]) -> list[str]:
    modules = {site.module for site in sites}
    return sorted(TARGETS, key=lambda target: (target not in modules, TARGETS.index(target)))


def report(sites, readings, outcomes, named, published, options, project) -> int:
    everything = {site.name for site in project.sites}
    rows, faults = [], []
    for site in sites:
        suite, noticed = outcomes[site.number]
        excepted = site.name in named
        outcome = "corpus" if suite == "corpus" else "tests" if suite else "exception" if excepted else "survived"
        if suite and excepted:
            faults.append(f"is an exception, and {suite} notices it: {site.name}")
        if outcome == "survived" and site.kind != "fact":
            faults.append(f"survived: {site.name} (Sources/Verifier/{site.file}.swift:{site.line})")
        rows.append({
            "site": site.name, "module": site.module, "kind": site.kind, "outcome": outcome, "by": suite,
            "noticed": noticed, "place": f"Sources/Verifier/{site.file}.swift:{site.line}"})
    faults += [f"mutants.toml names what is no site: {name}" for name in [*named, *published] if name not in everything]
    text = markdown(rows, readings, named)
    output = pathlib.Path(options.report)
    output.with_suffix(".json").write_text(json.dumps({
        "sites": rows, "readings": [f"{one.name} (line {one.line})" for one in readings]}, indent=1) + "\n")
    output.with_suffix(".md").write_text(text)
    print(text[: text.index("\n## ")] if "\n## " in text else text)
    for fault in faults:
        print(f"✘ {fault}", file=sys.stderr)
    return 1 if faults else 0


def markdown(rows, readings, named) -> str:
    lines = [f"# Mutation test, {datetime.date.today()}", ""]
    for title, wanted in [("Checks", lambda row: row["kind"] != "fact"), ("Facts", lambda row: row["kind"] == "fact")]:
        counted = [row for row in rows if wanted(row)]
        if not counted:
            continue
        lines += [f"| {title} | Removed | Noticed by the corpus | by tests | Exceptions | Survived | Score |",
                  "|---|---:|---:|---:|---:|---:|---:|"]
        for module in [*MODULES, "All"]:
            of = [row["outcome"] for row in counted if module in ("All", row["module"])]
            count = collections.Counter(of)
            rest = len(of) - count["exception"]
            score = f"{100 * (count['corpus'] + count['tests']) / rest:.1f} %" if rest else "–"
            lines.append(
                f"| {module} | {len(of)} | {count['corpus']} | {count['tests']} | {count['exception']} | "
                f"{count['survived']} | {score} |")
        lines.append("")
    survived = [row for row in rows if row["outcome"] == "survived"]
    if survived:
        lines += ["", "## Survived", ""] + [f"- {row['place']}: {row['site']}" for row in survived]
    excepted = [row for row in rows if row["outcome"] == "exception"]
    if excepted:
        lines += ["", "## Exceptions", ""] + [f"- {row['site']}: {named[row['site']]}" for row in excepted]
    lines += ["", "## Readings, which can't be removed", ""]
    lines += [f"- {one.name} (line {one.line})" for one in readings]
    return "\n".join(lines) + "\n"


def main() -> int:
    parser = argparse.ArgumentParser(prog="mutants", description=__doc__)
    parser.add_argument("--work", type=pathlib.Path, required=True, help="the folder of the copy and its build")
    parser.add_argument("--module", action="append", choices=MODULES, help="only the checks of this module")
    parser.add_argument("--site", metavar="REGEX", help="only sites whose name fits")
    parser.add_argument("--part", metavar="K/N", help="only every Nth site, from the Kth")
    parser.add_argument("--again", action="store_true", help="only what the last report says survived")
    parser.add_argument("--corpus-only", action="store_true", help="no unit tests")
    parser.add_argument("--facts", action="store_true", help="also what checks are derived from; not in the score")
    parser.add_argument("--without-published", action="store_true", help="as if no published vectors were there")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="how many run at once")
    parser.add_argument("--report", help="where the reports go, without .json or .md (default: in the work folder)")
    parser.add_argument("--list", action="store_true", help="only print the sites")
    options = parser.parse_args()
    options.report = options.report or options.work / "report"

    project = Project(options.work.resolve(), options.facts, not options.without_published)
    named, published = exceptions()
    sites = chosen(project, published, options)
    if options.list:
        for site in sites:
            print(f"{site.number:4} line {site.line}: {site.name}")
        return 0
    print(f"{len(sites)} of {len(project.sites)} sites, {len(project.readings)} readings", flush=True)
    project.copy()
    project.build(*(["--product", "Judge"] if options.corpus_only else ["--build-tests"]))
    runner = Runner(project.folder)
    if not project.has_published:
        print("the published vectors are not here: nothing that they alone reach is removed", flush=True)
    outcomes = judge(sites, runner, options)
    shutil.rmtree(runner.scratch, ignore_errors=True)
    return report(sites, project.readings, outcomes, named, published, options, project)


if __name__ == "__main__":
    sys.exit(main())
