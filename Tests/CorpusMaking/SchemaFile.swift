import Base
import Vectors

/// The JSON Schema of a vector's file, stored as `schema.json` in the suite.
package enum SchemaFile {
  package static var content: [UInt8] { json.serialized(pretty: true) + [UInt8(ascii: "\n")] }

  package static let json: JSON = {
    var definitions: [JSON.Member] = []
    let lifted = lift(TestVector.shape.schema.with("title", .null).json, &definitions)
    definitions.sort { place(of: $0.name, among: names) < place(of: $1.name, among: names) }
    let head: [JSON.Member] = [
      .init("$schema", "https://json-schema.org/draft/2020-12/schema"), .init("title", "mdoc test vector"),
      .init(
        "description",
        "One response or one list of anchors, the input to judge it, and the expected judgement."),
    ]
    let rules = (lifted.object ?? []).filter { $0.name != "title" }
    return .object(head + rules + [.init("$defs", .object(definitions))])
  }()

  /// The order of the definitions, by their titles.
  private static let names = [
    "flag", "apple", "proximity", "annexC", "openID4VP", "openID4VPRedirect", "policy", "list", "serviceList",
    "service", "lastAccepted", "anchorList", "publication", "part", "copy", "expect",
  ]

  /// The order of a schema's keywords.
  private static let keywords = [
    "description", "type", "additionalProperties", "required", "minLength", "pattern", "minItems", "minimum", "enum",
    "items", "uniqueItems", "properties", "oneOf",
  ]

  private static func place(of name: String, among names: [String]) -> Int { names.firstIndex(of: name) ?? names.count }

  /// Makes a definition of each schema with a title, and replaces it by a reference.
  private static func lift(_ json: JSON, _ definitions: inout [JSON.Member]) -> JSON {
    guard let members = json.object else {
      return json.array.map { .array($0.map { lift($0, &definitions) }) } ?? json
    }
    if let target = json["$ref"], target.object != nil { return lift(target, &definitions) }
    var lifted = members.filter { $0.name != "title" && $0.value != "" }.map { member in
      guard member.name == "properties" else { return JSON.Member(member.name, lift(member.value, &definitions)) }
      let properties = member.value.object ?? []
      return JSON.Member(
        member.name, .object(properties.map { JSON.Member($0.name, lift($0.value, &definitions)) }))
    }
    if json["properties"] != nil, json["required"] == nil { lifted.append(.init("required", [])) }
    lifted.sort { place(of: $0.name, among: keywords) < place(of: $1.name, among: keywords) }
    guard let title = json["title"]?.string else { return .object(lifted) }
    if !definitions.contains(where: { $0.name == title }) { definitions.append(.init(title, .object(lifted))) }
    return ["$ref": .string("#/$defs/\(title)")]
  }
}
