import Base
import Cryptography
import FuzzDriver
import Mdoc
import Mock
import Sessions

@testable import App
@testable import HTTP

/// Bodies of every POST of the API, and request targets, through the whole application except the sockets. Each input
/// has its own server with one session that waits for its response.
///
/// Options: the route, the caller, and whether the request is repeated under one Idempotency-Key. In the body and in
/// the target `{session}` stands for the session's id and `{answer}` for a correct response to it.
struct HTTPBodyTarget: FuzzTarget {
  static let name = "http-body"
  static let dictionary =
    [
      "protocols", "apple-in-app", "documents", "doc_type", "elements", "namespace", "identifier", "intent_to_retain",
      "required", "age_over", "minimum_age", "all_documents", "origin", "expires_in", "client_reference_id", "metadata",
      "protocol", "data", "encrypted_data", "session", "variant", "good", "{session}", "{answer}", "full_date",
      "\\\\u0000",
      "\\\\ud83d\\\\ude00", "1e400", "-0", "9223372036854775808", "expand[]", "starting_after", "limit", "status",
    ] + ["org.iso.18013.5.1", "org.iso.18013.5.1.mDL", "org.iso.23220.1", "org.iso.23220.photoid.1"]

  private enum Action: Int, CaseIterable { case create, submit, cancel, redact, mockResponse, target }

  private static let isClient = 1
  private static let isRepeated = 2

  private let server: FuzzServer

  init(_ material: Material) throws { server = try FuzzServer(material) }

  var seeds: [[UInt8]] {
    let bodies: [(Action, String)] = [
      (.create, FuzzServer.request),
      (
        .create,
        """
        {"protocols":["apple-in-app"],"documents":[{"doc_type":"org.iso.23220.photoid.1","elements":[{"namespace":\
        "org.iso.23220.1","identifier":"family_name_unicode","intent_to_retain":true,"required":false}],"age_over":[18]\
        }],"all_documents":false,"expires_in":60,"client_reference_id":"x","metadata":{"a":"\\u00e9\\ud83d\\ude00"}}
        """
      ), (.submit, #"{"protocol":"apple-in-app","data":{"encrypted_data":"{answer}"}}"#),
      (.submit, #"{"protocol":"apple-in-app","data":{"encrypted_data":"o2ZwYXJhbXOhZG1vZGUA"}}"#),
      (.submit, #"{"protocol":"openid4vp","data":{}}"#), (.cancel, ""), (.cancel, "{}"), (.redact, "{ }"),
      (.mockResponse, #"{"session":"{session}"}"#),
      (
        .mockResponse,
        """
        {"session":"{session}","variant":"element-changed","elements":{"org.iso.18013.5.1":{"given_name":null,\
        "family_name":"A\\nB","birth_date":{"full_date":"2010-01-31"},"portrait":{"bytes":"AAEC"}}}}
        """
      ),
      (
        .mockResponse,
        #"{"session":"{session}","elements":[{"namespace":"org.iso.18013.5.1","identifier":"given_name"}]}"#
      ), (.target, "/v1/verification_sessions?limit=2&starting_after={session}&status=verified"),
      (.target, "/v1/verification_sessions/{session}?expand[]=result"), (.target, "/v1/verification_reports/vr_x"),
      (.target, "http://localhost/v1/trust_anchors?a=%20+b"), (.target, "/openapi.json"), (.target, "/metrics"),
    ]
    return bodies.flatMap { action, body in
      (0...3).map { [UInt8(action.rawValue), UInt8($0)] + Array(body.utf8) }
    }
  }

  func run(_ input: [UInt8]) {
    var choices = Choices(input)
    let action = Action(rawValue: choices.byte() % Action.allCases.count) ?? .create
    let options = choices.byte()
    let bytes = choices.bytes
    let server = server
    blocking { await Self.run(server, action, options, bytes) }
  }

  private static func run(_ server: FuzzServer, _ action: Action, _ options: Int, _ bytes: [UInt8]) async {
    let handler = server.handler()
    let session = await server.makeSession(handler)
    let token = options & isClient != 0 ? session.secret : server.apiKey
    guard let request = await request(action, server, handler, session, token: token, bytes) else { return }
    var repeated = request
    if options & isRepeated != 0 {
      repeated.headers = HTTPHeaders(request.headers.fields + [(name: "Idempotency-Key", value: "key-1")])
    }
    let first = await server.answer(repeated, handler)
    let second = await server.answer(repeated, handler)
    if options & isRepeated != 0, options & isClient == 0, action != .target, action != .mockResponse,
      first.status < 300
    {
      require(second.status == first.status && second.body == first.body, "an Idempotency-Key gives the reply again")
    } else if action == .submit, first.status == 200 {
      require(second.status == 409, "a challenge is answered once")
    }
    let state = await server.answer(server.get("/v1/verification_sessions/\(session.id)"), handler)
    require(state.status == 200, "a session can be read after whatever was sent")
    let list = await server.answer(server.get("/v1/verification_sessions"), handler)
    require(list.status == 200, "and so can the list")
  }

  private static func request(
    _ action: Action, _ server: FuzzServer, _ handler: APIHandler, _ session: FuzzServer.Session, token: String,
    _ bytes: [UInt8]
  ) async -> HTTPRequest? {
    var body = bytes.replacing(Array("{session}".utf8), with: Array(session.id.utf8))
    let placeholder = Array("{answer}".utf8)
    if action == .submit, body.contains(placeholder) {
      body = body.replacing(
        placeholder, with: Array(await server.rightAnswer(to: session, handler).utf8), maxReplacements: 1)
    }
    let sessions = "/v1/verification_sessions"
    switch action {
    case .create: return server.post(sessions, token: token, body)
    case .submit: return server.post("\(sessions)/\(session.id)/submit", token: token, body)
    case .cancel: return server.post("\(sessions)/\(session.id)/cancel", token: token, body)
    case .redact: return server.post("\(sessions)/\(session.id)/redact", token: token, body)
    case .mockResponse: return server.post("/v1/test/mock_responses", token: token, body)
    case .target:
      guard let target = try? RequestTarget(body, method: "GET") else { return nil }
      return server.get(target.path, query: target.query, token: token)
    }
  }
}
