import Base
import Mdoc
import Network
import PKIX
import Sessions
import Trust

/// `mdoc verify`: judges an answer from files.
enum VerifyCommand {
  static let command = Command(
    "verify", "verify a wallet's answer from files",
    verbs: [VerifyApple.command, VerifyResponse.command, VerifyReader.command, VerifyBundle.command])

  /// The exit statuses of a verdict, for the help.
  static let status =
    "Exit status: 0 verified, 1 rejected or declined, 3 verified but nothing was disclosed, 64 usage, 65 one of your files "
    + "cannot be read."

  static func verifier(_ arguments: ParsedArguments) throws(Failure) -> MdocVerifier {
    MdocVerifier(
      trust: try TrustFiles.store(arguments.values(.trust)), clockSkew: try arguments.clockSkew(),
      isStrict: arguments.has(.strict), revocation: try RevocationOptions.policy(arguments))
  }

  /// Prints a verdict and turns it into an exit status.
  ///
  /// - Parameter questions: the revocation questions. Their addresses are printed, because the user who supplies lists
  ///   needs them.
  static func conclude(
    _ verdict: Verdict, asked questions: [RevocationQuestion], _ arguments: ParsedArguments, _ console: Console
  ) -> ExitStatus {
    let json = VerdictRendering.json(verdict)
    let lists = questions.flatMap(\.addresses)
    if arguments.has(.json) {
      let asked = lists.isEmpty ? [] : [JSON.Member("lists_asked", .array(lists.map { .string($0) }))]
      console.print(.object((json.object ?? []) + asked))
    } else {
      let text = VerdictText(json: json, width: console.width, style: Style(isColored: console.isColored)).text
      let asked =
        lists.isEmpty ? "" : "\n\nLists asked about revocation" + lists.map { "\n  " + Printable.line($0) }.joined()
      console.print(text + asked)
    }
    guard case .accepted(let presentation) = verdict.outcome else { return .rejected }
    return presentation.disclosesSomething ? .done : .nothingDisclosed
  }
}

extension RevocationQuestion {
  /// The addresses of the lists that answer it.
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
    "Revocation is asked about with --revocation. The lists come from the files that --list names, each under the address "
    + "that the certificates or the document state; nothing is fetched without --fetch. What neither gives is "
    + "undetermined, which require_good rejects."

  static func policy(_ arguments: ParsedArguments) throws(Failure) -> RevocationPolicy {
    let name = try arguments.required(.revocation)
    guard let policy = RevocationPolicy(rawValue: name) else { throw .internal("--revocation took \(name)") }
    guard policy != .off || arguments.values(.list).isEmpty && !arguments.has(.fetch) else {
      throw .usage("--list and --fetch are of no use without --revocation require_good or allow_undetermined")
    }
    return policy
  }

  static func source(_ arguments: ParsedArguments) throws(Failure) -> any RevocationSource {
    guard try policy(arguments) != .off else { return NoRevocationSource() }
    var lists = StaticListFetcher()
    for text in arguments.values(.list) {
      // The last equals sign separates, since an address may have others in its query.
      guard let equals = text.lastIndex(of: "="), equals > text.startIndex, text.index(after: equals) < text.endIndex
      else { throw .usage("--list is ADDRESS=FILE, not \"\(text)\"") }
      let address = String(text[..<equals])
      guard lists[address] == nil else { throw .usage("--list gives \(address) twice") }
      let bytes = try FileAccess.read(String(text[text.index(after: equals)...]), purpose: "list")
      lists[address] = .success(FetchedList(bytes: bytes))
    }
    return RevocationChecker(fetcher: try fetcher(lists, mayFetch: arguments.has(.fetch)))
  }

  private static func fetcher(_ lists: StaticListFetcher, mayFetch: Bool) throws(Failure) -> any ListFetcher {
    guard mayFetch else { return lists }
    do throws(WebListFetcher.StartError) {
      return FilesThenWeb(lists: lists, web: try WebListFetcher())
    } catch {
      throw .temporary("nothing can be fetched: \(error.description)")
    }
  }

  /// For an address with a file, only the file counts. All other addresses are fetched from the web.
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
  fileprivate static let revocation = Option(
    "revocation", "POLICY",
    "whether the signer or document may be revoked: require_good (what is undetermined is rejected), "
      + "allow_undetermined (it warns) or off (nothing is asked)",
    fallback: RevocationPolicy.off.rawValue, choices: RevocationPolicy.allCases.map(\.rawValue))
  fileprivate static let list = Option(
    "list", "ADDRESS=FILE", "a revocation or status list, and the address that it would be fetched from",
    occurrence: .repeatable)
  fileprivate static let fetch = Option(
    flag: "fetch", "fetch lists that no --list gives; their publishers see the request")
}
