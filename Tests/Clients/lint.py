#!/usr/bin/env python3
"""The constructs of an OpenAPI document that break generators which cannot be run here, each a rule.

    lint.py CONTRACT ...   prints what it finds, and how many schemas each contract has; status 1 where there is a finding
    lint.py --self-test    each rule finds the fault in a small contract that has it, and none without

A contract is OpenAPI 3.1 or 3.0. The rules are by name in RULES, with the generators that stumble.
"""

import copy
import json
import re
import sys

RULES = {
    "names-by-case": "two members whose names differ in case or separators only (oapi-codegen, openapi-generator)",
    "const": "a constant, which some read as an enumeration and some refuse (openapi-generator, ogen)",
    "default": "a default in a request, which makes the member mandatory (openapi-typescript)",
    "open-with-members": "additional members of a type beside named ones (orval)",
    "required-null": "a required member that may be null (openapi-generator for Java)",
    "union": "oneOf or anyOf other than the two that go by protocol (ogen, openapi-generator, openapi-typescript)",
    "discriminator": "a union without a discriminator that maps every branch, or a branch that may lack it (ogen, orval)",
    "same-enumeration": "two enumerations of the same single value (oapi-codegen)",
    "component-names": "two components whose names differ in case or separators only (oapi-codegen, kiota)",
    "no-type-name": "a component whose name is no name of a type in most languages (all)",
    "generated-names": "a component with a name that generators give to an operation's parts (oapi-codegen, ogen)",
    "built-in-names": "a component with the name of a type that languages or generators have (kiota, openapi-generator)",
    "closed-reply": "a closed object in a reply, which a client of today refuses tomorrow (openapi-generator)",
    "closed-list": "an enumeration in a reply, which a client of today refuses tomorrow (openapi-generator, ogen)",
    "no-default-reply": "an operation, but for pages, without a reply of type Problem for every other status (ogen)",
    "not-described": "an operation, a parameter or a member that no sentence describes (people)",
    "null-enumeration": "an enumeration of a type that may be null, without null (ogen, JSON Schema)",
    "nameless-object": "an object with members inside of another, for which each generator makes up a name (all)",
    "unique-items": "a list without duplicates in a body, which becomes a set that is written as {} (typescript-fetch)",
    "identifiers": "two values of an enumeration that become one identifier (oapi-codegen, openapi-generator)",
    "pattern": "a pattern that RE2 does not know (ogen)",
    "operation-id": "an operation without an id of its own (all)",
    "webhook-tag": "a webhook under a tag of operations, whose class it replaces (openapi-generator)",
    "not-3.0": "a word of 3.1 in 3.0 (progenitor, oapi-codegen, kiota)",
    "unresolved": "a reference to nothing (all)",
}
UNIONS = ("WalletRequest", "SubmitVerificationSession")
BUILT_IN = {
    "any", "api", "apiclient", "apiresponse", "array", "boolean", "body", "client", "configuration", "date", "error",
    "exception", "file", "integer", "interface", "json", "list", "map", "model", "null", "number", "object", "optional",
    "record", "request", "response", "result", "set", "string", "task", "type", "void",
}
GENERATED = (
    "Body", "BadRequest", "Created", "Def", "FormdataBody", "FormdataRequestBody", "JSONBody", "JSONRequestBody", "OK",
    "Operation", "Params", "Req", "Request", "RequestBody", "Res", "ResponseObject", "Responses", "Response",
)
METHODS = ("get", "put", "post", "delete", "patch")


def plain(name):
    return re.sub(r"[^a-z0-9]", "", name.lower())


def types(schema):
    found = schema.get("type", [])
    found = [found] if isinstance(found, str) else list(found)
    return found + (["null"] if schema.get("nullable") else [])


