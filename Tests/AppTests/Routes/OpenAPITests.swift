import Base
import Sessions
import TestSupport
import Testing

@testable import App

/// The served contract and the table of routes say the same.
@Suite(.onOwnThreads) struct OpenAPITests {
  @Test(arguments: [true, false])
  func `every route and every code of it is in the document, and nothing else`(isLive: Bool) throws {
    let document = OpenAPIDocument.json(with: .of(isLive: isLive))
    let routes = RouteTable.documented(with: .of(isLive: isLive)).flatMap(\.routes)
    var documented: Set<String> = []
    for path in try #require(document["paths"]?.object) {
      for operation in path.value.object ?? [] { documented.insert("\(operation.name.uppercased()) \(path.name)") }
    }
    #expect(documented == Set(routes.map { "\($0.method.rawValue) \($0.path.text)" }))
    #expect(documented.count == routes.count, "no route is there twice")
    for route in routes {
      let operation = document["paths"]?[route.path.text]?[route.method.rawValue.lowercased()]
      let responses = try #require(operation?["responses"]?.object)
      #expect(responses.last?.name == "default")
      let codes = responses.filter { $0.name >= "400" }.flatMap { response in
        let schema = response.value["content"]?[route.isPage ? ErrorPage.mediaType : Problem.mediaType]?["schema"]
        #expect(schema == (route.isPage ? ["type": "string"] : ["$ref": "#/components/schemas/Problem"]))
        let codes = (response.value["x-problem-codes"]?.array ?? []).compactMap(\.string)
        #expect(codes.allSatisfy { response.value["description"]?.string?.contains("`\($0)`") == true })
        return codes.map { [response.name, $0] }
      }
      #expect(Set(codes) == Set(route.allProblems.map { ["\($0.httpStatus)", $0.rawValue] }))
      #expect(responses.map(\.name).contains("\(route.success.status)"))
      #expect(operation?["operationId"]?.string == route.name)
    }
    #expect(Set(routes.map(\.name)).count == routes.count)
  }

  /// The router finds each route by its own template, and by nothing that the table has not.
  @Test func `the router serves exactly the table`() throws {
    let routes = RouteTable.routes(with: .sample)
    let router = Router(routes)
    for route in routes {
      let path = route.path.text.split(separator: "/").map { $0.hasPrefix("{") ? "vs_1" : String($0) }
      guard
        case .route(let found, _) = router.match(
          method: route.method.rawValue, path: "/" + path.joined(separator: "/"))
      else {
        Issue.record("\(route.path.text) is not found")
        continue
      }
      #expect(found.name == route.name)
    }
  }

  /// A page's file is not an operation for clients.
  @Test func `pages are served and not in the contract`() {
    let documented = Set(RouteTable.documented(with: .sample).flatMap(\.routes).map(\.name))
    let others = RouteTable.routes(with: .sample).filter { !documented.contains($0.name) }
    #expect(!others.isEmpty)
    #expect(others.allSatisfy { Contract.isOfPage($0.path.text) })
  }

  @Test(arguments: [true, false]) func `every operation has a tag that the document describes`(isLive: Bool) {
    let document = OpenAPIDocument.json(with: .of(isLive: isLive))
    let tags = (document["tags"]?.array ?? []).compactMap { $0["name"]?.string }
    let paths = (document["paths"]?.object ?? []) + (document["webhooks"]?.object ?? [])
    let operations = paths.flatMap { $0.value.object ?? [] }.map(\.value)
    let used = operations.map { ($0["tags"]?.array ?? []).compactMap(\.string) }
    #expect(used.allSatisfy { $0.count == 1 })
    #expect(Set(used.joined()) == Set(tags))
    #expect(Set(tags).count == tags.count)
  }

  /// What a generator makes a type of is a component, whose title is its name; elsewhere are texts, numbers, lists and
  /// references, and these or null.
  @Test(arguments: [true, false]) func `every type has a name`(isLive: Bool) {
    let document = OpenAPIDocument.json(with: .of(isLive: isLive))
    var nameless: [String] = []
    func walk(_ schema: JSON, _ place: String, isComponent: Bool) {
      let choices = ["oneOf", "anyOf"].flatMap { schema[$0]?.array ?? [] }
      let isNullable = choices.count == 2 && choices.last == ["type": "null"]
      let isType = schema["enum"] != nil || schema["type"] == "object" || (!choices.isEmpty && !isNullable)
      if isType, !isComponent { nameless.append(place) }
      // Rules that only narrow are text.
      if schema["allOf"] != nil { nameless.append(place) }
      for choice in choices { walk(choice, place + "/choice", isComponent: false) }
      for member in schema["properties"]?.object ?? [] {
        walk(member.value, "\(place)/\(member.name)", isComponent: false)
      }
      for name in ["items", "additionalProperties"] {
        if let part = schema[name] { walk(part, "\(place)/\(name)", isComponent: false) }
      }
    }
    for component in document["components"]?["schemas"]?.object ?? [] {
      #expect(component.value["title"] == .string(component.name))
      walk(component.value, component.name, isComponent: true)
    }
    func walkContents(_ json: JSON, _ place: String) {
      for member in json.object ?? [] {
        if member.name == "schema" { walk(member.value, place, isComponent: false) }
        walkContents(member.value, "\(place)/\(member.name)")
      }
      for element in json.array ?? [] { walkContents(element, place) }
    }
    walkContents(document["paths"] ?? .null, "paths")
    #expect(nameless == [])
  }

  /// A client of today reads the server of tomorrow: what the server sends may have more members and more values.
  @Test func `what the server sends is open`() throws {
    let document = OpenAPIDocument.json(with: .sample)
    var seen: Set<String> = []
    func walk(_ json: JSON, _ place: String) {
      if let name = json["$ref"]?.string?.split(separator: "/").last.map(String.init), seen.insert(name).inserted {
        walk(document["components"]?["schemas"]?[name] ?? .null, name)
      }
      #expect(json["enum"] == nil && json["const"] == nil, "\(place)")
      if json["properties"]?.object != nil { #expect(json["additionalProperties"] == nil, "\(place)") }
      for member in json["properties"]?.object ?? [] {
        #expect(member.value["description"]?.string?.isEmpty == false, "\(place)/\(member.name)")
        walk(member.value, "\(place)/\(member.name)")
      }
      for name in ["items", "additionalProperties"] { json[name].map { walk($0, place) } }
      for choice in json["oneOf"]?.array ?? [] { walk(choice, place) }
    }
    // The mock wallet's replies are the bodies of requests.
    for operation in operations(document) where operation["tags"] != ["Testing"] {
      for response in operation["responses"]?.object ?? [] {
        for content in response.value["content"]?.object ?? [] { walk(content.value["schema"] ?? .null, response.name) }
      }
    }
    #expect(seen.count > 50)
    let names = (document["components"]?["schemas"]?.object ?? []).map { $0.name.lowercased() }
    #expect(Set(names).count == names.count)
  }

  @Test(arguments: OpenAPIVersion.allCases) func `every example is right by its schema`(
    _ version: OpenAPIVersion
  ) throws {
    let document = try JSON(parsing: ServerAdditions.sample.openAPI(version), values: .max)
    let hooks = (document["webhooks"] ?? document["x-webhooks"])?.object ?? []
    #expect(hooks.map(\.name) == EventType.allCases.map(\.rawValue))
    var count = 0
    for operation in operations(document) + hooks.compactMap({ $0.value["post"] }) {
      let name = operation["operationId"]?.string ?? ""
      let sent = (operation["responses"]?.object ?? []).compactMap { $0.value["content"]?.object?.first }
      let hook = name.hasPrefix("on_") ? operation["requestBody"]?["content"]?.object?.first : nil
      for body in sent + (hook.map { [$0] } ?? []) where body.name.hasSuffix("json") && name != "getOpenAPI" {
        let example = try #require(body.value["example"], "\(name)")
        count += 1
        // Ours knows the keywords of 3.1; CI's validator holds the other version.
        guard version == .current else { continue }
        let found = Schema(body.value["schema"] ?? .null).violations(
          of: example, with: Schema.Definitions(of: document))
        #expect(found == [], "\(name)")
      }
    }
    #expect(count > 300)
  }

  @Test func `every operation and every parameter has a sentence`() {
    for operation in operations(OpenAPIDocument.json(with: .sample)) {
      let summary = operation["summary"]?.string ?? ""
      #expect(!summary.isEmpty && summary.count <= 60 && !summary.hasSuffix("."), "\(summary)")
      #expect(operation["description"]?.string?.hasSuffix(".") == true, "\(summary)")
      for parameter in operation["parameters"]?.array ?? [] {
        #expect(parameter["description"]?.string?.hasSuffix(".") == true, "\(summary): \(parameter.text())")
      }
    }
  }

  @Test func `the contract is served in OpenAPI 3 0 too, and in no other version`() async throws {
    try await withTestMode { bed in
      let older = try await bed.api.with(nil).get("/openapi.json?version=3.0").json
      #expect(older["openapi"] == "3.0.3")
      #expect(
        older["components"]?["schemas"]?.object?.count
          == OpenAPIDocument.json(with: .sample)["components"]?["schemas"]?.object?.count)
      let error = older["components"]?["schemas"]?["LastError"]
      #expect(error?["type"] == "object" && error?["nullable"] == true)
      func walk(_ json: JSON, isExample: Bool) {
        for member in json.object ?? [] {
          let isExample = isExample || ["example", "value"].contains(member.name)
          if !isExample {
            #expect(!["const", "contentEncoding", "webhooks"].contains(member.name))
            if member.name == "type" { #expect(member.value.array == nil) }
            if member.name == "$ref", member.value.string != nil { #expect(json.object?.count == 1) }
          }
          walk(member.value, isExample: isExample)
        }
        for element in json.array ?? [] { walk(element, isExample: isExample) }
      }
      walk(older, isExample: false)
      #expect(try await bed.api.with(nil).get("/openapi.json?version=3.1").json["openapi"] == "3.1.0")
      for query in ["version=2.0", "version=3.0&version=3.0"] {
        #expect(try await bed.api.with(nil).get("/openapi.json?\(query)").status == 400)
      }
    }
  }

  @Test func `a problem leads to a page on its code`() async throws {
    try await withTestMode { bed in
      let problem = try await bed.api.with(nil).get("/v1/verification_sessions")
      let path = try #require(problem.json["documentation_url"]?.string)
      let page = try await bed.api.with(nil).get(path)
      #expect(page.status == 200 && path == "/codes/api.unauthenticated")
      #expect(page.head.body.contains(Code.apiUnauthenticated.entry.remedy))
      #expect(try await bed.api.with(nil).get("/codes/api.unknown").status == 404)
    }
  }

  private func operations(_ document: JSON) -> [JSON] {
    (document["paths"]?.object ?? []).flatMap { $0.value.object ?? [] }.map(\.value)
  }

  /// OpenAPI has no place for a null but where it says what a value may be.
  @Test(arguments: [true, false]) func `nothing in the document is null`(isLive: Bool) {
    func nulls(_ json: JSON, _ place: String) -> [String] {
      if json.isNull { return [place] }
      return (json.object ?? []).flatMap { nulls($0.value, "\(place)/\($0.name)") }
        + (json.array ?? []).flatMap { nulls($0, "\(place)/*") }
    }
    // The null of an enumeration is a value, and so is one of an example.
    let found = nulls(OpenAPIDocument.json(with: .of(isLive: isLive)), "").filter {
      !$0.hasSuffix("/enum/*") && !$0.contains("/example/")
    }
    #expect(found == [])
  }

  @Test(arguments: [true, false]) func `every reference leads somewhere`(isLive: Bool) throws {
    let document = OpenAPIDocument.json(with: .of(isLive: isLive))
    let names = Set(
      ["schemas", "headers"].flatMap { kind in
        (document["components"]?[kind]?.object ?? []).map { "#/components/\(kind)/\($0.name)" }
      })
    #expect(names.count > OpenAPISchemas.all.count)
    var found: Set<String> = []
    func walk(_ json: JSON) {
      for member in json.object ?? [] {
        if member.name == "$ref", let text = member.value.string { found.insert(text) }
        walk(member.value)
      }
      for element in json.array ?? [] { walk(element) }
    }
    walk(document)
    #expect(found.subtracting(names) == [])
    #expect(names.subtracting(found).isEmpty)
  }

  @Test func `every link leads to an operation that has the parameters`() throws {
    let document = OpenAPIDocument.json(with: .sample)
    let operations = (document["paths"]?.object ?? []).flatMap { $0.value.object ?? [] }.map(\.value)
    let responses = operations.flatMap { $0["responses"]?.object ?? [] }
    let links = responses.flatMap { $0.value["links"]?.object ?? [] }.map(\.value)
    #expect(links.count >= 10)
    for link in links {
      let target = operations.first { $0["operationId"] == link["operationId"] }
      let names = Set((target?["parameters"]?.array ?? []).compactMap { $0["name"]?.string })
      let given = (link["parameters"]?.object ?? []).map(\.name)
      #expect(names.isSuperset(of: given), "\(link.text())")
    }
  }

  @Test func `the examples of a creation are written as they are read`() throws {
    for example in RequestExample.creations {
      let read = try CreateSessionBody.shape.value(of: example.value)
      #expect(CreateSessionBody.shape.write(read) == example.value, "\(example.name)")
    }
  }

  /// Each as it is printed; but a mock response is one to a session of this server.
  @Test func `test mode takes every example of the contract`() async throws {
    let document = OpenAPIDocument.json(with: .sample)
    var taken = 0
    // The client holds what was accepted against the schema.
    try await withTestMode(origins: []) { bed in
      for path in document["paths"]?.object ?? [] {
        let body = path.value["post"]?["requestBody"]?["content"]?.object?.first?.value
        let isForm = path.name.hasPrefix(WalletRoutes.path)
        for example in body?["examples"]?.object ?? [] {
          let value = try #require(example.value["value"])
          let hasLink = isForm || value["link"] != nil
          let name = value["protocol"]?.string ?? (hasLink ? "openid4vp" : "apple-in-app")
          let session = try await bed.createSession(by: name)
          let id = try #require(session["id"])
          let own = ["session": id, "link": session["requests"]?.array?.first?["data"]?["authorization_request"]]
          let members = (value.object ?? []).map { JSON.Member($0.name, (own[$0.name] ?? nil) ?? $0.value) }
          let target = path.name.replacing("{id}", with: id.string ?? "")
          let reply =
            try await
            (isForm
            ? bed.postForm(value, to: session, action: String(path.name.split(separator: "/").last ?? ""))
            : bed.api.post(target, .object(members)))
          // Wallets' posts are verified: no example is a response to this session.
          let isTaken = [200, 201].contains(reply.status) || isForm && reply.json["error"] != nil
          #expect(isTaken, "\(path.name) \(example.name): \(reply.body)")
          taken += 1
        }
        if let schema = body?["schema"] { #expect(body?["examples"] != nil, "\(path.name): \(schema.text())") }
      }
    }
    #expect(taken >= 13)
  }

  @Test func `every code of a failed request is some operation's`() {
    let routes = RouteTable.documented(with: .sample).flatMap(\.routes)
    let listed = Set(routes.flatMap(\.allProblems)).union([.apiMethodNotAllowed])
    let all = Set(Code.allCases.filter { $0.httpStatus >= 400 })
    #expect(all.subtracting(listed) == [])
  }

  @Test func `the document is served`() async throws {
    try await withTestMode { bed in
      let served = try await bed.api.with(nil).get("/openapi.json")
      #expect(served.json == (try JSON(parsing: OpenAPIDocument.json(with: .sample).serialized())))
    }
  }
}
