import App
import Base

/// The endpoints of the HTTP API, from its OpenAPI document.
enum EndpointTables {
  static var markdown: String {
    // What the server itself serves; it is always JSON.
    let document = (try? JSON(parsing: ServerAdditions.none.openAPI, values: .max)) ?? .null
    let tags = document["tags"]?.array ?? []
    let operations = (document["paths"]?.object ?? []).flatMap { path in
      (path.value.object ?? []).map { (path: path.name, method: $0.name.uppercased(), operation: $0.value) }
    }
    let intro =
      document["info"]?["description"]?.string.map { $0 + " `GET /openapi.json` has the schemas." } ?? ""
    let sections = tags.map { tag in
      let name = tag["name"]?.string ?? ""
      let rows = operations.filter { $0.operation["tags"]?.array?.first?.string == name }.map { entry in
        [
          "`\(entry.method) \(entry.path)`", entry.operation["summary"]?.string ?? "", access(entry.operation),
          parameters(entry.operation), body(entry.operation), replies(entry.operation),
        ]
      }
      let columns = ["Endpoint", "What it does", "Credential", "Parameters", "Body", "Replies"]
      return "## \(name)\n\n\(tag["description"]?.string ?? "")\n\n\(MarkdownTable.text(columns, rows))"
    }
    return ([intro] + sections).joined(separator: "\n\n")
  }

  private static func access(_ operation: JSON) -> String {
    let ways = (operation["security"]?.array ?? []).map { way in
      guard let scheme = way.object?.first else { return "none, from loopback" }
      let scopes = (scheme.value.array ?? []).compactMap(\.string).map { "`\($0)`" }.joined(separator: ", ")
      let name = scheme.name.replacing("_", with: " ")
      return scopes.isEmpty ? name : "\(name) with \(scopes)"
    }
    return ways.isEmpty ? "none" : ways.joined(separator: ", or ")
  }

  private static func parameters(_ operation: JSON) -> String {
    (operation["parameters"]?.array ?? []).compactMap { parameter in
      guard let name = parameter["name"]?.string else { return nil }
      let place = parameter["in"]?.string ?? "query"
      return "`\(name)` (\(place)\(parameter["required"]?.bool == true ? ", required" : ""))"
    }.joined(separator: ", ")
  }

  private static func body(_ operation: JSON) -> String {
    guard let content = operation["requestBody"]?["content"]?.object else { return "" }
    let isRequired = operation["requestBody"]?["required"]?.bool == true
    return content.map { media in
      let schema = media.value["schema"]?["$ref"]?.string?.split(separator: "/").last.map { "`\($0)`" }
      return (schema ?? media.name) + (isRequired ? ", required" : "")
    }.joined(separator: ", ")
  }

  private static func replies(_ operation: JSON) -> String {
    (operation["responses"]?.object ?? []).map { reply in
      let codes = (reply.value["x-problem-codes"]?.array ?? []).compactMap(\.string).map { "`\($0)`" }
      return codes.isEmpty ? reply.name : "\(reply.name) \(codes.joined(separator: ", "))"
    }.joined(separator: "; ")
  }
}
