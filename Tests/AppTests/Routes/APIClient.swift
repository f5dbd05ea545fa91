import Base
import Sessions
import TestSupport
import Testing

@testable import App

/// A JSON client over `RawClient`. Compares every reply with the OpenAPI document: the operation, its status, its
/// codes, its headers and the schema of the body. Also compares the bodies of accepted requests.
struct APIClient: Sendable {
  let port: UInt16
  let isLive: Bool
  var token: String?

  struct Reply: Sendable {
    let status: Int
    let head: RawClient.Response
    let json: JSON

    /// The problem's code, or the code on an error page.
    var code: String? { json["code"]?.string ?? pageCode }
    private var pageCode: String? {
      let mark = "<p class=\"soft\" lang=\"en\">"
      return body.split(separator: "\n").first { $0.hasPrefix(mark) }?.dropFirst(mark.count).split(separator: " ").first
        .map(String.init)
    }
    var body: String { head.body }
    var errors: [String] { (json["errors"]?.array ?? []).compactMap { $0["pointer"]?.string } }
    func header(_ name: String) -> String? { head.header(name) }
  }

  init(port: UInt16, isLive: Bool = false, token: String? = nil) {
    self.port = port
    self.isLive = isLive
    self.token = token
  }

  func with(_ token: String?) -> APIClient { APIClient(port: port, isLive: isLive, token: token) }

  func get(_ path: String, _ headers: [String: String] = [:]) async throws -> Reply {
    try await call("GET", path, nil, headers)
  }

  func post(_ path: String, _ json: JSON? = nil, _ headers: [String: String] = [:]) async throws -> Reply {
    try await call("POST", path, json?.serialized(), headers)
  }

  func call(
    _ method: String, _ path: String, _ body: [UInt8]? = nil, _ headers: [String: String] = [:]
  ) async throws -> Reply {
    var fields = headers
    if let token, fields["Authorization"] == nil { fields["Authorization"] = "Bearer \(token)" }
    if let body {
      fields["Content-Length"] = "\(body.count)"
      if fields["Content-Type"] == nil { fields["Content-Type"] = "application/json" }
    } else if method == "POST", fields["Content-Length"] == nil {
      fields["Content-Length"] = "0"
    }
    let host = fields.removeValue(forKey: "Host") ?? "localhost"
    let lines = fields.filter { !$0.value.isEmpty }.map { "\($0.key): \($0.value)\r\n" }.sorted().joined()
    let head = "\(method) \(path) HTTP/1.1\r\nHost: \(host)\r\n\(lines)\r\n"
    let bytes = Array(head.utf8) + (body ?? [])
    let port = port
    let response = try await blocking {
      let client = try RawClient(port: port, timeout: 30)
      client.send(bytes)
      return try client.response(hasBody: method != "HEAD")
    }
    let json = (try? JSON(parsing: Array(response.body.utf8))) ?? .null
    let reply = Reply(status: response.status, head: response, json: json)
    let violations = (isLive ? Contract.live : Contract.test).violations(method, path, body, reply)
    #expect(violations == [], "\(method) \(path) → \(response.status)")
    return reply
  }
}

/// Checks replies against the OpenAPI document.
struct Contract {
  static let live = Contract(document: OpenAPIDocument.json(with: .none), isLive: true)
  static let test = Contract(document: OpenAPIDocument.json(with: .sample), isLive: false)

  let document: JSON
  let isLive: Bool

  func violations(_ method: String, _ target: String, _ body: [UInt8]?, _ reply: APIClient.Reply) -> [String] {
    var found: [String] = []
    if reply.header("Request-Id")?.hasPrefix("req_") != true { found.append("no Request-Id") }
    if reply.header("Cache-Control") != "no-store" { found.append("cacheable") }
    if reply.header("X-Content-Type-Options") != "nosniff" { found.append("sniffable") }
    let path = String(target.prefix { $0 != "?" })
    // The reply to a wallet with a refused response is not a problem document.
    let isFeedback = reply.status == 400 && path.hasPrefix("/v1/wallet/") && reply.json["error"] != nil
    if reply.status >= 400, method != "HEAD", !isFeedback {
      found += problemViolations(reply, isPage: isForPeople(path))
    }
    guard let operation = operation(method, path) else {
      let isKnown = [404, 405, 204].contains(reply.status) || Self.isOfPage(path)
      return isKnown ? found : found + ["an operation that is not in the document"]
    }
    let response = operation["responses"]?["\(reply.status)"]
    let contents = response?["content"]?.object
    guard let content = isFeedback ? contents?.first(where: { $0.name == "application/json" }) : contents?.first else {
      return found + ["the status is not in the document"]
    }
    found += headerViolations(response, reply) + requestViolations(operation, body, reply)
    let codes = response?["x-problem-codes"]?.array ?? []
    if reply.status >= 400, method != "HEAD", !isFeedback, !codes.contains(reply.code.map { .string($0) } ?? .null) {
      found.append("the code is not in the document")
    }
    if reply.header("Content-Type") != content.name { found.append("media type is not \(content.name)") }
    guard method != "HEAD", content.name.hasSuffix("json"), let schema = content.value["schema"] else { return found }
    return found + violations(of: reply.json, schema, at: "")
  }

