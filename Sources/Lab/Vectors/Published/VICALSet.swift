import Base
import PKIX
import Trust

/// The VICALs that AAMVA's digital trust service published, each in its day and beyond it.
struct VICALSet: PublishedSet {
  let name = "vical"

  private static let first = "aamva-vical-2024-09-24"
  private static let second = "aamva-vical-2025-11-18-1763491092481"
  private static let issued = [first: "2024-09-24T17:37:31Z", second: "2025-11-18T18:38:12Z"]

  private struct Example {
    let id: String
    let description: String
    let list: String
    /// Seconds after the list was issued.
    var age: Int64 = 0
    var root = "aamva-dts-root.pem"
    /// The list that was accepted before.
    var before: String?
    var isTampered = false
    var codes: [Code] = []
  }

  private static let examples = [
    Example(id: "2024", description: "Three authorities, when it was issued.", list: first),
    Example(id: "2025", description: "Fourteen authorities, when it was issued.", list: second),
    Example(id: "2025-after-2024", description: "The next list.", list: second, before: first),
    Example(id: "last-second", description: "The last second before the next update.", list: second, age: 86_400),
    Example(
      id: "expired", description: "One second after the next update was due.", list: second, age: 86_401,
      codes: [.listExpired]),
    Example(
      id: "issued-in-future", description: "More than the clock skew before it was issued.", list: second, age: -61,
      codes: [.listIssuedInFuture]),
    Example(
      id: "rollback", description: "The older list after the newer one.", list: first, before: second,
      codes: [.listRollback]),
    Example(
      id: "tampered", description: "The last byte of the signature is changed.", list: second, isTampered: true,
      codes: [.listSignatureInvalid]),
  ]

  func isHere(_ folder: SuiteFolder) -> Bool { folder.has(Self.first + ".cbor") && folder.has(Self.second + ".cbor") }

  func cases(in folder: SuiteFolder) throws(SuiteError) -> [PublishedCase] {
    var cases: [PublishedCase] = []
    for example in Self.examples {
      let root = PEM.certificates(in: String(decoding: try folder.read(example.root), as: UTF8.self))?.first ?? []
      guard let anchor = try? Certificate(der: root), let issued = Self.time(example.list) else {
        throw SuiteError(path: folder.path, problem: "has a root that can't be read")
      }
      let reader = VICALReader(
        source: VICALSource(signers: .init(configured: [anchor], allowsTestCertificates: false)))
      var list = try folder.read(example.list + ".cbor")
      if example.isTampered, let last = list.indices.last { list[last] ^= 1 }
      var before: VICALEvaluation.LastAccepted?
      if let earlier = example.before, let time = Self.time(earlier) {
        before = reader.evaluate(try folder.read(earlier + ".cbor"), at: time).accepted
      }
      cases.append(
        PublishedCase(
          example.id, example.description, reference: "ISO/IEC 18013-5:2021, Annex C", codes: example.codes,
          judge: { [list, before] in
            let evaluation = reader.evaluate(list, at: issued + example.age, after: before)
            if evaluation.isAccepted { return .accepted }
            return .refused(evaluation.checks.filter { $0.outcome == .failed }.map(\.code))
          }))
    }
    return cases
  }

  private static func time(_ list: String) -> Timestamp? { issued[list].flatMap(Timestamp.init(rfc3339:)) }
}
