import App
import Base
import Cryptography
import Glibc
import Mdoc
import Mock
import Network
import PKIX
import Presentation
import Vectors

/// `mdoc wallet`: a wallet that answers a verifier's request, rightly or wrongly, and refuses what wallets must refuse.
enum WalletCommand {
  static let command = Command(
    "wallet", "answer the request of a verifier that you test, as a wallet does",
    options: [.requestFile, .pageOrigin, .answerFile, .readerRoot, .despite, .yes, .mayTest]
      + MockCommand.provingOptions.filter { $0.name != Option.mockRequest.name },
    operand: Operand(
      placeholder: "LINK", help: "the link of a request, or a picture of its QR code (read by zbarimg)",
      isOptional: true),
    notes: [
      "The wallet fetches the request, shows who asks for what, and what is wrong with the request by the standard. "
        + "It asks whether to answer, posts the response and follows the redirect.",
      "It refuses a request with a failed check, with the error that the specification names, unless --despite names "
        + "each code. Signers are known to it by --root; without --root it knows none, and judges only signatures. It "
        + "answers a DCQL query in full or not at all.",
      "Over the Digital Credentials API, give --request, the JSON that the page passes to the browser, with --origin. "
        + "The response is written to --out.",
      "If the verifier is a test server on this machine, the wallet has documents of its mock authority, unless "
        + "--seed or --issuer-key says otherwise. Other verifiers must trust the certificates of mdoc mock anchors.",
      "Only this machine is visited, and hosts that --i-may-test names.",
      "Exit status: 0 the verifier took the response, 1 it did not, or the wallet refused or declined, 64 usage, 65 a "
        + "file cannot be read, 75 the verifier cannot be reached.",
    ],
    examples: [
      .init("Answer a link", "mdoc wallet 'openid4vp://?client_id=…&request_uri=http://127.0.0.1:8080/…'"),
      .init("Answer wrongly", "mdoc wallet --yes --variant device-signature-zero \"$LINK\""),
      .init("Answer the QR code of a page", "mdoc wallet screenshot.png"),
      .init(
        "Answer a request of the Digital Credentials API",
        "mdoc wallet --yes --request request.json --origin https://shop.example --out response.json"),
    ], action: run)

  private static func run(_ arguments: Arguments) async throws(Failure) -> ExitStatus {
    let despite = try codes(arguments)
    let variant = try MockCommand.variant(arguments)
    let now = try arguments.time(.at)
    let visit = try WalletVisit(hosts: arguments.values(.mayTest))
    let request = try await ReceivedRequest(arguments, visit)
    var wallet = try await wallet(for: request, visit, arguments)
    wallet.answersOnlyInFull = variant.name == MockVariant.good.name
    let judgement = RequestJudgement(
      of: request.content, arrived: request.arrival,
      roots: try FoundCertificate.certificates(in: arguments.values(.readerRoot)), at: now)

    var shown = request.report(judgement)
    if !arguments.has(.json) { arguments.console.print(shown) }
    let faults = judgement.faults.filter { !despite.contains($0.code) }
    let answer: Answer
    if let fault = faults.first {
      answer = .error(WalletError(for: fault.code), "refused", of: fault.code)
    } else if try !agrees(arguments) {
      answer = .error(.accessDenied, "declined")
    } else {
      do {
        answer = .response(try request.response(of: wallet, variant: variant, at: now))
      } catch MockError.noRequestedDocument {
        answer = .error(.accessDenied, "the wallet does not have what is required")
      } catch let error as MockError {
        throw .usage(error.description)
      } catch {
        throw .internal("the response could not be made: \(error)")
      }
    }
    let (report, status) = try await deliver(answer, to: request, judgement, variant, visit, arguments)
    shown += report
    if arguments.has(.json) { arguments.console.print(shown.json) } else { arguments.console.print(report) }
    return status
  }

  private static func codes(_ arguments: Arguments) throws(Failure) -> [Code] {
    var codes: [Code] = []
    for name in arguments.values(.despite) {
      guard let code = Code(rawValue: name) else {
        throw .unknown("code", name, among: Code.allCases.map(\.rawValue), or: " (mdoc codes lists them)")
      }
      codes.append(code)
    }
    return codes
  }

  /// Whether the person agrees.
  private static func agrees(_ arguments: Arguments) throws(Failure) -> Bool {
    if arguments.has(.yes) { return true }
    guard isatty(STDIN_FILENO) == 1, !arguments.has(.json) else {
      throw .usage("there is no terminal to ask on; give --yes to answer without being asked")
    }
    arguments.console.printError("Answer? [y/N]")
    return ["y", "yes"].contains(readLine()?.lowercased())
  }

