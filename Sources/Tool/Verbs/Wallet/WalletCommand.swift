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

/// `mdoc wallet`: a wallet that responds to a verifier's request, or refuses an invalid request.
enum WalletCommand {
  static let command = Command(
    "wallet", "respond to the request of a verifier that you test, as a wallet does",
    options: [.requestFile, .pageOrigin, .answerFile, .readerRoot, Despite.option, .yes, .mayTest]
      + MockCommand.provingOptions.filter { $0.name != Option.mockRequest.name },
    operand: Operand(
      placeholder: "LINK", help: "the link of a request, or a picture of its QR code (read by zbarimg)",
      isOptional: true),
    notes: [
      "The wallet fetches the request, and shows the client, the requested elements and every failed check. It asks "
        + "whether to respond, posts the response and follows the redirect.",
      "It refuses a request with a failed check, by the specification's error, unless --despite lists each code. Only "
        + "signers below --root are trusted; without --root only signatures are judged. The wallet fulfils a DCQL "
        + "query in full or not at all, and compares neither its values nor its trusted_authorities.",
      "Over the Digital Credentials API, give --request, the JSON that the page passes to the browser, with --origin. "
        + "The response is written to --out, or with --json printed.",
      "For a test server on this machine, the wallet has documents of that server's mock authority, unless --seed or "
        + "--issuer-key is given. Other verifiers must trust the certificates of mdoc mock anchors.",
      "Only this machine and the hosts of --i-may-test are visited.",
      "Exit status: 0 the verifier took the response, 1 it did not, or the wallet refused or declined, 64 usage, 65 a "
        + "file cannot be read, 75 the verifier cannot be reached.",
    ],
    examples: [
      .init("Respond to a link", "mdoc wallet 'openid4vp://?client_id=…&request_uri=http://127.0.0.1:8080/…'"),
      .init("Send a wrong response", "mdoc wallet --yes --variant device-signature-zero \"$LINK\""),
      .init("Respond to the QR code of a page", "mdoc wallet screenshot.png"),
      .init(
        "Respond to a request of the Digital Credentials API",
        "mdoc wallet --yes --request request.json \\\n  --origin https://shop.example --out response.json"),
    ], action: run)

  private static func run(_ arguments: Arguments) async throws(Failure) -> ExitStatus {
    let variant = try MockCommand.variant(arguments)
    let despite = try Despite(arguments)
    let now = try arguments.time(.at)
    let visit = try WalletVisit(hosts: arguments.values(.mayTest))
    let request = try await request(arguments, visit)
    var (wallet, issuer) = try await wallet(for: request, visit, arguments)
    try MockCommand.requireSigning(wallet)
    wallet.answersOnlyInFull = variant.name == MockVariant.good.name
    let judgement = RequestJudgement(
      of: request.content, arrived: request.arrival,
      roots: try FoundCertificate.certificates(in: arguments.values(.readerRoot)), at: now)

    let shown = request.report(judgement) + [.row("Documents of", issuer, as: "issuer")]
    if !arguments.has(.json) { arguments.console.print(shown) }
    let answer: Answer
    if let fault = despite.faults(of: judgement).first {
      answer = .error(WalletError(for: fault.code), "refused", of: fault.code)
    } else if try !agrees(arguments) {
      answer = .error(.accessDenied, "declined")
    } else {
      do {
        answer = .response(try request.response(judgement, of: wallet, variant: variant, at: now))
      } catch MockError.noRequestedDocument {
        answer = .error(.accessDenied, "the wallet does not have what is required")
      } catch MockError.unreadableRequest(let reason) {
        answer = .error(.invalidRequest, reason)
      } catch let error as MockError {
        throw .usage(error.description)
      } catch {
        throw .internal("the response could not be made: \(error)")
      }
    }
    let (report, status) = try await deliver(answer, to: request, judgement, variant, visit, arguments)
    if arguments.has(.json) { arguments.console.print((shown + report).json) } else { arguments.console.print(report) }
    return status
  }

  private static func request(_ arguments: Arguments, _ visit: WalletVisit) async throws(Failure) -> ReceivedRequest {
    switch (arguments.operand, arguments.value(.requestFile)) {
    case (let link?, nil):
      for option in [Option.pageOrigin, .answerFile] where arguments.has(option) {
        throw .usage("--\(option.name) is for --request")
      }
      let authority = try MockCommand.authority(arguments)
      let key = try MockCommand.made { try MockRequestKey(of: authority) }
      return try await ReceivedRequest(link: link, visit, encryptedTo: key)
    case (nil, let path?):
      guard let origin = arguments.value(.pageOrigin) else { throw .usage("--request needs the page's --origin") }
      guard arguments.has(.answerFile) || arguments.has(.json) else {
        throw .usage("--request needs --out for the response, or --json")
      }
      let bytes = try FileAccess.read(path, purpose: "request")
      let json = try readable("request \(path): ") { try JSON(parsing: bytes) }
      let requests = json["requests"]?.array ?? json["digital"]?["requests"]?.array ?? [json]
      let known = requests.lazy.compactMap { entry in
        ReceivedRequest(protocolName: entry["protocol"]?.string ?? "", data: entry["data"] ?? .null, origin: origin)
      }
      guard let request = known.first else {
        throw .unreadable("request \(path): has no known protocol with its data")
      }
      return request
    default: throw .usage("give either a link or --request FILE")
    }
  }

