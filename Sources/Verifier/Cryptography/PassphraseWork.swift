import Base
import COpenSSL

/// How much work an encrypted key asks for before its passphrase can be tried: the file says, up to 2³¹ rounds.
enum PassphraseWork {
  /// Whether it is within our bounds: PBKDF2 and scrypt (RFC 8018, 6.2; RFC 7914, 7), and what was before them, which
  /// all have rounds as well. False for what is not read here: OpenSSL reads lengths in other forms than DER's.
  static func isBounded(_ encryptedKey: UnsafeRawBufferPointer) -> Bool {
    var outer = DERElements(encryptedKey)
    guard var info = outer.nested(.sequence), var algorithm = info.nested(.sequence),
      let identifier = algorithm.next(.object), var parameters = algorithm.nested(.sequence)
    else { return false }
    guard DERElements.isObject(identifier, NID_pbes2) else { return hasBoundedRounds(&parameters) }
    guard var derivation = parameters.nested(.sequence), let function = derivation.next(.object),
      var numbers = derivation.nested(.sequence)
    else { return false }
    return DERElements.isObject(function, NID_id_scrypt) ? hasBoundedSteps(&numbers) : hasBoundedRounds(&numbers)
  }

  /// Salt, rounds.
  private static func hasBoundedRounds(_ numbers: inout DERElements) -> Bool {
    guard numbers.next(.octetString) != nil, let rounds = numbers.number() else { return false }
    return rounds <= Limits.passphraseRounds
  }

  /// Salt, N, r, p.
  private static func hasBoundedSteps(_ numbers: inout DERElements) -> Bool {
    guard numbers.next(.octetString) != nil, let cost = numbers.number(), let size = numbers.number(),
      let parallel = numbers.number()
    else { return false }
    let (blocks, overflow) = cost.multipliedReportingOverflow(by: size)
    let (steps, secondOverflow) = blocks.multipliedReportingOverflow(by: parallel)
    return !overflow && !secondOverflow && steps <= Limits.passphraseSteps
  }
}