  /// A wallet of the authority that the options name; otherwise of the test server that sends the request.
  private static func wallet(
    for request: ReceivedRequest, _ visit: WalletVisit, _ arguments: Arguments
  ) async throws(Failure) -> MockWallet {
    let isNamed = [Option.seed, .lists, .issuerKey].contains(where: arguments.has)
    guard !isNamed, let address = request.address,
      let reply = try? await visit.exchange(
        WebMessage(body: nil), with: Self.origin(of: address) + "/playground/config.json"),
      let mock = reply.json?["mock"], let seed = mock["seed"]?.string.flatMap(Hex.decode),
      let lists = mock["lists"]?.string
    else { return try MockCommand.wallet(arguments) }
    let authority = try MockCommand.authority(arguments, seed: seed, lists: lists)
    return try MockCommand.wallet(arguments, of: authority)
  }

  /// Scheme, host and port.
  private static func origin(of address: String) -> String {
    address.split(separator: "/", omittingEmptySubsequences: false).prefix(3).joined(separator: "/")
  }

  // MARK: Answers

  /// What the wallet sends.
  private enum Answer {
    case response(MockWebResponse)
    /// The text says why.
    case error(WalletError, String, of: Code? = nil)
  }

  private static func deliver(
    _ answer: Answer, to request: ReceivedRequest, _ judgement: RequestJudgement, _ variant: MockVariant,
    _ visit: WalletVisit, _ arguments: Arguments
  ) async throws(Failure) -> (report: [Report], status: ExitStatus) {
    let fields: JSON
    var report: [Report]
    var isRight = true
    switch answer {
    case .response(let response):
      fields = response.data
      report = [.row("Answered", variant.name, as: "answered")]
    case .error(let error, let reason, let code):
      let state = judgement.claims?["state"]?.string.map { JSON.string($0) }
      fields = .members(["error": .string(error.rawValue), "state": request.isOverBrowser ? nil : state])
      report = [
        .row("Not answered", "\(error.rawValue): \(code?.rawValue ?? reason)", as: "error", error.rawValue)
      ]
      isRight = false
    }
    if let name = request.protocolName {
      let json: JSON = ["protocol": .string(name), "data": fields]
      if let path = arguments.value(.answerFile) {
        try FileAccess.write(json.fileContent, to: path)
        report.append(.row("Written", path, as: "file"))
      } else {
        report.append(.member("response", json))
        report.append(.verbatim(json.text()))
      }
      return (report, isRight ? .done : .rejected)
    }
    guard let address = judgement.claims?["response_uri"]?.string else {
      return (report + [.line("The request names no response_uri, so nothing was sent.")], .rejected)
    }
    if case .error = answer, !judgement.faults.filter({ $0.code.concernsClient }).isEmpty {
      return (report + [.line("Nothing was sent, since it is not sure whose response_uri it is.")], .rejected)
    }
    let reply = try await visit.post(fields, to: address)
    report.append(.row("The verifier replied", reply.text, as: "status", reply.status))
    if let redirect = reply.redirect {
      report.append(.row("It leads to", redirect, as: "redirect_uri"))
      if (try? visit.check(redirect)) != nil {
        report.append(.row("which replied", try await visit.follow(redirect).text, as: "redirect_reply"))
      }
    }
    return (report, isRight && reply.isSuccess ? .done : .rejected)
  }
}

/// A request as it reached the wallet, by a link or from a page.
private struct ReceivedRequest {
  let content: RequestJudgement.Content
  let arrival: RequestJudgement.Arrival
  /// The link as it was given; empty over the Digital Credentials API.
  private var link = ""
  /// `data` of the Digital Credentials API.
  private var data: JSON?

  /// The protocol over the Digital Credentials API; nil for a link.
  var protocolName: String? { arrival.protocolName }
  var isOverBrowser: Bool { protocolName != nil }
  /// The address of the verifier; nil over the Digital Credentials API.
  var address: String? { arrival.link.flatMap { $0.requestURI ?? $0["response_uri"]?.string } }

  init(_ arguments: Arguments, _ visit: WalletVisit) async throws(Failure) {
    switch (arguments.operand, arguments.value(.requestFile)) {
    case (let operand?, nil):
      for option in [Option.pageOrigin, .answerFile] where arguments.has(option) {
        throw .usage("--\(option.name) is for --request")
      }
      link = try await Self.link(operand)
      guard let read = AuthorizationLink(link) else {
        throw .unreadable("\(operand.printableLine): is not a link with a request")
      }
      let key = try MockCommand.made { try MockRequestKey(of: try MockCommand.authority(arguments)) }
      let fetched = try await visit.request(of: read, encryptedTo: key)
      (content, arrival) = (fetched.content, fetched.arrival)
    case (nil, let path?):
      guard let origin = arguments.value(.pageOrigin) else { throw .usage("--request needs the page's --origin") }
      let json = try readable("request \(path): ") {
        try JSON(parsing: try FileAccess.read(path, purpose: "request"))
      }
      let requests = json["requests"]?.array ?? json["digital"]?["requests"]?.array ?? [json]
      let found = requests.lazy.compactMap { entry in
        Self.content(of: entry).map { ($0, entry["protocol"]?.string, entry["data"]) }
      }.first
      guard let (content, name, data) = found else {
        throw .unreadable("request \(path): has no protocol and data that a wallet knows")
      }
      (self.content, self.data) = (content, data)
      arrival = .init(protocolName: name, origin: origin)
    default: throw .usage("give either a link or --request FILE")
    }
  }