class Contract:
    def __init__(self, document):
        self.document = document
        self.schemas = document.get("components", {}).get("schemas", {})
        self.is_old = document["openapi"].startswith("3.0")
        self.found = []
        self.operations = [
            (f"/paths/{path.replace('/', '~1')}/{method}", operation)
            for path, item in document.get("paths", {}).items()
            for method, operation in item.items()
            if method in METHODS
        ]

    def note(self, rule, place, words=""):
        assert rule in RULES, rule
        self.found.append((rule, place, words))

    def followed(self, schema):
        """What a reference, alone or in an `allOf` of one, refers to."""
        seen = 0
        while seen < 20:
            seen += 1
            if "$ref" in schema:
                schema = self.schemas.get(schema["$ref"].rpartition("/")[2], {})
            elif len(schema.get("allOf", [])) == 1:
                nullable = schema.get("nullable")
                schema = dict(schema["allOf"][0])
                if nullable:
                    schema = {**self.followed(schema), "nullable": True}
            else:
                break
        return schema

    def inside(self, schema, place, is_named=False):
        """The schema and those in it, without following references: each with its place."""
        if not isinstance(schema, dict):
            return
        yield schema, place, is_named
        for name, member in schema.get("properties", {}).items():
            yield from self.inside(member, f"{place}/properties/{name}")
        for word in ("items", "additionalProperties", "not"):
            yield from self.inside(schema.get(word), f"{place}/{word}")
        for word in ("oneOf", "anyOf", "allOf"):
            for index, branch in enumerate(schema.get(word, [])):
                yield from self.inside(branch, f"{place}/{word}/{index}")

    def roots(self, operation, place):
        """The schemas of an operation, by whether the server sends them."""
        for index, parameter in enumerate(operation.get("parameters", [])):
            if "schema" in parameter:
                yield False, parameter["schema"], f"{place}/parameters/{index}/schema"
        for kind, content in operation.get("requestBody", {}).get("content", {}).items():
            yield False, content.get("schema", {}), f"{place}/requestBody/{kind}"
        for status, reply in operation.get("responses", {}).items():
            for kind, content in reply.get("content", {}).items():
                yield True, content.get("schema", {}), f"{place}/responses/{status}/{kind}"

    def reached(self, is_reply):
        """The names of the components that requests or replies lead to."""
        names, waiting = set(), [
            (schema, at)
            for place, operation in self.operations
            for sent, schema, at in self.roots(operation, place)
            if sent == is_reply
        ]
        while waiting:
            for schema, _, _ in self.inside(*waiting.pop()):
                name = schema.get("$ref", "").rpartition("/")[2]
                mapped = schema.get("discriminator", {}).get("mapping", {}).values()
                for name in {name, *(one.rpartition("/")[2] for one in mapped)} - names - {""}:
                    names.add(name)
                    waiting.append((self.schemas.get(name, {}), f"/components/schemas/{name}"))
        return names

    def check(self):
        self.names()
        asked, sent = self.reached(False), self.reached(True)
        places = [
            (schema, f"/components/schemas/{name}", name, name in asked, name in sent)
            for name, schema in self.schemas.items()
        ]
        for place, operation in self.operations:
            self.operation(operation, place)
            for is_reply, schema, at in self.roots(operation, place):
                places.append((schema, at, None, not is_reply, is_reply))
        for root, place, name, is_asked, is_sent in places:
            for schema, at, _ in self.inside(root, place):
                self.schema(schema, at, is_asked, is_sent, is_root=schema is root and name is not None)
                if ("oneOf" in schema or "anyOf" in schema) and not (schema is root and name in UNIONS):
                    self.note("union", at)
        return self.found

    def names(self):
        """The rules on components' names and on enumerations that are one value."""
        seen, singles = {}, {}
        generated = {
            plain(operation.get("operationId", "") + ending) for _, operation in self.operations for ending in GENERATED
        }
        for name, schema in self.schemas.items():
            place = f"/components/schemas/{name}"
            if plain(name) in seen:
                self.note("component-names", place, seen[plain(name)])
            seen[plain(name)] = name
            if not re.fullmatch(r"[A-Z][A-Za-z0-9]*", name):
                self.note("no-type-name", place)
            if plain(name) in generated:
                self.note("generated-names", place)
            if plain(name) in BUILT_IN:
                self.note("built-in-names", place)
            for part, at, _ in self.inside(schema, place):
                values = [value for value in part.get("enum", []) if value is not None]
                if len(values) == 1:
                    if values[0] in singles:
                        self.note("same-enumeration", at, singles[values[0]])
                    singles[values[0]] = at
        tags = {tag for _, operation in self.operations for tag in operation.get("tags", [])}
        for name, item in self.document.get("webhooks", {}).items():
            for operation in item.values():
                if tags.intersection(operation.get("tags", [])):
                    self.note("webhook-tag", f"/webhooks/{name}")
        ids = [operation.get("operationId") for _, operation in self.operations]
        for (place, _), one in zip(self.operations, ids):
            if not one or ids.count(one) > 1:
                self.note("operation-id", place)

    def operation(self, operation, place):
        reply = operation.get("responses", {}).get("default", {})
        schemas = [content.get("schema", {}) for content in reply.get("content", {}).values()]
        media = {name for one in operation["responses"].values() for name in one.get("content", {})}
        is_page = bool(reply) and all(name.startswith("text/html") for name in media)
        if not is_page and not any(schema.get("$ref", "").endswith("/Problem") for schema in schemas):
            self.note("no-default-reply", place)
        if not operation.get("summary") or not operation.get("description"):
            self.note("not-described", place)
        for index, parameter in enumerate(operation.get("parameters", [])):
            if "$ref" not in parameter and not parameter.get("description"):
                self.note("not-described", f"{place}/parameters/{index}", parameter.get("name", ""))

    def schema(self, schema, at, is_asked, is_sent, is_root):
        members = schema.get("properties", {})
        names = [plain(name) for name in members]
        for name in members:
            if names.count(plain(name)) > 1:
                self.note("names-by-case", at, name)
            if not members[name].get("description") and not self.followed(members[name]).get("description"):
                self.note("not-described", f"{at}/properties/{name}")
        if "$ref" in schema and schema["$ref"].rpartition("/")[2] not in self.schemas:
            self.note("unresolved", at, schema["$ref"])
        if "const" in schema:
            self.note("const", at)
        if "default" in schema and is_asked:
            self.note("default", at)
        if members and schema.get("additionalProperties", False) is not False:
            self.note("open-with-members", at)
        for name in schema.get("required", []):
            member = members.get(name, {})
            if "null" in types(member) or "null" in types(self.followed(member)):
                self.note("required-null", f"{at}/properties/{name}")
        if "oneOf" in schema:
            self.discriminator(schema, at)
        if is_sent and not is_asked:
            if schema.get("additionalProperties") is False:
                self.note("closed-reply", at)
            if "enum" in schema:
                self.note("closed-list", at)
        values = schema.get("enum")
        if values is not None:
            if "null" in types(schema) and None not in values:
                self.note("null-enumeration", at)
            texts = [plain(str(value)) for value in values if value is not None]
            if len(set(texts)) < len(texts):
                self.note("identifiers", at, ", ".join(sorted({one for one in texts if texts.count(one) > 1})))
        if members and not is_root:
            self.note("nameless-object", at)
        if schema.get("uniqueItems") and is_asked and "/parameters/" not in at:
            self.note("unique-items", at)
        if re.search(r"\(\?[=!<]|\\[1-9]", schema.get("pattern", "")):
            self.note("pattern", at)
        if self.is_old:
            self.old(schema, at)

    def discriminator(self, schema, at):
        discriminator = schema.get("discriminator", {})
        mapped = set(discriminator.get("mapping", {}).values())
        branches = {branch.get("$ref") for branch in schema["oneOf"]}
        if not discriminator or mapped != branches:
            self.note("discriminator", at, "the mapping and the branches differ")
        for branch in schema["oneOf"]:
            if discriminator.get("propertyName") not in self.followed(branch).get("required", []):
                self.note("discriminator", at, str(branch.get("$ref")))

    def old(self, schema, at):
        words = {"const", "examples", "contentEncoding", "contentMediaType", "$defs", "prefixItems"} & schema.keys()
        if isinstance(schema.get("type"), list) or schema.get("type") == "null":
            words.add("type")
        if "$ref" in schema and len(schema) > 1:
            words.add("beside $ref")
        for word in ("exclusiveMinimum", "exclusiveMaximum"):
            if not isinstance(schema.get(word, False), bool):
                words.add(word)
        if words:
            self.note("not-3.0", at, ", ".join(sorted(words)))


