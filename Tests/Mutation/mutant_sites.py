"""Where the verifier checks something, and the source in which each check can be removed.

A `Site` is one place in the code. `File` finds those of a file, and `instrumented` writes them into it: the check that
has the number of MDOC_MUTANT passes, whatever it finds. What it looks at is still evaluated.
"""

import dataclasses
import re

import tree_sitter_swift
from tree_sitter import Language, Parser

PARSER = Parser(Language(tree_sitter_swift.language()))

# What notes an outcome, in a CheckList or in the findings of a list.
NOTES = {"failed", "warned"}
LISTS = ("checks", "responseChecks")
# What collects deviations that a check is then made of.
COLLECTED = {"found", "missing", "wrong", "slips", "uncovered"}
# What refuses, beside `throw`.
REFUSING = re.compile(
    r"\bchecks\.(?!checks)|\bfindings\.note\b|\.undetermined\(|\breturn \"the address|\b(stop|unusable|refused?)\(")

# Expressions that are made of others by operators.
OPERATORS = {
    "additive_expression", "bitwise_operation", "comparison_expression", "conjunction_expression",
    "disjunction_expression", "equality_expression", "infix_expression", "multiplicative_expression",
    "nil_coalescing_expression", "prefix_expression", "range_expression", "ternary_expression", "try_expression",
}


@dataclasses.dataclass
class Site:
    """One check that can be removed, or, if `number` is nil, a reading: code that can't go on without its value."""

    module: str
    file: str
    line: int
    kind: str
    place: str
    snippet: str
    number: int | None = None
    ordinal: int = 1

    @property
    def name(self) -> str:
        again = f" ~{self.ordinal}" if self.ordinal > 1 else ""
        return f"{self.file} {self.place}: {self.kind} {self.snippet}{again}"


def parts(source: bytes, start: int, end: int):
    """The places of what `&&` joins between two bytes: of each alternative where `||` joins them, or of a ternary's
    condition. Nothing where there is no `&&`."""
    cuts, depth, at, text = [], 0, start, False
    while at < end:
        byte = source[at : at + 1]
        if byte == b'"':
            text = not text
        elif not text and byte in b"([{":
            depth += 1
        elif not text and byte in b")]}":
            depth -= 1
        elif not text and depth == 0:
            if source[at : at + 2] in (b"&&", b"||"):
                cuts.append((at, source[at : at + 2]))
                at += 1
            elif source[at : at + 3] == b" ? ":
                end = at
                break
        at += 1
    edges = [start] + [at + 2 for at, _ in cuts]
    ends = [at for at, _ in cuts] + [end]
    joined = {at for at, operator in cuts if operator == b"&&"}
    for begin, until in zip(edges, ends):
        if begin - 2 in joined or until in joined:
            text = source[begin:until]
            yield begin + len(text) - len(text.lstrip()), until - len(text) + len(text.rstrip())


