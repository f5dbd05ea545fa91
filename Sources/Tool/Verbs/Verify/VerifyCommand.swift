import Base
import Mdoc
import PKIX
import Sessions

/// `mdoc verify`: judges an answer from files.
enum VerifyCommand {
  static let command = Command(
    "verify", "verify a wallet's answer from files",
    verbs: [VerifyApple.command, VerifyResponse.command, VerifyReader.command, VerifyBundle.command])

  /// How verdicts on answers end.
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
  /// - Parameter questions: what was asked about revocation: whoever supplies lists must know their addresses.
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
  /// Where the lists are that answer it.
  fileprivate var addresses: [String] {
    switch subject {
    case .certificates: path.dropLast().flatMap(\.extensions.crlURIs)
    case .status(let reference): [reference.uri]
    }
  }
}
