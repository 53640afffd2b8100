# SPDX-License-Identifier: BSD-3-Clause
"""MkDocs hooks: pages from outside doc/, man pages as HTML, links as the repository has them, and
the plots of result pages, where ./dev docs has drawn them into build/plots.

A link to a file of the repository that is no page of the site becomes plain text; one to nothing
stays as it is, and the strict build refuses it.
"""

from __future__ import annotations

import posixpath
import re
import subprocess
from pathlib import Path

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.exceptions import PluginError
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

ROOT = Path(__file__).resolve().parents[1]
#: files of the repository that are pages under another name
OUTSIDE = {
    "README.md": "index.md",
    "bench/README.md": "bench.md",
    "ARCHITECTURE.md": "ARCHITECTURE.md",
    "CONTRIBUTING.md": "CONTRIBUTING.md",
    "CHANGELOG.md": "CHANGELOG.md",
    "SECURITY.md": "SECURITY.md",
}
#: the folders of the library
OUTSIDE |= {
    path.relative_to(ROOT).as_posix(): f"code/{'-'.join(path.relative_to(ROOT).parts[1:-1])}.md"
    for path in sorted(ROOT.glob("src/**/README.md"))
}
MAN_PAGES = ("doc/man/headway.1", "doc/man/headway.7")
PLOTS = ROOT / "build" / "plots"
RESULTS = "results/"
LINK = re.compile(r"(!?)\[([^\]]*)\]\(([^)\s#]+)(#[^)\s]*)?\)")
FENCE = re.compile(r"(^```.*?^```)", re.MULTILINE | re.DOTALL)


def site_name_of(path: str) -> str:
    """Where a file of the repository is in the site."""
    if path in MAN_PAGES:
        return path.removeprefix("doc/") + ".md"
    return OUTSIDE.get(path, path.removeprefix("doc/") if path.startswith("doc/") else "")


def repository_name_of(page: str) -> str:
    return next((path for path, name in OUTSIDE.items() if name == page), f"doc/{page}")


def man_as_html(path: Path) -> str:
    try:
        done = subprocess.run(
            ["mandoc", "-T", "html", "-O", "fragment", str(path)],
            capture_output=True,
            text=True,
            check=True,
        )
    except (OSError, subprocess.CalledProcessError) as error:
        raise PluginError(f"{path.name} cannot be converted: {error}; install mandoc") from error
    return done.stdout


def on_files(files: Files, config: MkDocsConfig) -> Files:
    for path, name in OUTSIDE.items():
        files.append(File.generated(config, name, content=(ROOT / path).read_text()))
    for path in MAN_PAGES:
        title = "{}({})".format(*Path(path).name.split("."))
        text = f"---\ntitle: {title}\n---\n{man_as_html(ROOT / path)}"
        files.append(File.generated(config, site_name_of(path), content=text))
    for path in sorted(PLOTS.glob("*/*.png")):
        name = f"{RESULTS}plots/{path.relative_to(PLOTS)}"
        files.append(File.generated(config, name, abs_src_path=str(path)))
    return files


def plots_of(page: str) -> str:
    """Links to the plots of a result page; nothing where none is drawn."""
    name = page.removeprefix(RESULTS).removesuffix(".md")
    plots = sorted((PLOTS / name).glob("*.png")) if page.startswith(RESULTS) else []
    shown = [f"![{path.stem}](<plots/{name}/{path.name}>)" for path in plots]
    return "\n\n".join(["", "## Plots", *shown, ""]) if shown else ""


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    here = page.file.src_uri
    folder = posixpath.dirname(repository_name_of(here))

    def moved(match: re.Match[str]) -> str:
        picture, text, target, anchor = match[1], match[2], match[3], match[4] or ""
        if "://" in target:
            return match[0]
        path = posixpath.normpath(posixpath.join(folder, target))
        if (ROOT / path / "README.md").is_file():
            path += "/README.md"
        name = site_name_of(path)
        if name and files.get_file_from_path(name):
            relative = posixpath.relpath(name, posixpath.dirname(here) or ".")
            return f"{picture}[{text}]({relative}{anchor})"
        return text if (ROOT / path).exists() else match[0]

    parts = FENCE.split(markdown)
    text = "".join(part if part.startswith("```") else LINK.sub(moved, part) for part in parts)
    return text + plots_of(here)
