"""What a page of HTML consists of, as far as tests ask."""

from html.parser import HTMLParser

VOID = {"br", "hr", "img", "input", "link", "meta", "path", "wbr"}


class Page(HTMLParser):
    """Collect elements with their attributes, and texts with the element that holds them."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.text = text
        self.elements: list[tuple[str, dict[str, str]]] = []
        self.open: list[str] = []  # not closed yet, or "/tag" where one is closed that was not open
        self.texts: list[tuple[str, str]] = []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, {key: value or "" for key, value in attrs}))
        self.open += [tag] * (tag not in VOID)

    def handle_endtag(self, tag: str) -> None:
        if self.open[-1:] == [tag]:
            self.open.pop()
        else:
            self.open += [f"/{tag}"] * (tag not in VOID)

    def handle_data(self, data: str) -> None:
        self.texts.append((self.open[-1] if self.open else "", data))

    def all(self, *tags: str) -> list[dict[str, str]]:
        """Return the attributes of all elements with these tags."""
        return [attributes for tag, attributes in self.elements if tag in tags]

    @property
    def words(self) -> str:
        """All text of the page."""
        return "".join(text for _, text in self.texts)
