import App
import Base
import Cryptography
import Mdoc
import Network
import PKIX
import Presentation
import Sessions
import Trust

enum VerifyCommand {
  static let command = Command(
    "verify", "verify a wallet's response from files",
    verbs: [
      VerifyApple.command, VerifyResponse.command, VerifyReader.command, VerifyRequest.command,
      VerifyBundle.command,
    ])

  /// The help text about a verdict's exit statuses.
  static let status =
    "Exit status: 0 verified, 1 rejected or declined, 3 verified but nothing was disclosed, 64 usage, 65 one of your "
    + "files cannot be read."

  static func verifier(_ arguments: Arguments) throws(Failure) -> MdocVerifier {
    MdocVerifier(
      trust: try arguments.trustStore(), clockSkew: try arguments.clockSkew(),
      isStrict: arguments.has(.strict), revocation: try RevocationOptions.policy(arguments))
  }

  /// The options for the output of a verdict.
  static let output: [Option] = [.everyCheck, .htmlReport, .json]

  /// Prints the report, with all checks only if `--all` is given. Also writes the HTML page of `--html`. The page ends
  /// with the SHA-256 of each input file.
  static func publish(
    _ report: [Report], kind: String, files: [Option], _ arguments: Arguments
  ) throws(Failure) {
    let folds = !arguments.has(.everyCheck)
    if arguments.has(.json) {
      arguments.print(report)
    } else {
      let hint: [Report] = folds ? [.section([.line(.faint("--all shows every check."))])] : []
      arguments.console.print(report + hint, folding: folds)
    }
    guard let path = arguments.value(.htmlReport) else { return }
    var hashes: [(String, String)] = []
    let named = files.flatMap { option in arguments.values(option).map { (option.name, $0) } }
    for (name, file) in named + arguments.operands.map({ ("file", $0) }) where AuthorizationLink(file) == nil {
      // Omits pipes, which cannot be read twice, and files that are too long to be read whole.
      let bytes = try FileAccess.readPrefix(file, purpose: name)
      guard !bytes.isEmpty, bytes.count <= FileAccess.limit else { continue }
      hashes.append((name, "\(file), SHA-256 \(Hex.encode(HashAlgorithm.sha256.hash(bytes)))"))
    }
    let page = report + [.section([.heading("Files"), .table(hashes)])]
    try FileAccess.writePersonal(HTMLPrinter.page(page, kind: kind).bytes, to: path)
  }

  /// The HTML page's section about the request.
  static func asked(_ request: PresentationRequest?) -> Report {
    guard let request else {
      return .page([.heading("Asked for"), .line("No request was given, so every verified element is shown.")])
    }
    let documents = request.documents.map { document -> (String, String) in
      let elements = document.elements.map {
        "\($0.element.identifier)\($0.isRequired ? "" : " (optional)")"
      }
      let ages = document.ageThresholds.map {
        "at least \($0) years old\($0 == document.minimumAge ? " (required)" : "")"
      }
      return (document.docType, (elements + ages).joined(separator: ", "))
    }
    return .page([.heading("Asked for"), .table(documents)])
  }

  /// Gets the revocation lists, prints the verdict, and turns the verdict into an exit status. The lists' addresses are
  /// also printed, so that the user can supply the lists.
  static func conclude(
    _ authentication: consuming Authentication, of request: PresentationRequest?, files: [Option], at now: Timestamp,
    _ arguments: Arguments
  ) async throws(Failure) -> ExitStatus {
    let questions = authentication.questions
    let evidence = await (try RevocationOptions.source(arguments)).evidence(for: questions, at: now)
    let verdict = authentication.conclude(with: evidence)
    let json = VerdictRendering.json(verdict)
    let lists = questions.flatMap(\.addresses)
    let asked: [Report] =
      lists.isEmpty
      ? []
      : [
        .member("lists_asked", lists),
        .section([.line("Revocation lists")] + lists.map { .line("  \($0)") }),
      ]
    let text = VerdictText(json: json, showsImages: request != nil).report
    try publish(
      [.members(of: json)] + text.prefix(1) + [Self.asked(request)] + text.dropFirst() + asked,
      kind: "Report of a verification", files: files, arguments)
    guard case .accepted(let presentation) = verdict.outcome else { return .rejected }
    return presentation.disclosesSomething ? .done : .nothingDisclosed
  }
}

extension RevocationQuestion {
  /// The addresses of the question's revocation lists.
  fileprivate var addresses: [String] {
    switch subject {
    case .certificates: path.dropLast().flatMap(\.extensions.crlURIs)
    case .status(let reference): [reference.uri]
    }
  }
}

/// The sources of revocation lists for `mdoc verify`: files, and the web only with `--fetch`.
enum RevocationOptions {
  static let all: [Option] = [.revocation, .list, .fetch]

  static let note =
    "--revocation chooses the policy. Each --list maps an address in the certificates or the document to a file; only "
    + "--fetch uses the network. A list from neither source leaves the status undetermined, which require_good rejects."

  static func policy(_ arguments: Arguments) throws(Failure) -> RevocationPolicy {
    let name = try arguments.required(.revocation)
    guard let policy = RevocationPolicy(rawValue: name) else { throw .internal("--revocation took \(name)") }
    guard policy != .off || arguments.values(.list).isEmpty && !arguments.has(.fetch) else {
      throw .usage("--list and --fetch need --revocation require_good or allow_undetermined")
    }
    return policy
  }

  static func source(_ arguments: Arguments) throws(Failure) -> any RevocationSource {
    guard try policy(arguments) != .off else { return NoRevocationSource() }
    var lists = StaticListFetcher()
    for text in arguments.values(.list) {
      let (address, path) = try Arguments.pair(text, of: .list)
      guard lists[address] == nil else { throw .usage("--list gives \(address) twice") }
      lists[address] = .success(FetchedList(bytes: try FileAccess.read(path, purpose: "list")))
    }
    return RevocationChecker(fetcher: try fetcher(lists, mayFetch: arguments.has(.fetch)))
  }

  private static func fetcher(_ lists: StaticListFetcher, mayFetch: Bool) throws(Failure) -> any ListFetcher {
    guard mayFetch else { return lists }
    do throws(WebListFetcher.StartError) {
      return FilesThenWeb(lists: lists, web: try WebListFetcher())
    } catch {
      throw .temporary("lists cannot be fetched: \(error.description)")
    }
  }

  /// If an address has a file, only the file is used. All other addresses are fetched from the web.
  private struct FilesThenWeb: ListFetcher {
    let lists: StaticListFetcher
    let web: WebListFetcher

    func fetch(_ address: String, allowing rules: FetchRules) async throws(FetchError) -> FetchedList {
      if lists[address] != nil { return try await lists.fetch(address, allowing: rules) }
      return try await web.fetch(address, allowing: rules)
    }
  }
}

extension Option {
  static let everyCheck = Option(flag: "all", "print each check; without it, passed checks are counted by group")
  static let htmlReport = Option(
    "html", "FILE", "also write the report as a page to show and print; it has the verified values")

  fileprivate static let revocation = Option(
    "revocation", "POLICY",
    "how to treat revocation: require_good (rejects an undetermined status), allow_undetermined (only warns) or off "
      + "(does not check)",
    fallback: RevocationPolicy.off.rawValue, choices: RevocationPolicy.allCases.map(\.rawValue))
  fileprivate static let list = Option(
    "list", "ADDRESS=FILE", "a revocation or status list, and its address on the web",
    occurrence: .repeatable)
  fileprivate static let fetch = Option(
    flag: "fetch", "fetch lists that no --list gives; their publishers see the request")
}
