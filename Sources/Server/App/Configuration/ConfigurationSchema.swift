import Base

/// The JSON Schema of the configuration file (draft 2020-12), made from the tables that its readers go by.
///
/// It says what can be said without looking at other files: `mdoc serve --check-config` says the rest.
package enum ConfigurationSchema {
  package static let json: JSON = .members([
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    "title": "mdoc serve --config",
    "$ref": reference(ConfigurationTables.root),
    "$defs": .object(
      reachable(ConfigurationTables.root).map { JSON.Member($0.name, object($0)) }),
  ])

  private static func reference(_ table: ConfigurationTable) -> JSON { .string("#/$defs/\(table.name)") }

  private static func object(_ table: ConfigurationTable) -> JSON {
    [
      "type": "object",
      "properties": .object(
        table.members.map { member in
          let text = member.summary + (member.needsRestart ? " A new value needs a restart." : "")
          return JSON.Member(
            member.name, .object((schema(member.kind).object ?? []) + [.init("description", .string(text))]))
        }),
      "required": .array(table.members.filter(\.isRequired).map { .string($0.name) }),
      "additionalProperties": false,
    ]
  }

  private static func schema(_ kind: ConfigurationTable.Kind) -> JSON {
    switch kind {
    case .text(let pattern, let fallback):
      .members([
        "type": "string", "minLength": 1, "pattern": pattern.map { .string($0) },
        "default": fallback.map { .string($0) },
      ])
    case .flag(let fallback): ["type": "boolean", "default": .bool(fallback)]
    case .integer(let range, let fallback): OpenAPISchemas.number(range, fallback: fallback)
    case .choice(let names, let fallback):
      .members([
        "type": "string", "enum": .array(names.map { .string($0) }), "default": fallback.map { .string($0) },
      ])
    case .object(let table): ["$ref": reference(table)]
    case .list(let element, let least):
      ["type": "array", "items": schema(element), "minItems": .integer(Int64(least))]
    case .map(let value): ["type": "object", "additionalProperties": schema(value), "minProperties": 1]
    case .either(let kinds): ["anyOf": .array(kinds.map(schema))]
    }
  }

  /// The table and all that its members lead to, each once.
  private static func reachable(_ root: ConfigurationTable) -> [ConfigurationTable] {
    var found = [root]
    var next = 0
    while next < found.count {
      for table in found[next].members.flatMap({ tables(in: $0.kind) })
      where !found.contains(where: { $0.name == table.name }) {
        found.append(table)
      }
      next += 1
    }
    return found
  }

  private static func tables(in kind: ConfigurationTable.Kind) -> [ConfigurationTable] {
    switch kind {
    case .text, .flag, .integer, .choice: []
    case .object(let table): [table]
    case .list(let element, _): tables(in: element)
    case .map(let value): tables(in: value)
    case .either(let kinds): kinds.flatMap(tables)
    }
  }
}
