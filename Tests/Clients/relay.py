#!/usr/bin/env python3
"""Stands between the generated clients and a server in test mode.

    relay.py FOLDER      serves on a free port of loopback, and prints its address

FOLDER/upstream holds the server's address and FOLDER/contract.json its contract, before the first request.

- `/…` goes to the server. Each JSON reply whose schema has a name is kept as FOLDER/replies/N-NAME.json.
- `/later/…` goes to the server too. The reply comes as a later version may write it: every object whose members the
  contract names has one member more, and every text with known values has a value that the contract does not know.
- `POST /hooks` keeps a webhook as FOLDER/hooks/N: a line for each header, an empty line, the body.
"""

import http.client
import itertools
import json
import os
import re
import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import urlsplit

MEMBER, VALUE = "later_member", "later_value"
FOLDER = Path(sys.argv[1])
numbers = itertools.count(1)


def contract():
    return json.loads((FOLDER / "contract.json").read_text(encoding="utf-8"))


def resolved(schema, document):
    while "$ref" in schema:
        schema = document["components"]["schemas"][schema["$ref"].rpartition("/")[2]]
    return schema


def reply_schema(document, method, path, status):
    """The schema of a reply in JSON; nil for a path or a status that the contract does not have."""
    for template, item in document["paths"].items():
        pattern = re.sub(r"\\\{[^}]*\\\}", "[^/]+", re.escape(template))
        if re.fullmatch(pattern, path) and method.lower() in item:
            replies = item[method.lower()]["responses"]
            reply = replies.get(str(status), replies.get("default", {}))
            for content in reply.get("content", {}).values():
                return content.get("schema")
    return None


def later(value, schema, document):
    """The value as a later version of the server may write it."""
    schema = resolved(schema, document)
    if isinstance(value, dict):
        if "oneOf" in schema:
            name = value.get(schema["discriminator"]["propertyName"])
            return later(value, {"$ref": schema["discriminator"]["mapping"][name]}, document)
        members = schema.get("properties", {})
        changed = {name: later(member, members.get(name, {}), document) for name, member in value.items()}
        return {**changed, MEMBER: {"of": "tomorrow"}} if members else changed
    if isinstance(value, list):
        return [later(element, schema.get("items", {}), document) for element in value]
    return VALUE if isinstance(value, str) and "x-extensible-enum" in schema else value


def kept(folder, name, content):
    """Written in one step, so that nobody reads half of it."""
    hidden = FOLDER / f".{name}"
    hidden.write_bytes(content)
    os.replace(hidden, FOLDER / folder / name)


class Relay(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *arguments):
        pass

    def answer(self, status, headers, body):
        self.send_response_only(status)
        for name, value in headers:
            if name.lower() not in ("content-length", "connection", "transfer-encoding"):
                self.send_header(name, value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def relay(self):
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        if self.path == "/hooks":
            head = "".join(f"{name}: {value}\n" for name, value in self.headers.items())
            kept("hooks", str(next(numbers)), head.encode() + b"\n" + body)
            return self.answer(204, [], b"")
        is_later = self.path.startswith("/later/")
        path = self.path.removeprefix("/later") if is_later else self.path
        upstream = http.client.HTTPConnection((FOLDER / "upstream").read_text().strip().removeprefix("http://"))
        names = ("authorization", "content-type", "idempotency-key", "accept")
        headers = {name: value for name, value in self.headers.items() if name.lower() in names}
        upstream.request(self.command, path, body or None, headers)
        reply = upstream.getresponse()
        content = reply.read()
        document = contract()
        schema = reply_schema(document, self.command, urlsplit(path).path, reply.status)
        if schema and "json" in reply.getheader("Content-Type", ""):
            if is_later:
                content = json.dumps(later(json.loads(content), schema, document)).encode()
            if "$ref" in schema:
                kept("replies", f"{next(numbers)}-{schema['$ref'].rpartition('/')[2]}.json", content)
        return self.answer(reply.status, reply.getheaders(), content)

    do_GET = do_POST = relay


for folder in ("hooks", "replies"):
    (FOLDER / folder).mkdir(exist_ok=True)
server = ThreadingHTTPServer(("127.0.0.1", 0), Relay)
print(f"http://127.0.0.1:{server.server_port}", flush=True)
server.serve_forever()
