import App
import Base

/// Describes every operation of the HTTP API: its input, an example call and reply, and its refusals. The source is the
/// OpenAPI document.
enum EndpointSections {
  static var markdown: String {
    // The server serves the same document. It is always valid JSON.
    let document = (try? JSON(parsing: ServerAdditions.none.openAPI(), values: .max)) ?? .null
    let operations = (document["paths"]?.object ?? []).flatMap { path in
      (path.value.object ?? []).map { (path: path.name, method: $0.name.uppercased(), operation: $0.value) }
    }
    let intro = document["info"]?["description"]?.string.map { $0 + " `GET /openapi.json` has the schemas." } ?? ""
    let sections = (document["tags"]?.array ?? []).flatMap { tag -> [String] in
      let name = tag["name"]?.string ?? ""
      let own = operations.filter { $0.operation["tags"]?.array?.first?.string == name }
      return ["## \(name)", tag["description"]?.string ?? ""]
        + own.flatMap { section($0.path, $0.method, $0.operation, document) }
    }
    let common = "In the examples `$URL` is the server's address and `$KEY` an API key. Long values are cut (`…`)."
    return ([intro, common] + sections).filter { !$0.isEmpty }.joined(separator: "\n\n")
  }

  private static func section(_ path: String, _ method: String, _ operation: JSON, _ document: JSON) -> [String] {
    let text = operation["description"]?.string ?? ""
    var parts = [
      "### \(operation["summary"]?.string ?? "")", "`\(method) \(path)`" + (text.isEmpty ? "" : ": \(text)"),
      "Credential: \(access(operation)).",
    ]
    let rows = parameters(operation) + members(operation, document)
    if !rows.isEmpty { parts.append(MarkdownTable.text(["Parameter or member", "Where", "Meaning"], rows)) }
    let media = operation["requestBody"]?["content"]?.object?.first
    let needed = (operation["parameters"]?.array ?? []).filter { $0["in"] == "query" && $0["required"] == true }
    let query = needed.isEmpty ? "" : "?" + needed.map { "\($0["name"]?.string ?? "")=…" }.joined(separator: "&")
    let examples = media?.value["examples"]
    // Prefers the example request for a web session, since the example reply belongs to a web session.
    let example = examples?["web"] ?? examples?.object?.first?.value
    let sent = media?.value["example"] ?? example?["value"]
    parts.append(
      "```sh\n\(call(path + query, method, sent, media?.name, needsKey: access(operation).contains("api key")))\n```")
    let replies = (operation["responses"]?.object ?? []).filter { $0.name != "default" }
    if let good = replies.first(where: { $0.name.hasPrefix("2") || $0.name.hasPrefix("3") }) {
      let content = good.value["content"]?.object?.first
      let kind = content.map { " `\($0.name)`" } ?? ""
      parts.append("Reply: \(good.name)\(kind)\(schemaName(content?.value).map { ", `\($0)`" } ?? "").")
      if let example = content?.value["example"] { parts.append("```json\n\(short(example).text(pretty: true))\n```") }
    }
    let refusals = replies.compactMap { reply -> String? in
      let codes = (reply.value["x-problem-codes"]?.array ?? []).compactMap(\.string).map { "`\($0)`" }
      return codes.isEmpty ? nil : "\(reply.name) \(codes.joined(separator: ", "))"
    }
    if !refusals.isEmpty { parts.append("Refusals: \(refusals.joined(separator: "; ")).") }
    return parts
  }

  // MARK: Access, parameters and body

  private static func access(_ operation: JSON) -> String {
    let ways = (operation["security"]?.array ?? []).map { way in
      guard let scheme = way.object?.first else { return "none, from loopback" }
      let scopes = (scheme.value.array ?? []).compactMap(\.string).map { "`\($0)`" }.joined(separator: ", ")
      let name = scheme.name.replacing("_", with: " ")
      return scopes.isEmpty ? name : "\(name) with \(scopes)"
    }
    return ways.isEmpty ? "none" : ways.joined(separator: ", or ")
  }

  private static func parameters(_ operation: JSON) -> [[String]] {
    (operation["parameters"]?.array ?? []).compactMap { parameter in
      guard let name = parameter["name"]?.string else { return nil }
      let place = parameter["in"]?.string ?? "query"
      let isRequired = parameter["required"]?.bool == true
      return ["`\(name)`", place + (isRequired ? ", required" : ""), parameter["description"]?.string ?? ""]
    }
  }

  /// The members of the body.
  private static func members(_ operation: JSON, _ document: JSON) -> [[String]] {
    let content = operation["requestBody"]?["content"]?.object?.first?.value
    guard let name = schemaName(content), let schema = document["components"]?["schemas"]?[name] else { return [] }
    let required = Set((schema["required"]?.array ?? []).compactMap(\.string))
    return (schema["properties"]?.object ?? []).map { member in
      let text = member.value["description"] ?? member.value["allOf"]?.array?.first?["description"]
      return ["`\(member.name)`", "body" + (required.contains(member.name) ? ", required" : ""), text?.string ?? ""]
    }
  }

  private static func schemaName(_ content: JSON?) -> String? {
    content?["schema"]?["$ref"]?.string?.split(separator: "/").last.map(String.init)
  }

  // MARK: Examples

  private static func call(
    _ path: String, _ method: String, _ body: JSON?, _ mediaType: String?, needsKey: Bool
  ) -> String {
    let address = path.replacing("{id}", with: "$ID").replacing("{relying_party}", with: "shop")
      .replacing("{session}", with: "$ID")
    var lines = ["curl -sS \(method == "GET" ? "" : "-X \(method) ")\"$URL\(address)\""]
    if needsKey { lines.append("-H \"Authorization: Bearer $KEY\"") }
    if let body, let mediaType {
      let isJSON = mediaType == "application/json"
      lines.append("-H 'Content-Type: \(mediaType)'")
      lines.append("-d '\(isJSON ? short(body).text() : "…")'")
    }
    return lines.joined(separator: " \\\n  ")
  }

  /// The same JSON, with long texts and lists shortened.
  private static func short(_ json: JSON) -> JSON {
    switch json {
    case .string(let text) where text.count > 60: .string(text.prefix(40) + "…")
    case .array(let elements): .array(elements.prefix(3).map(short))
    case .object(let members): .object(members.map { .init($0.name, short($0.value)) })
    default: json
    }
  }
}
