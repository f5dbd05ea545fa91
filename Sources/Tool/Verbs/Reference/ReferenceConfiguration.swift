import App
import Base

/// The keys of the configuration file, from its JSON Schema: one table an object.
enum ConfigurationTableText {
  static var markdown: String {
    let schema = ConfigurationSchema.json
    let objects = schema["$defs"]?.object ?? []
    let root = name(of: schema) ?? ""
    let intro =
      "An object is named after the table that describes it. `mdoc serve --config-schema` prints the same as JSON Schema."
    return ([intro] + objects.map { section($0.name == root ? "The file" : $0.name, $0.value) })
      .joined(separator: "\n\n")
  }

  private static func section(_ title: String, _ object: JSON) -> String {
    let required = Set((object["required"]?.array ?? []).compactMap(\.string))
    let rows = (object["properties"]?.object ?? []).map { key in
      [
        "`\(key.name)`" + (required.contains(key.name) ? ", required" : ""), kind(key.value),
        key.value["default"].map { "`\($0.text())`" } ?? "", key.value["description"]?.string ?? "",
      ]
    }
    return "## \(title)\n\n" + MarkdownTable.text(["Key", "Value", "Default", "Meaning"], rows)
  }

  /// The object that a schema refers to.
  private static func name(of schema: JSON) -> String? {
    schema["$ref"]?.string.flatMap { $0.split(separator: "/").last }.map(String.init)
  }

  private static func kind(_ schema: JSON) -> String {
    if let name = name(of: schema) { return name }
    if let kinds = schema["anyOf"]?.array { return kinds.map(kind).joined(separator: ", or ") }
    if let names = schema["enum"]?.array { return names.map { "`\($0.text())`" }.joined(separator: ", ") }
    switch schema["type"]?.string {
    case "array":
      let least = schema["minItems"]?.integer ?? 0
      return "list of \(least > 1 ? "\(least) or more " : "")\(schema["items"].map(kind) ?? "values")"
    case "object": return "object of names, each with \(schema["additionalProperties"].map(kind) ?? "a value")"
    case "integer": return number(schema)
    case "boolean": return "true or false"
    case let type?: return type + (schema["pattern"]?.string.map { " like `\($0)`" } ?? "")
    case nil: return ""
    }
  }

  private static func number(_ schema: JSON) -> String {
    switch (schema["minimum"]?.integer, schema["maximum"]?.integer) {
    case (let least?, let most?) where most < .max: "integer, \(least) to \(most)"
    case (let least?, _): "integer, \(least) or more"
    default: "integer"
    }
  }
}
