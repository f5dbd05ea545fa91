import Base
import Cryptography
import Mock

/// `mdoc mock apple`: the answer of a mock iPhone to an in-app request.
enum MockApple {
  static let command = Command(
    "apple", "make an answer to Apple's in-app request",
    options: [.nonce, .merchantID, .teamID, .recipient, .out] + MockCommand.walletOptions,
    notes: ["Same arguments, same bytes. The certificates carry a marker that live servers refuse."],
    examples: [
      .init(
        "A good answer, which mdoc verify apple then accepts",
        """
        mdoc mock apple --nonce 000102030405060708090a0b0c0d0e0f --merchant-id m \\
          --team-id t --recipient merchant.pem --out answer.cbor
        """),
      .init(
        "One whose device signature is wrong",
        "mdoc mock apple … --variant device-signature-zero --out bad.cbor"),
    ],
    action: run)

  private static func run(_ arguments: ParsedArguments, _ console: Console) throws(Failure) -> ExitStatus {
    let variant = try MockCommand.variant(arguments)
    let request = try MockRequestFile.request(arguments, for: .inApp, variant: variant)
    let wallet = try MockCommand.wallet(arguments)
    try MockCommand.requireSigning(wallet)
    let now = try arguments.time(.at)
    let path = try arguments.required(.recipient)
    let recipient = try KeyFile.publicKey(path)
    guard recipient.curve == .p256 else {
      throw .unreadable("key \(path): is on \(recipient.curve.rawValue); Apple encrypts to P-256 keys")
    }
    let session = MockAppleSession(
      nonce: try arguments.nonce(.nonce),
      merchantID: try arguments.required(.merchantID), teamID: try arguments.required(.teamID),
      recipientKey: recipient)
    let answer = try MockCommand.made {
      try wallet.answerApple(request, session: session, variant: variant, at: now)
    }
    try MockOutput.save(answer, made: now, arguments, console)
    return .done
  }
}

extension Option {
  fileprivate static let recipient = Option(
    "recipient", "FILE", "the merchant's encryption key in PEM: certificate, public or private key",
    occurrence: .required)
}