class File:
    """The sites of one file, in the order in which they stand there."""

    def __init__(self, module: str, name: str, source: bytes):
        self.module, self.name, self.source = module, name, source
        self.sites: list[Site] = []
        # Each edit is put in at a byte: (place, order among those at one place, text with "#" for the number, site).
        self.edits: list[tuple[int, int, int, str, Site]] = []
        self.claimed: set[tuple[int, int]] = set()
        root = PARSER.parse(source).root_node
        self._walk(root, self._checks)
        self._walk(root, self._facts)
        self.sites.sort(key=lambda site: site.line)
        seen: dict[str, int] = {}
        for site in self.sites:
            seen[site.name] = site.ordinal = seen.get(site.name, 0) + 1

    # What is found.

    def _walk(self, node, visit):
        visit(node)
        for child in node.children:
            self._walk(child, visit)

    def _checks(self, node):
        match node.type:
            case "call_expression":
                self._call(node)
            case "guard_statement":
                self._guard(node)
            case "if_statement":
                self._if(node)
            case "switch_statement":
                self._switch(node)
            case "control_transfer_statement" if self._text(node).startswith("throw"):
                self._throw(node)
            case "array_literal":
                self._array(node)
            case "ternary_expression":
                self._ternary(node)

    def _call(self, node):
        target, arguments = self._callee(node), self._arguments(node)
        name = target.rsplit(".", 1)[-1]
        on = target.rpartition(".")[0]
        first = arguments[0] if arguments else None
        faults = next((one for one in arguments if self._text(one).startswith("without:")), None)
        if name == "require" and faults:
            # A code that holds without faults, which are a text.
            value = faults.child_by_field_name("value") or faults
            self._wrap("check", value, '(Mutant.isOn(#) ? "" : ', ")", self._text(node))
        elif name in ("require", "expect") and first and not self._label(first):
            if on in LISTS or on == "":
                self._require(node, first)
        elif name in NOTES and on in LISTS and first:
            self._insert("failure", node, first.start_byte, "mutant: #, ", self._text(node))
        elif target == "ProfileRule" and first:
            self._insert("rule", node, first.start_byte, "mutant: #, ", self._text(first))
        elif target == "Check" and len(arguments) > 1 and self._text(arguments[1]) not in (".passed", ".notRun"):
            value = arguments[1]
            if not self._label(value):
                self._wrap("failure", value, "(Mutant.isOn(#) ? .passed : ", ")", self._text(node))
        elif target == "checks.note":
            self._verdicts(node, arguments)
        elif node.parent.type == "statements" and (
            (name == "append" and on in LISTS)
            or (name == "append" and on in COLLECTED and first and self._string(first))
            or (name == "note" and on.endswith("findings"))
        ):
            kind = "appended" if on in LISTS else "deviation"
            self._wrap(kind, node, "if !Mutant.isOn(#) { ", " }", self._text(node))

    def _require(self, call, first):
        condition = first.child_by_field_name("value") or first
        self._wrap("check", condition, "((", ") || Mutant.isOn(#))", self._text(call))
        if condition.type == "simple_identifier":
            value = self._declaration(call, self._text(condition))
            if value is not None and (value.start_byte, value.end_byte) not in self.claimed:
                self.claimed.add((value.start_byte, value.end_byte))
                self._wrap("check", value, "((", ") || Mutant.isOn(#))", f"let {self._text(condition)}")
                self._conjuncts(value)
        self._conjuncts(condition)

    def _conjuncts(self, node, kind="part"):
        """What is joined by `&&`, each by itself. The grammar does not know that `==` binds stronger, so we split."""
        for start, end in parts(self.source, node.start_byte, node.end_byte):
            if (start, end) not in self.claimed:
                self._wrap_bytes(kind, node, start, end, "((", ") || Mutant.isOn(#))", self._bytes(start, end))

    def _verdicts(self, node, arguments):
        verdict, pairs = arguments[0], arguments[1].child_by_field_name("value")
        removed = []
        for pair in pairs.named_children:
            failure = self._text(pair.named_children[0])
            site = self._site("failure", pair, f"checks.note({self._text(pair)})")
            removed.append((failure, site))
        start = verdict.start_byte
        self.edits.append((start, 0, 0, "Mutant.verdict(", None))
        text = ", [" + ", ".join(f"(#{index}, {failure})" for index, (failure, _) in enumerate(removed))
        self.edits.append((verdict.end_byte, 0, 0, text + "], good: .valid)", [site for _, site in removed]))

    def _guard(self, node):
        otherwise = self._otherwise(node)
        if self._throws(otherwise) or REFUSING.search(self._text(otherwise)):
            kind = "refusal"
        elif re.fullmatch(r"return (nil|false)", self._text(otherwise)):
            kind = "fact"
        else:
            return
        for clause, is_binding in self._clauses(node):
            if is_binding:
                if kind == "refusal":
                    self._site("reading", node, self._span(clause), numbered=False)
                continue
            self._wrap_span(kind, clause, "((", ") || Mutant.isOn(#))", f"guard {self._span(clause)}")

    def _if(self, node):
        body = next((child for child in node.children if child.type == "statements"), None)
        if body is None:
            return
        text = self._text(body)
        kind = "refusal" if self._throws(body) else "fact" if re.fullmatch(r"return (nil|false|\.\w+)", text) else None
        if kind is None:
            return
        clause, _ = self._clauses(node)[-1]
        snippet = "if " + ", ".join(self._span(one) for one, _ in self._clauses(node))
        self._insert(kind, node, clause[-1].end_byte, ", !Mutant.isOn(#)", snippet)

    def _switch(self, node):
        entries = [child for child in node.children if child.type == "switch_entry"]
        has_default = any(self._text(entry).startswith("default") for entry in entries)
        thrown = [entry for entry in entries if self._throws(self._body(entry))]
        for entry in thrown:
            body, is_default = self._body(entry), self._text(entry).startswith("default")
            snippet = self._text(entry)
            leave = all(re.match("throw|return", self._text(self._body(one).named_children[-1])) for one in entries)
            if is_default or not has_default and (leave or len(body.named_children) > 1):
                self._site("reading", entry, snippet, numbered=False)
            elif has_default:
                patterns = [child for child in entry.children if child.type == "switch_pattern"]
                self._insert("refusal", entry, patterns[-1].end_byte, " where !Mutant.isOn(#)", snippet)
            else:
                self._wrap("refusal", body.named_children[0], "if !Mutant.isOn(#) { ", " }", snippet)

    def _throw(self, node):
        """A throw that no condition of ours leads to: an error that is passed on, or a value that is missing."""
        parent = node.parent
        if len(parent.named_children) and parent.named_children[-1] == node and parent.type == "statements":
            if parent.parent.type in ("guard_statement", "if_statement", "switch_entry"):
                return
        self._site("reading", node, self._text(node), numbered=False)

    def _array(self, node):
        """Deviations as texts, and rules as tuples with a Bool."""
        first = node.named_children[0] if node.named_children else None
        if first is None:
            return
        if first.type == "line_string_literal":
            if "ProfileRules" in self.name or self._text(node) == '["ski"]':
                self._wrap("deviation", node, "(Mutant.isOn(#) ? [] : ", ")", self._text(node))
        elif first.type == "tuple_expression" and node.parent.type == "property_declaration":
            kinds = self._tuple(node.parent)
            if "Bool" in kinds:
                for item in node.named_children:
                    value = item.children_by_field_name("value")[kinds.index("Bool")]
                    self._wrap("deviation", value, "((", ") || Mutant.isOn(#))", self._text(item))

    def _ternary(self, node):
        yes, no = node.child_by_field_name("if_true"), node.child_by_field_name("if_false")
        if yes is not None and no is not None and self._text(yes) in ("nil", ".good"):
            if self._text(no).startswith((".undetermined(", ".revoked(")):
                condition = node.child_by_field_name("condition")
                self._wrap("refusal", condition, "((", ") || Mutant.isOn(#))", self._text(node))

    def _facts(self, node):
        if node.type == "conjunction_expression":
            while node.parent.type in OPERATORS or self._is_callee(node):
                node = node.parent
            self._conjuncts(node, "fact")

    # How sites are written into the source.

    def _site(self, kind, node, snippet, numbered=True) -> Site:
        text = " ".join(snippet.split())
        site = Site(
            self.module, self.name, node.start_point[0] + 1, kind, self._place(node), text[:110],
            0 if numbered else None)
        self.sites.append(site)
        return site

    def _insert(self, kind, node, at, text, snippet):
        self.edits.append((at, 0, 0, text, self._site(kind, node, snippet)))

    def _wrap(self, kind, node, before, after, snippet):
        self._wrap_span(kind, [node], before, after, snippet)

    def _wrap_span(self, kind, nodes, before, after, snippet):
        self._wrap_bytes(kind, nodes[0], nodes[0].start_byte, nodes[-1].end_byte, before, after, snippet)

    def _wrap_bytes(self, kind, node, start, end, before, after, snippet):
        self.claimed.add((start, end))
        site = self._site(kind, node, snippet)
        self.edits.append((start, 1, -(end - start), before, site))
        self.edits.append((end, -1, end - start, after, site))

    def instrumented(self) -> bytes:
        parts, position = [], 0
        for at, _, _, text, site in sorted(self.edits, key=lambda edit: edit[:3]):
            parts.append(self.source[position:at])
            if isinstance(site, list):
                for index, one in enumerate(site):
                    text = text.replace(f"#{index}", str(one.number))
            elif site is not None:
                text = text.replace("#", str(site.number))
            parts.append(text.encode())
            position = at
        text = b"".join(parts) + self.source[position:]
        if self.edits and not re.search(rb"^import Base$", text, re.M):
            text = b"import Base\n" + text
        return text

    # Reading the tree.

    def _text(self, node) -> str:
        return node.text.decode() if node is not None else ""

    def _bytes(self, start, end) -> str:
        return self.source[start:end].decode()

    def _span(self, nodes) -> str:
        return self._bytes(nodes[0].start_byte, nodes[-1].end_byte)

    def _callee(self, node) -> str:
        return self._text(node.children[0])

    def _is_callee(self, node) -> bool:
        """Whether the grammar takes it for what is called: so it does where a trailing closure follows an operator."""
        return node.parent.type == "call_expression" and node == node.parent.children[0]

    def _arguments(self, node):
        suffix = next((child for child in node.children if child.type == "call_suffix"), None)
        values = suffix and next((child for child in suffix.children if child.type == "value_arguments"), None)
        return [child for child in values.children if child.type == "value_argument"] if values else []

    def _label(self, argument) -> bool:
        return argument.child_by_field_name("name") is not None

    def _string(self, argument) -> bool:
        value = argument.child_by_field_name("value")
        return value is not None and value.type == "line_string_literal"

    def _clauses(self, node):
        """The clauses of a guard or an if, each as its nodes and whether it binds a value."""
        clauses, clause = [], []
        for child in node.children[1:]:
            if child.type in (",", "{", "else"):
                if clause:
                    clauses.append(clause)
                clause = []
                if child.type != ",":
                    break
            elif child.type != "comment":
                clause.append(child)
        return [
            (one, any(part.type in ("value_binding_pattern", "pattern", "case") for part in one) or
             self._span(one).startswith(("let ", "var ", "case ")))
            for one in clauses
        ]

    def _otherwise(self, guard):
        seen = False
        for child in guard.children:
            seen = seen or child.type == "else"
            if seen and child.type == "statements":
                return child
        return None

    def _body(self, entry):
        return next((child for child in entry.children if child.type == "statements"), None)

    def _throws(self, statements) -> bool:
        return statements is not None and self._text(statements.named_children[-1]).startswith("throw")

    def _declaration(self, call, name):
        """The value of a constant that is declared before the call in the same function."""
        scope = call
        while scope is not None and scope.type not in ("function_body", "source_file"):
            scope = scope.parent
        found = []

        def visit(node):
            if node.type == "property_declaration" and node.start_byte < call.start_byte:
                pattern, value = node.child_by_field_name("name"), node.child_by_field_name("value")
                if self._text(pattern) == name and value is not None and self._text(node).startswith("let "):
                    found.append(value)

        self._walk(scope, visit)
        return found[-1] if found else None

    def _tuple(self, declaration):
        match = re.search(r":\s*\[\(([^)]*)\)\]", self._text(declaration).split("=")[0])
        return [part.split(":")[-1].strip() for part in match.group(1).split(",")] if match else []

    def _place(self, node) -> str:
        names = []
        while node is not None:
            if node.type in ("class_declaration", "protocol_declaration", "function_declaration"):
                names.append(self._text(node.child_by_field_name("name")))
            elif node.type == "init_declaration":
                names.append("init")
            elif node.type == "subscript_declaration":
                names.append("subscript")
            elif node.type == "property_declaration" and node.parent.type in ("class_body", "enum_class_body"):
                names.append(self._text(node.child_by_field_name("name")))
            node = node.parent
        return ".".join(reversed(names))
