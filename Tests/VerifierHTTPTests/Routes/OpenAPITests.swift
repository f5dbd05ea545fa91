import Primitives
import Testing

@testable import VerifierHTTP

/// The served contract and the table of routes say the same.
@Suite(.onOwnThreads) struct OpenAPITests {
  @Test(arguments: [true, false])
  func `every route and every code of it is in the document, and nothing else`(isLive: Bool) throws {
    let document = OpenAPIDocument.json(isLive: isLive)
    let routes = RouteTable.routes(isLive: isLive)
    var documented: Set<String> = []
    for path in try #require(document["paths"]?.object) {
      for operation in path.value.object ?? [] { documented.insert("\(operation.name.uppercased()) \(path.name)") }
    }
    #expect(documented == Set(routes.map { "\($0.method.rawValue) \($0.path.text)" }))
    #expect(documented.count == routes.count, "no route is there twice")
    for route in routes {
      let operation = document["paths"]?[route.path.text]?[route.method.rawValue.lowercased()]
      let responses = try #require(operation?["responses"]?.object)
      let codes = responses.filter { $0.name >= "400" }.flatMap { response in
        let schema = response.value["content"]?["application/problem+json"]?["schema"]
        let narrowed = schema?["allOf"]?.array?.last?["properties"]?["code"]?["enum"]
        return (narrowed?.array ?? []).compactMap { $0.string.map { [response.name, $0] } }
      }
      #expect(Set(codes) == Set(route.allProblems.map { ["\($0.entry.httpStatus)", $0.rawValue] }))
      #expect(responses.map(\.name).contains("\(route.success.status)"))
      #expect(operation?["operationId"]?.string == route.name)
    }
    #expect(Set(routes.map(\.name)).count == routes.count)
  }

  /// The router finds each route by its own template, and by nothing that the table has not.
  @Test func `the router serves exactly the table`() throws {
    let routes = RouteTable.routes(isLive: false)
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

  @Test func `every reference leads somewhere`() throws {
    let document = OpenAPIDocument.json(isLive: false)
    let names = Set(
      ["schemas", "headers"].flatMap { kind in
        (document["components"]?[kind]?.object ?? []).map { "#/components/\(kind)/\($0.name)" }
      })
    #expect(names.count == OpenAPISchemas.all.count + (OpenAPIResponses.headers.object?.count ?? 0))
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
    let document = OpenAPIDocument.json(isLive: false)
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

  @Test func `the examples are right by the schema and in the server's eyes`() async throws {
    let operation = OpenAPIDocument.json(isLive: false)["paths"]?["/v1/verification_sessions"]?["post"]
    let examples = operation?["requestBody"]?["content"]?["application/json"]?["examples"]?.object ?? []
    #expect(examples.count == 4)
    // The client holds what was accepted against the schema.
    try await withTestMode { bed in
      for example in examples {
        let reply = try await bed.api.post("/v1/verification_sessions", example.value["value"])
        #expect(reply.status == 201, "\(example.name): \(reply.body)")
      }
    }
  }

  @Test func `every code of a failed request is some operation's`() {
    let routes = RouteTable.routes(isLive: false)
    let listed = Set(routes.flatMap(\.allProblems)).union([.apiMethodNotAllowed])
    let all = Set(Code.allCases.filter { $0.entry.httpStatus >= 400 })
    #expect(all.subtracting(listed) == [])
  }

  @Test func `the document is served`() async throws {
    try await withTestMode { bed in
      let served = try await bed.api.with(nil).get("/openapi.json")
      #expect(served.json == (try JSON(parsing: OpenAPIDocument.json(isLive: false).serialized())))
    }
  }
}