  /// Asks the person for consent; true without asking if `--yes` is given.
  private static func agrees(_ arguments: Arguments) throws(Failure) -> Bool {
    if arguments.has(.yes) { return true }
    guard isatty(STDIN_FILENO) == 1, !arguments.has(.json) else {
      throw .usage("there is no terminal to ask on; give --yes to respond without being asked")
    }
    arguments.console.printError("Respond? [y/N]")
    return ["y", "yes"].contains(readLine()?.lowercased())
  }

  /// A wallet of the authority that the options specify, or else of the requesting test server's authority. `issuer`
  /// describes the authority.
  private static func wallet(
    for request: ReceivedRequest, _ visit: WalletVisit, _ arguments: Arguments
  ) async throws(Failure) -> (MockWallet, issuer: String) {
    if arguments.has(.issuerKey) { return (try MockCommand.wallet(arguments), "the signer of --issuer-chain") }
    guard !arguments.has(.seed), let address = request.address, (try? visit.isHere(address)) == true,
      let reply = try? await visit.exchange(
        WebMessage(body: nil), with: Self.origin(of: address) + "/playground/config.json"),
      let mock = reply.json?["mock"], let seed = mock["seed"]?.string.flatMap(Hex.decode),
      let lists = mock["lists"]?.string
    else { return (try MockCommand.wallet(arguments), "the mock authority of mdoc mock anchors") }
    let authority = try MockCommand.authority(arguments, seed: seed, lists: lists)
    return (try MockCommand.wallet(arguments, of: authority), "the test server's mock authority")
  }

  /// The address's scheme, host and port.
  private static func origin(of address: String) -> String {
    address.split(separator: "/", omittingEmptySubsequences: false).prefix(3).joined(separator: "/")
  }

  // MARK: Answers

  /// The wallet's response or error.
  private enum Answer {
    case response(MockWebResponse)
    /// The text states the reason.
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
      report = [.row("Responded with", variant.name, as: "answered")]
    case .error(let error, let reason, let code):
      let state = judgement.claims?["state"]?.string.map { JSON.string($0) }
      fields = .members(["error": .string(error.rawValue), "state": request.protocolName == nil ? state : nil])
      report = [
        .row("Refused with", "\(error.rawValue): \(code?.rawValue ?? reason)", as: "error", error.rawValue)
      ]
      isRight = false
    }
    if let name = request.protocolName {
      let json: JSON = ["protocol": .string(name), "data": fields]
      report.append(.member("response", json))
      if let path = arguments.value(.answerFile) {
        try FileAccess.write(json.fileContent, to: path)
        report.append(.row("Written", path, as: "file"))
      }
      return (report, isRight ? .done : .rejected)
    }
    guard let address = judgement.claims?["response_uri"]?.string else {
      return (report + [.line("The request has no response_uri, so nothing was sent.")], .rejected)
    }
    if case .error = answer, !judgement.isClientKnown {
      return (report + [.line("Nothing was sent, since the request does not prove who owns response_uri.")], .rejected)
    }
    let reply = try await visit.post(fields, to: address)
    report.append(.row("The verifier replied", reply.text, as: "status", reply.status))
    report.append(.member("code", reply.code))
    if let redirect = reply.redirect {
      report.append(.row("It leads to", redirect, as: "redirect_uri"))
      // The verifier has the response, even if the redirect fails.
      let outcome: String
      do throws(Failure) { outcome = try await visit.follow(redirect).text } catch { outcome = error.message }
      report.append(.row("which replied", outcome, as: "redirect_reply"))
    }
    return (report, isRight && reply.isSuccess ? .done : .rejected)
  }
}

extension Option {
  fileprivate static let requestFile = Option(
    "request", "FILE", "the JSON of a Digital Credentials API request: an entry with protocol and data, or several")
  fileprivate static let answerFile = Option("out", "FILE", "where to write the response to --request")
  fileprivate static let readerRoot = Option(
    "root", "PEM", "a signer that the wallet knows, or an authority that signers chain to", occurrence: .repeatable)
  fileprivate static let yes = Option(flag: "yes", "respond without asking")
  static let mayTest = Option(
    "i-may-test", "HOST", "another machine that you may test", occurrence: .repeatable)
}
