"""shim.py: the modules of IPython that code imports, where there is no IPython. What is not here cannot be imported, so that its asker looks elsewhere."""

import os
import sys

VERSION = (8, 0, 0)
TEXTS = (
    ("HTML", "text/html"), ("Markdown", "text/markdown"), ("Latex", "text/latex"), ("Math", "text/latex"), ("SVG", "image/svg+xml"),
    ("JSON", "application/json"), ("GeoJSON", "application/geo+json"), ("Javascript", "application/javascript"), ("Pretty", "text/plain"),
)
DISPLAY = ("IPython.display", "IPython.core.display", "IPython.core.display_functions", "IPython.lib.display")
PACKAGES = ("IPython", "IPython.core", "IPython.lib")
MODULES = PACKAGES + DISPLAY + ("IPython.core.getipython", "IPython.core.magic", "IPython.core.interactiveshell", "IPython.core.error")


class Shown:
    """Something with a MIME type."""

    mime = "text/plain"

    def __init__(self, data=None, url=None, filename=None, metadata=None, **options):
        if data is not None and isinstance(data, os.PathLike):
            data, filename = None, data
        if isinstance(data, str) and self.is_path(data):
            data, filename = None, data
        if isinstance(data, str) and data.startswith(("http://", "https://")) and url is None and len(data.split()) == 1:
            data, url = None, data
        self.data, self.url, self.filename, self.metadata, self.options = data, url, filename, metadata, options
        self.reload()

    def is_path(self, text):
        return False

    def reload(self):
        if self.filename is not None:
            with open(self.filename, "rb") as source:
                self.data = self.decoded(source.read())
        elif self.url is not None and self.data is None:
            import urllib.request
            with urllib.request.urlopen(self.url) as source:
                self.data = self.decoded(source.read())

    def decoded(self, data):
        return data.decode("utf-8", "replace")

    def __repr__(self):
        return "<IPython.core.display.%s object>" % type(self).__name__

    def _repr_mimebundle_(self, include=None, exclude=None):
        return {self.mime: self.content(), "text/plain": repr(self)}

    def content(self):
        return self.data


class Math(Shown):
    def content(self):
        return "$\\displaystyle %s$" % self.data.strip("$")


class JSON(Shown):
    def decoded(self, data):
        import json
        return json.loads(data)

    def __init__(self, data=None, *args, **options):
        if isinstance(data, str) and data.lstrip()[:1] in ("{", "["):
            data = self.decoded(data)
        super().__init__(data, *args, **options)


class Pretty(Shown):
    def _repr_mimebundle_(self, include=None, exclude=None):
        return {self.mime: self.data}


class Image(Shown):
    _signatures = ((b"\xff\xd8", "image/jpeg"), (b"\x89PNG", "image/png"), (b"GIF8", "image/gif"), (b"RIFF", "image/webp"))

    def __init__(self, data=None, url=None, filename=None, format=None, embed=None, width=None, height=None, **options):
        self.embed = embed if embed is not None else url is None and not (isinstance(data, str) and data.startswith(("http://", "https://")))
        self.size = "".join(' %s="%s"' % (name, value) for name, value in (("width", width), ("height", height)) if value)
        super().__init__(data, url, filename, **options)

    def is_path(self, text):
        return not text.startswith(("http://", "https://", "data:"))

    def reload(self):
        if self.embed:
            super().reload()

    def decoded(self, data):
        return data

    def _repr_mimebundle_(self, include=None, exclude=None):
        if not self.embed:
            return {"text/html": '<img src="%s"%s/>' % (self.url, self.size), "text/plain": repr(self)}
        data = bytes(self.data or b"")
        mime = next((mime for begin, mime in self._signatures if data.startswith(begin)), "image/png")
        return {mime: data, "text/plain": repr(self)}


class IFrame:
    iframe = '<iframe width="{width}" height="{height}" src="{src}{params}" frameborder="0" allowfullscreen {extras}></iframe>'

    def __init__(self, src, width, height, extras=None, **params):
        self.src, self.width, self.height, self.extras, self.params = src, width, height, extras or [], params

    def __repr__(self):
        return "<IPython.lib.display.%s at 0x%x>" % (type(self).__name__, id(self))

    def _repr_html_(self):
        from urllib.parse import urlencode
        params = "?" + urlencode(self.params) if self.params else ""
        return "\n        %s\n        " % self.iframe.format(src=self.src, width=self.width, height=self.height, params=params, extras=" ".join(self.extras))


