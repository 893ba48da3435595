"""TeX between dollar signs becomes MathML while the book is built: no script, no font, no network for the reader.

`$…$` stands in a line, `$$…$$` on its own. Code, in blocks or between backticks, is left alone. A command that the
converter does not know stops the build, and so does a dollar sign that belongs to no formula.
"""

import re
import unicodedata
import xml.etree.ElementTree as tree

from latex2mathml import converter
from mkdocs.exceptions import PluginError

# Fenced blocks, code spans and comments first, so that a dollar sign in them is never taken for a formula.
PARTS = re.compile(
    r"(?P<fence>^(?P<ticks>```+|~~~+)[^\n]*\n.*?^(?P=ticks)[ \t]*$)"
    r"|(?P<code>(?P<tick>`+)(?!`).+?(?<!`)(?P=tick)(?!`))"
    r"|(?P<comment><!--.*?-->)"
    r"|\$\$(?P<block>.+?)\$\$"
    r"|(?<![\\\w$])\$(?P<inline>(?=[^\s$])(?:[^$\n]|\n(?!\s*\n))*?(?<=[^\s$]))\$(?![\d$])"
    r"|(?P<dollar>\$)",
    re.DOTALL | re.MULTILINE,
)
MARK = "FORMULA{:04d}ALUMROF"
MARKS = re.compile(r"(<p>\s*)?FORMULA(\d{4})ALUMROF(\s*</p>)?")
# What the converter lays out; of others it would show the contents as they come.
ENVIRONMENTS = {"align*", "cases", "matrix", "pmatrix", "bmatrix"}
OPERATORS = {"Sm", "Ps", "Pe"}
# The converter applies these to what is in braces only.
STYLED = re.compile(r"\\(mathbb|mathcal|mathsf|mathrm|mathbf)\s*([A-Za-z])(?![A-Za-z])")
LIMITS = {"min", "max", "sup", "inf"}
BARS = {"‖", "|"}
NAMESPACE = "{http://www.w3.org/1998/Math/MathML}"


SCRIPTED = {NAMESPACE + name for name in ("msub", "msup", "msubsup", "munder", "mover", "munderover")}
tree.register_namespace("", NAMESPACE[1:-1])


class UnknownCommand(ValueError):
    """A command that would be shown as it was written."""


def mathml(tex: str, display: bool = False) -> str:
    """MathML for a formula; refuses what would not be shown as meant."""
    tex = STYLED.sub(r"\\\1{\2}", " ".join(tex.split()))
    if tex.count("{") != tex.count("}"):
        raise UnknownCommand("braces do not match")
    for name in re.findall(r"\\begin\{(.*?)\}", tex):
        if name not in ENVIRONMENTS:
            raise UnknownCommand(f"the environment `{name}` is unknown")
    try:
        html = converter.convert(tex, display="block" if display else "inline")
    except Exception as error:  # the converter has many kinds of its own
        raise UnknownCommand(f"{type(error).__name__} {error}".strip()) from error
    try:
        root = tree.fromstring(html)
    except tree.ParseError as error:
        raise UnknownCommand("an ampersand outside of a known environment") from error
    for element in root.iter():
        text = element.text or ""
        if element.tag == NAMESPACE + "merror" or "\\" in text:
            raise UnknownCommand(f"`{text.strip()}` is unknown")
        children = list(element)
        if element.tag == NAMESPACE + "msup" and (children[1].text or "") == "′":
            # The sign stands high already; as an exponent it would be tiny.
            element.tag, children[1].tag = NAMESPACE + "mrow", NAMESPACE + "mo"
            children[1].attrib.update(lspace="0", rspace="0")
        if display and element.tag == NAMESPACE + "msub" and (children[0].text or "") in LIMITS:
            element.tag = NAMESPACE + "munder"
        for child, follower in zip(children, [*children[1:], None]):
            set_space(child, follower)
    return tree.tostring(root, encoding="unicode")


def set_space(element, follower) -> None:
    """Mends what the converter leaves to chance: which signs are operators, and the space around them."""
    text = (element.text or "").strip()
    mark = element
    if element.tag in SCRIPTED and len(element):
        mark, text = element[0], (element[0].text or "").strip()
    if mark.tag not in (NAMESPACE + "mi", NAMESPACE + "mo") or not text:
        return
    if mark.tag == NAMESPACE + "mi" and all(unicodedata.category(c) in OPERATORS for c in text):
        # Relations and brackets that were taken for names would get no space at all.
        mark.tag = NAMESPACE + "mo"
        mark.set("stretchy", "false")
    elif text in BARS and "fence" not in mark.attrib:
        # Bars of a norm: as high as the line, whichever side they are on.
        mark.tag = NAMESPACE + "mo"
        mark.attrib.update(stretchy="false", lspace="0", rspace="0")
    elif text == "/":
        mark.attrib.update(lspace="0.06em", rspace="0.06em")
    elif len(text) > 1 and text.isascii() and text.isalpha():
        # The name of a function stands off its argument, unless that is in brackets.
        inner = "".join(follower.itertext()) if follower is not None else "("
        space = "0" if inner[:1] in "([{" else "0.167em"
        mark.tag = NAMESPACE + "mo"
        mark.attrib.update(form="prefix", lspace="0.12em", rspace=space)


def take_out(markdown: str, name: str) -> tuple[str, list[str]]:
    """The text with a mark for each formula, and the formulas."""
    formulas: list[str] = []

    def one(match: re.Match) -> str:
        if match["dollar"]:
            line = markdown.count("\n", 0, match.start()) + 1
            raise PluginError(f"{name}, line {line}: a dollar sign that belongs to no formula; write it as code")
        tex = match["block"] or match["inline"]
        if tex is None:
            return match[0]
        start = markdown.rfind("\n", 0, match.start()) + 1
        if markdown.startswith("#", start):
            raise PluginError(f"{name}: a heading cannot hold the formula {tex}")
        try:
            formulas.append(mathml(tex, display=match["block"] is not None))
        except UnknownCommand as error:
            raise PluginError(f"{name}: {error} in the formula {tex}") from error
        return MARK.format(len(formulas) - 1)

    return PARTS.sub(one, markdown), formulas


def put_back(html: str, formulas: list[str]) -> str:
    """The page with its formulas. One that is a whole paragraph can scroll by itself."""

    def one(match: re.Match) -> str:
        formula = formulas[int(match[2])]
        if match[1] and match[3] and 'display="block"' in formula:
            return f'<div class="formula">{formula}</div>'
        return (match[1] or "") + formula + (match[3] or "")

    return MARKS.sub(one, html)


def on_page_markdown(markdown, page, config, files):
    markdown, page.formulas = take_out(markdown, page.file.src_uri)
    return markdown


def on_page_content(html, page, config, files):
    return put_back(html, page.formulas)
