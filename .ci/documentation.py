"""Checks the documents without DocC, and writes a copy of the catalogue with DocC's links between articles.

    documentation.py CATALOGUE COPY
"""

import re
import sys
from functools import cache
from pathlib import Path

HERE = Path(__file__).resolve().parent.parent
README_LINES, README_BYTES, ARTICLE_LINES = 200, 12_000, 350
LANDING = "Documentation.md"

FENCE = re.compile(r"^ *```")
HEADING = re.compile(r"^#{1,6} +(.*?) *#*$")
LINK = re.compile(r"(?<!\\)\[((?:[^\[\]]|\[[^\]]*\])*)\]\(([^()\s]+)\)")
CODE = re.compile(r"(`+)(?:(?!\1).)+\1", re.DOTALL)
PATH = re.compile(r"(?<![\w./…-])(?:Sources|Tests|TestVectors|\.ci|\.deploy)/[\w./*…-]+")


def prose(text):
    """The text with the same length and lines, and blanks for blocks of code and code within lines."""
    lines, fenced = [], False
    for line in text.split("\n"):
        fence = bool(FENCE.match(line))
        lines.append(" " * len(line) if fenced or fence else line)
        fenced ^= fence
    if fenced:
        raise ValueError("a block of code does not end")
    blank = lambda match: re.sub(r"[^\n]", " ", match.group())
    return CODE.sub(blank, "\n".join(lines))


def plain(heading):
    return re.sub(r"[`*]|(?<!\w)_|_(?!\w)", "", LINK.sub(r"\1", heading))


@cache
def headings(document):
    """The headings of a document by the anchors that forges give them."""
    found, fenced = {}, False
    for line in document.read_text(encoding="utf-8").split("\n"):
        if FENCE.match(line):
            fenced = not fenced
        elif not fenced and (match := HEADING.match(line)):
            text = plain(match.group(1))
            anchor = base = re.sub(r"[^\w\- ]", "", text.lower()).replace(" ", "-")
            number = 0
            while anchor in found:
                number += 1
                anchor = f"{base}-{number}"
            found[anchor] = text
    return found


def links(document):
    """The relative links: where they stand in the text, and what they lead to."""
    text = document.read_text(encoding="utf-8")
    for match in LINK.finditer(prose(text)):
        target = match.group(2)
        if not re.match(r"[a-z][a-z0-9+.-]*:", target):
            yield match, text.count("\n", 0, match.start()) + 1, target


def faults_of_links(document):
    for _, line, target in links(document):
        path, _, anchor = target.partition("#")
        file = (document.parent / path).resolve() if path else document
        place = f"{document.relative_to(HERE)}:{line}"
        if not file.exists() or HERE not in file.parents:
            yield f"{place}: {target} is not there"
        elif anchor and anchor not in headings(file):
            yield f"{place}: {file.name} has no heading #{anchor}"


def faults_of_paths(document):
    """Paths within code that are not in the repository; `*` and `…` stand for any text."""
    text = document.read_text(encoding="utf-8")
    for match in CODE.finditer(text):
        for path in PATH.findall(match.group()):
            if not any(HERE.glob(path.replace("…", "*").rstrip("/."))):
                line = text.count("\n", 0, match.start()) + 1
                yield f"{document.relative_to(HERE)}:{line}: {path} does not exist"


def faults_of_articles(catalogue):
    landing = set(re.findall(r"<doc:(\w+)>", (catalogue / LANDING).read_text(encoding="utf-8")))
    articles = {article.stem for article in catalogue.glob("*.md")} - {Path(LANDING).stem}
    yield from (f"{LANDING} does not list {name}" for name in sorted(articles - landing))
    for article in sorted(catalogue.glob("*.md")):
        lines = article.read_text(encoding="utf-8").count("\n")
        if lines > ARTICLE_LINES and not article.name.startswith("Reference"):
            yield f"{article.name} has {lines} lines, more than {ARTICLE_LINES}"


def faults_of_size(readme):
    data = readme.read_bytes()
    lines = data.count(b"\n")
    if lines > README_LINES or len(data) > README_BYTES:
        yield f"README.md has {lines} lines and {len(data)} bytes; {README_LINES} and {README_BYTES} may be"


def referring(article):
    """The article's text with DocC's references to other articles, and without links to other files."""
    text = article.read_text(encoding="utf-8")
    for match, _, target in reversed(list(links(article))):
        path, _, anchor = target.partition("#")
        if text[match.start() - 1 : match.start()] == "!":
            continue
        other = (article.parent / path).resolve() if path else article
        words = text[match.start() : match.start() + match.group().rindex("](") + 1]
        reference = words[1:-1]
        if other.parent == article.parent:
            fragment = "#" + headings(other)[anchor].replace(" ", "-") if anchor else ""
            reference = f"{words}(doc:{other.stem}{fragment})"
        text = text[: match.start()] + reference + text[match.end() :]
    return text


def main(catalogue, copy):
    catalogue, copy = Path(catalogue).resolve(), Path(copy)
    folders = [HERE / "README.md", HERE / "Trust/README.md", HERE / "TestVectors/README.md",
               HERE / "TestVectors/harnesses/README.md"]
    documents = folders + sorted(catalogue.glob("*.md"))
    catalogues = sorted((HERE / "Sources").glob("*/*/*.docc/*.md"))
    faults = [fault for document in documents for fault in faults_of_links(document)]
    faults += [fault for document in documents + catalogues for fault in faults_of_paths(document)]
    faults += [*faults_of_articles(catalogue), *faults_of_size(folders[0])]
    if faults:
        sys.exit("\n".join(faults))
    copy.mkdir(parents=True)
    for article in catalogue.glob("*.md"):
        (copy / article.name).write_text(referring(article), encoding="utf-8")
    for image in [*catalogue.glob("*.svg"), *catalogue.glob("*.png")]:
        (copy / image.name).write_bytes(image.read_bytes())
    print(f"{len(documents)} documents, {sum(len(list(links(document))) for document in documents)} relative links")


main(*sys.argv[1:])