  /// What an entry of the Digital Credentials API asks; nil for a protocol that the wallet does not know.
  private static func content(of entry: JSON) -> RequestJudgement.Content? {
    guard let data = entry["data"] else { return nil }
    switch entry["protocol"]?.string {
    case "openid4vp-v1-unsigned": return .parameters(data)
    case "openid4vp-v1-signed", "openid4vp-v1-multisigned":
      return data["request"].map { .object($0.string.map { Array($0.utf8) } ?? $0.serialized()) }
    case "org-iso-mdoc":
      let request = data["deviceRequest"]?.string.flatMap(Base64.decodeURLSafe)
      return request.map { .deviceRequest($0, encryptionInfo: data["encryptionInfo"]?.string) }
    default: return nil
    }
  }

  /// The operand, or the link in the picture that it names.
  private static func link(_ text: String) async throws(Failure) -> String {
    if AuthorizationLink(text) != nil { return text }
    guard FileAccess.exists(text) else {
      throw .usage("\(text.printableLine) is neither a link with a request nor a file")
    }
    let quoted = "'" + text.replacing("'", with: "'\\''") + "'"
    let line: [UInt8]
    do throws(VerdictError) {
      line = try await HarnessChild.line(of: "exec zbarimg --quiet --raw --oneshot -- \(quoted)")
    } catch {
      throw .unreadable(
        "\(text.printableLine): zbarimg (Debian: zbar-tools) found no QR code in it, or is not installed")
    }
    return String(decoding: line, as: UTF8.self)
  }

  /// The request object, or the link that holds the request.
  private var bytes: [UInt8] {
    if case .object(let object) = content { object } else { Array(link.utf8) }
  }

  func response(of wallet: MockWallet, variant: MockVariant, at now: Timestamp) throws -> MockWebResponse {
    guard let protocolName, let data else {
      return try wallet.answer(requestObject: bytes, variant: variant, at: now)
    }
    return try wallet.answer(
      digitalCredential: protocolName, data: data, origin: arrival.origin ?? "", variant: variant, at: now)
  }

  /// Who asks for what, and what is wrong with the request.
  func report(_ judgement: RequestJudgement) -> [Report] {
    let asked =
      protocolName.flatMap { name in try? MockRequest(ofDigitalCredential: name, data: data ?? .null) }
      ?? (try? MockRequest(ofRequestObject: bytes))
    let documents = (asked?.documents ?? []).map { document in
      (document.docType, document.elements.map(\.identifier).joined(separator: ", "))
    }
    let findings = judgement.checks.filter { $0.outcome == .failed || $0.outcome == .warning }
    return [
      .row("Asked by", judgement.client.id ?? "a party without a name", as: "client", judgement.client.id),
      .row("Signed by", judgement.client.certificates.first?.subject.text, as: "signer"),
      .member(
        "documents",
        documents.map { JSON.of(["doc_type": $0.0, "elements": $0.1]) }),
      .page([.heading("Asked for"), .table(documents)]),
      .listed(findings.isEmpty ? "The request is right" : "Findings about the request", findings),
    ]
  }
}

extension Option {
  fileprivate static let requestFile = Option(
    "request", "FILE", "the JSON of a Digital Credentials API request: an entry with protocol and data, or several")
  fileprivate static let pageOrigin = Option("origin", "ORIGIN", "the page's origin, such as https://shop.example")
  fileprivate static let answerFile = Option("out", "FILE", "write the response there (default: print it)")
  fileprivate static let readerRoot = Option(
    "root", "PEM", "a signer that the wallet knows, or an authority that signers chain to", occurrence: .repeatable)
  static let despite = Option(
    "despite", "CODE", "answer though this check of the request fails", occurrence: .repeatable)
  fileprivate static let yes = Option(flag: "yes", "answer without asking")
  static let mayTest = Option(
    "i-may-test", "HOST", "another machine that you may test", occurrence: .repeatable)
}

extension Code {
  /// Whether a request with this fault leaves open whose request it is, so that no error may be sent either.
  fileprivate var concernsClient: Bool {
    CodeGroup.readerAuthentication.codes.contains(self)
      || rawValue.hasPrefix("request.client_id") || rawValue.hasPrefix("request.response_uri")
  }
}