  /// Files that only the playground and the hosted page request.
  static func isOfPage(_ path: String) -> Bool {
    path == "/"
      || ["/playground", "/check", "/wallet", "/console", "/docs", "/verify/", "/assets/", "/v1/js/", "/codes/"]
        .contains(
          where: path.hasPrefix)
  }

  /// Addresses that a person may open: a refusal is a page there.
  private func isForPeople(_ path: String) -> Bool {
    let pages = ["/verify", "/status", "/docs", "/console"] + (isLive ? [] : ["/playground", "/check", "/wallet"])
    return path == "/" || pages.contains { path == $0 || path.hasPrefix($0 + "/") }
  }

  private func violations(of value: JSON, _ schema: JSON, at place: String) -> [String] {
    Schema(schema).violations(of: value, with: Schema.Definitions(of: document), at: place).map(\.text)
  }

  private func headerViolations(_ response: JSON?, _ reply: APIClient.Reply) -> [String] {
    (response?["headers"]?.object ?? []).flatMap { member -> [String] in
      let name = member.name
      guard let header = document["components"]?["headers"]?[name], let schema = header["schema"] else {
        return ["\(name) is no component"]
      }
      guard let text = reply.header(name) else { return header["required"] == true ? ["no \(name)"] : [] }
      let value = schema["type"] == "integer" ? Int64(text).map(JSON.integer) : .string(text)
      return violations(of: value ?? .string(text), schema, at: name)
    }
  }

  /// A body that the server accepts conforms to the contract.
  private func requestViolations(_ operation: JSON, _ body: [UInt8]?, _ reply: APIClient.Reply) -> [String] {
    guard (200...299).contains(reply.status), let body, let json = try? JSON(parsing: body),
      let schema = operation["requestBody"]?["content"]?["application/json"]?["schema"]
    else { return [] }
    return violations(of: json, schema, at: "request")
  }

  private func problemViolations(_ reply: APIClient.Reply, isPage: Bool) -> [String] {
    guard let code = reply.code.flatMap(Code.init(rawValue:)) else { return ["no registered code"] }
    var found = isPage ? pageViolations(reply) : jsonViolations(reply, code)
    if code.httpStatus != reply.status { found.append("\(code.rawValue) has another status") }
    if reply.status == 503, reply.header("Retry-After") == nil { found.append("no Retry-After") }
    if reply.status == 401, reply.header("WWW-Authenticate") == nil { found.append("no WWW-Authenticate") }
    if reply.status == 405, reply.header("Allow") == nil { found.append("no Allow") }
    return found
  }

  private func pageViolations(_ reply: APIClient.Reply) -> [String] {
    var found: [String] = []
    if reply.header("Content-Type") != "text/html; charset=utf-8" { found.append("no page") }
    if !reply.body.contains(reply.header("Request-Id") ?? "-") { found.append("no request id") }
    if reply.body.contains("<script") || reply.body.contains("<style") { found.append("more than its policy allows") }
    if reply.header("Content-Security-Policy")?.hasPrefix("default-src 'none'; style-src 'self'") != true {
      found.append("no policy")
    }
    return found
  }

  private func jsonViolations(_ reply: APIClient.Reply, _ code: Code) -> [String] {
    // Also outside of operations: every refusal has the same schema.
    var found = violations(of: reply.json, Schema.reference("Problem").json, at: "")
    if reply.json["status"]?.integer != Int64(reply.status) { found.append("status differs") }
    if reply.json["type"]?.string != "urn:mdoc:problem:\(code.rawValue)" { found.append("type") }
    if reply.json["request_id"]?.string != reply.header("Request-Id") { found.append("request_id") }
    if reply.header("Content-Type") != "application/problem+json" { found.append("media type") }
    return found
  }

  private static func isName(_ text: Substring) -> Bool {
    !text.isEmpty && text.first != "."
      && text.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber || "_-.".contains($0)) }
  }

  func operation(_ method: String, _ path: String) -> JSON? {
    let given = path.split(separator: "/", omittingEmptySubsequences: false)
    let entry = document["paths"]?.object?.first { entry in
      let template = entry.name.split(separator: "/", omittingEmptySubsequences: false)
      return template.count == given.count
        && zip(template, given).allSatisfy { $0 == $1 || ($0.hasPrefix("{") && Self.isName($1)) }
    }
    let members = ["GET": "get", "HEAD": "get", "POST": "post"]
    return members[method].flatMap { entry?.value[$0] }
  }
}
