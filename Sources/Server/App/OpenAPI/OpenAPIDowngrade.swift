import Base

/// The contract as OpenAPI 3.0.3, for tools that read no later version. It says the same in the older words.
enum OpenAPIDowngrade {
  static func json(_ document: JSON) -> JSON {
    .object(
      (plain(document).object ?? []).map { member in
        switch member.name {
        case "openapi": JSON.Member("openapi", "3.0.3")
        case "webhooks": JSON.Member("x-webhooks", member.value)
        case "info": JSON.Member("info", .object((member.value.object ?? []).filter { $0.name != "summary" }))
        default: member
        }
      })
  }

  private static func plain(_ json: JSON) -> JSON {
    switch json {
    case .array(let elements): .array(elements.map(plain))
    case .object(let members): .object(object(members))
    default: json
    }
  }

  private static func object(_ members: [JSON.Member]) -> [JSON.Member] {
    // A reference has no siblings, but for an object in whose properties `$ref` is a name.
    if let reference = members.first(where: { $0.name == "$ref" && $0.value.string != nil }), members.count > 1 {
      return [JSON.Member("allOf", [.object([reference])])]
        + members.filter { $0.name != "$ref" }.flatMap(keyword)
    }
    return members.flatMap(keyword)
  }

  /// The keyword in the older words; none if they have no word for it.
  private static func keyword(_ member: JSON.Member) -> [JSON.Member] {
    switch member.name {
    case "type" where member.value.array != nil:
      let types = (member.value.array ?? []).filter { $0 != "null" }
      return types.map { JSON.Member("type", $0) } + [JSON.Member("nullable", true)]
    // The examples of a schema are an array; those of a body are an object, as before.
    case "examples" where member.value.array != nil:
      return (member.value.array ?? []).prefix(1).map { JSON.Member("example", $0) }
    // Examples are values: nothing in them is a keyword.
    case "example", "examples", "enum", "default": return [member]
    // Its members have names, which are no keywords.
    case "properties":
      return [
        JSON.Member(member.name, .object((member.value.object ?? []).map { JSON.Member($0.name, plain($0.value)) }))
      ]
    case "contains", "contentEncoding", "contentMediaType", "propertyNames", "$comment": return []
    default: return [JSON.Member(member.name, plain(member.value))]
    }
  }
}
