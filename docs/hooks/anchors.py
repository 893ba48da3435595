"""Headings get the anchors that the repository's own links use, so that one link works in both places."""


def anchor(heading: str, separator: str = "-") -> str:
    """The rule of `links_between_documents_lead_somewhere`: letters, digits and hyphens, spaces as separators."""
    kept = "".join(c for c in heading.lower() if c.isalnum() or c in " -")
    return kept.strip().replace(" ", separator)


def on_config(config):
    config.mdx_configs.setdefault("toc", {})["slugify"] = anchor
    return config
