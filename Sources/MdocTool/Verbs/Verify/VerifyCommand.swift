import Mdoc
import Primitives
import VerificationService

/// `mdoc verify`: judges an answer from files.
enum VerifyCommand {
  static let command = Command(
    "verify", "verify a wallet's answer from files", verbs: [VerifyApple.command, VerifyResponse.command])

  static func verifier(_ arguments: ParsedArguments) throws(Failure) -> MdocVerifier {
    MdocVerifier(
      trust: try TrustFiles.store(arguments.values(.trust)), clockSkew: try arguments.clockSkew(),
      isStrict: arguments.has(.strict))
  }

  /// Prints a verdict and turns it into an exit status.
  static func conclude(_ verdict: Verdict, _ arguments: ParsedArguments, _ console: Console) -> ExitStatus {
    let json = VerdictRendering.json(verdict)
    if arguments.has(.json) {
      console.print(json)
    } else {
      console.print(VerdictText(json, width: console.width, style: Style(isColored: console.isColored)).text)
    }
    if case .accepted = verdict.outcome { return .done }
    return .rejected
  }
}