class Played(Shown):
    """Sound or moving pictures: an element of HTML, with the data in it unless it has an address."""

    element, kind = "audio", "audio/wav"

    def is_path(self, text):
        return not text.startswith(("http://", "https://", "data:"))

    def reload(self):
        if self.url is None:
            super().reload()

    def decoded(self, data):
        return data

    def _repr_mimebundle_(self, include=None, exclude=None):
        import base64
        import mimetypes
        kind = mimetypes.guess_type(str(self.filename or self.url))[0] or self.kind
        source = self.url or "data:%s;base64,%s" % (kind, base64.b64encode(bytes(self.data)).decode())
        html = '<%s controls="controls"><source src="%s" type="%s" /></%s>' % (self.element, source, kind, self.element)
        return {"text/html": html, "text/plain": repr(self)}


class Audio(Played):
    pass


class Video(Played):
    element, kind = "video", "video/mp4"


class YouTubeVideo(IFrame):
    def __init__(self, id, width=400, height=300, **options):
        super().__init__("https://www.youtube.com/embed/" + id, width, height, **options)


class FileLink:
    def __init__(self, path, **_):
        self.path = str(path)

    def __repr__(self):
        return os.path.abspath(self.path)

    def _repr_html_(self):
        return "<a href='%s' target='_blank'>%s</a><br>" % (self.path, self.path)


class DisplayHandle:
    def __init__(self, show, display_id=None):
        self.show, self.display_id = show, display_id or os.urandom(16).hex()

    def display(self, value, **options):
        self.show(value, display_id=self.display_id, **options)

    def update(self, value, **options):
        """There is nothing here that could be changed after it was told."""


def publisher(driver, mime):
    def publish(*values, raw=False, metadata=None, **_):
        for value in values:
            driver.display({mime: value} if raw else value, raw=raw)
    return publish


def fill_display(module, driver):
    kinds = {"Math": Math, "JSON": JSON, "Pretty": Pretty}
    for name, mime in TEXTS:
        setattr(module, name, type(name, (kinds.get(name, Shown),), {"mime": mime}))
    for kind in (Image, IFrame, Audio, Video, YouTubeVideo, FileLink, DisplayHandle):
        setattr(module, kind.__name__, kind)
    module.DisplayObject = module.TextDisplayObject = Shown
    module.clear_output = lambda wait=False: None
    module.update_display = lambda value, *, display_id, **_: None
    module.publish_display_data = lambda data, metadata=None, **_: driver.display(data, raw=True)
    for name, mime in TEXTS:
        setattr(module, "display_" + name.lower(), publisher(driver, mime))


def fill_magic(module, driver):
    def register(kind):
        def decorator(given):
            def put(function):
                driver.get_ipython().register_magic_function(function, kind, given if isinstance(given, str) else None)
                return function
            return put if isinstance(given, str) else put(given)
        return decorator
    for kind in ("line", "cell", "line_cell"):
        setattr(module, "register_%s_magic" % kind, register(kind))
    module.needs_local_scope = module.no_var_expand = lambda function: function


def fill(module, driver):
    name = module.__name__
    module.display, module.get_ipython = driver.display, driver.get_ipython
    if name == "IPython":
        module.__version__, module.version_info = "%d.%d.%d+cove" % VERSION, (*VERSION, "")
        module.InteractiveShell = type(driver.get_ipython())
    elif name == "IPython.core.interactiveshell":
        module.InteractiveShell = type(driver.get_ipython())
    elif name == "IPython.core.magic":
        fill_magic(module, driver)
    elif name == "IPython.core.error":
        module.UsageError = need("magics").UsageError
    elif name in DISPLAY:
        first = sys.modules.get(DISPLAY[0])
        if first and first is not module and hasattr(first, "HTML"):
            module.__dict__.update({k: v for k, v in vars(first).items() if not k.startswith("__")})
        else:
            fill_display(module, driver)