def checked(document):
    contract = Contract(document)
    found = contract.check()
    if contract.is_old and "webhooks" in document:
        found.append(("not-3.0", "/webhooks", ""))
    return found


# The self-test: a contract without a fault, and by rule how it gets that fault.

SOUND = {
    "openapi": "3.1.0",
    "paths": {
        "/things": {
            "post": {
                "operationId": "createThing",
                "tags": ["Things"],
                "summary": "Create a thing",
                "description": "Creates a thing.",
                "parameters": [{"name": "Key", "in": "header", "description": "A key.", "schema": {"type": "string"}}],
                "requestBody": {"content": {"application/json": {"schema": {"$ref": "#/components/schemas/Thing"}}}},
                "responses": {
                    "200": {"content": {"application/json": {"schema": {"$ref": "#/components/schemas/Made"}}}},
                    "default": {
                        "content": {"application/problem+json": {"schema": {"$ref": "#/components/schemas/Problem"}}}
                    },
                },
            }
        }
    },
    "components": {
        "schemas": {
            "Thing": {
                "type": "object",
                "properties": {
                    "name": {"type": ["string", "null"], "description": "Its name.", "pattern": "^[a-z]+$"},
                    "kind": {"type": "string", "enum": ["a", "b"], "description": "Its kind."},
                    "parts": {"type": "array", "items": {"type": "string"}, "description": "Its parts."},
                },
                "required": ["kind"],
                "additionalProperties": False,
            },
            "Made": {
                "type": "object",
                "properties": {
                    "request": {"$ref": "#/components/schemas/WalletRequest", "description": "A request."},
                    "status": {"type": "string", "x-extensible-enum": ["new"], "description": "Its status."},
                    "ended": {"type": ["integer", "null"], "description": "Its end."},
                },
                "required": ["request"],
            },
            "Problem": {"type": "object", "properties": {"code": {"type": "string", "description": "A code."}}},
            "WalletRequest": {
                "oneOf": [{"$ref": "#/components/schemas/One"}],
                "discriminator": {"propertyName": "protocol", "mapping": {"one": "#/components/schemas/One"}},
            },
            "One": {
                "type": "object",
                "properties": {"protocol": {"type": "string", "description": "A protocol."}},
                "required": ["protocol"],
            },
        }
    },
}


