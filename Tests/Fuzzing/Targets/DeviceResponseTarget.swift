import Base
import CBOR
import FuzzDriver
import Mdoc
import Presentation
import Vectors

/// A DeviceResponse through the whole verifier, with the corpus's trust, time, transcript and requests.
///
/// Options: strictness, the reader's key, signing again, the revocation policy (no status is known), and the request.
struct DeviceResponseTarget: FuzzTarget {
  static let name = "device-response"
  static let dictionary = ResponseWords.all
  static let choicesBeforeCBOR: Int? = 2
  static let longest: Int? = 4 << 10

  private static let strict = 1
  private static let readerKey = 2
  private static let resigned = 4
  private static let revocation: [RevocationPolicy] = [.off, .allowUndetermined, .requireGood]

  private let material: Material
  private let transcript: SessionTranscript
  private var signed = SignedParts()

  init(_ material: Material) throws {
    self.material = material
    guard let first = material.proximityVectors.first else { throw MaterialError.missing("an answer in proximity") }
    transcript = try SessionTranscript(encoded: first.session.transcript)
    for (vector, _) in material.proximityVectors {
      let bytes = vector.input.bytes
      guard let item = try? CBORItem(parsing: bytes) else { continue }
      signed.note(item, judge(bytes, options: Self.readerKey, nil))
    }
  }

  var seeds: [[UInt8]] {
    material.proximityVectors.filter { !$0.vector.input.isGenerated }.flatMap { vector, session in
      var options = vector.policy.isStrict ? Self.strict : 0
      if session.readerKey != nil { options |= Self.readerKey }
      return [options, options | Self.resigned, options | Self.resigned | 1 << 4].map {
        [UInt8($0), UInt8(material.requestIndex(of: vector))] + vector.input.bytes
      }
    }
  }

  func run(_ input: [UInt8]) {
    var choices = Choices(input)
    let options = choices.byte()
    let request = material.requests[choices.byte() % material.requests.count]
    let isResigned = options & Self.resigned != 0
    let bytes =
      isResigned ? material.resigner.resigned(choices.bytes, transcript: transcript.encoded) : choices.bytes
    let verdict = judge(bytes, options: options, request)
    Tally.count(Self.stage(verdict))
    signed.check(verdict, on: try? CBORItem(parsing: bytes), isResigned: isResigned, at: material.now)
    let laxest = options & (Self.readerKey | Self.resigned)
    if options != laxest, case .accepted = verdict.outcome {
      guard case .accepted = judge(bytes, options: laxest, request).outcome else {
        fatalError("broken rule: what is accepted by strict rules is accepted by others")
      }
    }
  }

  /// The stage that a response reached.
  private static func stage(_ verdict: Verdict) -> String {
    switch verdict.outcome {
    case .accepted: "accepted"
    case .refused(let reasons): reasons.first?.code.rawValue ?? "refused"
    }
  }

  private func judge(_ bytes: [UInt8], options: Int, _ request: PresentationRequest?) -> Verdict {
    let verifier = material.verifier(
      isStrict: options & Self.strict != 0, revocation: Self.revocation[options >> 4 % Self.revocation.count])
    return Proximity(verifier: verifier).authenticate(
      bytes, transcript: transcript, readerKey: options & Self.readerKey != 0 ? material.resigner.readerKey : nil,
      request: request, at: material.now
    ).conclude()
  }
}

/// Names of the data model.
enum ResponseWords {
  static let all = [
    "version", "documents", "documentErrors", "status", "docType", "issuerSigned", "issuerAuth", "nameSpaces",
    "deviceSigned", "deviceAuth", "deviceSignature", "deviceMac", "digestID", "random", "elementIdentifier",
    "elementValue", "digestAlgorithm", "valueDigests", "deviceKeyInfo", "deviceKey", "keyAuthorizations", "keyInfo",
    "dataElements", "validityInfo", "signed", "validFrom", "validUntil", "expectedUpdate", "SHA-256", "SHA-384",
    "SHA-512", "org.iso.18013.5.1", "org.iso.18013.5.1.mDL", "org.iso.23220.1", "birth_date", "expiry_date",
    "issuing_country", "issuing_jurisdiction", "age_in_years", "age_birth_year", "age_over_21", "portrait",
    "driving_privileges", "errors", "\\xd8\\x18\\x58", "\\xd9\\x03\\xec\\x6a", "\\xc0\\x74",
  ]
}