def faults():
    """By rule: what makes the sound contract break it."""

    def thing(document):
        return document["components"]["schemas"]["Thing"]

    def made(document):
        return document["components"]["schemas"]["Made"]

    def operation(document):
        return document["paths"]["/things"]["post"]

    def schema(name, value):
        return lambda document: document["components"]["schemas"].update({name: value})

    def member(name, of=thing, **words):
        return lambda document: of(document)["properties"].update({name: {"description": "It.", **words}})

    text = {"type": "string", "description": "It."}
    yield "names-by-case", member("Name", type="string")
    yield "const", member("is_new", type="boolean", const=True)
    yield "default", member("size", type="integer", default=1)
    yield "open-with-members", lambda document: thing(document).update(additionalProperties={"type": "string"})
    yield "required-null", lambda document: thing(document).update(required=["name"])
    yield "union", member("size", anyOf=[{"type": "integer"}, {"type": "string"}])
    yield "discriminator", lambda document: document["components"]["schemas"]["WalletRequest"].pop("discriminator")
    yield "discriminator", lambda document: document["components"]["schemas"]["One"].pop("required")
    yield "same-enumeration", lambda document: thing(document)["properties"].update(
        x={**text, "enum": ["one"]}, y={**text, "enum": ["one"]})
    yield "component-names", schema("MADE", {"type": "string"})
    yield "no-type-name", schema("The request failed", {"type": "string"})
    yield "generated-names", schema("CreateThingResponse", {"type": "string"})
    yield "built-in-names", schema("Response", {"type": "string"})
    yield "closed-reply", lambda document: made(document).update(additionalProperties=False)
    yield "closed-list", member("state", made, type="string", enum=["new", "old"])
    yield "no-default-reply", lambda document: operation(document)["responses"].pop("default")
    yield "not-described", lambda document: operation(document).pop("description")
    yield "not-described", lambda document: operation(document)["parameters"][0].pop("description")
    yield "not-described", lambda document: made(document)["properties"]["status"].pop("description")
    yield "null-enumeration", member("mood", type=["string", "null"], enum=["good", "bad"])
    yield "nameless-object", member("size", type="object", properties={"width": {**text}})
    yield "unique-items", member("tags", type="array", items={"type": "string"}, uniqueItems=True)
    yield "identifiers", member("mood", type="string", enum=["good-one", "good_one"])
    yield "pattern", member("mood", type="string", pattern="^(?!x)")
    yield "webhook-tag", lambda document: document.update(webhooks={"made": {"post": {"tags": ["Things"]}}})
    yield "operation-id", lambda document: operation(document).pop("operationId")
    yield "not-3.0", lambda document: document.update(openapi="3.0.3")
    yield "unresolved", member("size", **{"$ref": "#/components/schemas/Size"})


def self_test():
    assert checked(SOUND) == [], checked(SOUND)
    tried = set()
    for rule, broken in faults():
        document = copy.deepcopy(SOUND)
        broken(document)
        found = {one for one, _, _ in checked(document)}
        assert found == {rule}, (rule, found)
        tried.add(rule)
    assert tried == RULES.keys(), RULES.keys() - tried
    print(f"{len(RULES)} rules, each of which finds what breaks it")


def main(arguments):
    if arguments == ["--self-test"]:
        return self_test()
    if not arguments:
        sys.exit(__doc__)
    status = 0
    for path in arguments:
        with open(path, encoding="utf-8") as file:
            document = json.load(file)
        found = checked(document)
        for rule, place, words in found:
            print(f"{path}: {rule}: {place} {words}".rstrip())
        for rule in sorted({rule for rule, _, _ in found}):
            print(f"{rule} ({sum(one == rule for one, _, _ in found)}): {RULES[rule]}")
        count = len(document.get("components", {}).get("schemas", {}))
        print(f"{path}: OpenAPI {document['openapi']}, {count} schemas, {len(found)} findings")
        status = status or bool(found)
    sys.exit(status)


main(sys.argv[1:])
