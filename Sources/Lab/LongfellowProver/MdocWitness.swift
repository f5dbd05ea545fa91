import Longfellow

/// Both circuits' inputs for one document.
struct MdocWitness {
  private(set) var hash: HashWitness
  private(set) var signature: SignatureWitness
  /// The numbers that the tags bind.
  private let shared: [[UInt8]]

  init(
    _ document: ProvableDocument, _ request: ProverRequest, for known: KnownCircuit, keys: [FieldGF128]
  ) throws(ProverRefusal) {
    guard request.elements.count == known.elements else { throw .elementCount }
    guard Self.isTimestamp(request.timestamp) else { throw .timestampMalformed }
    guard Set(request.elements.map(\.identifier)).count == known.elements else { throw .identifierRepeated }
    guard (1...255).contains(document.documentType.utf8.count) else { throw .documentTypeLength }
    let issuer = try IssuerFacts(document.issuerAuth, timestamp: request.timestamp)
    var elements: [ElementFacts] = []
    for element in request.elements {
      elements.append(try ElementFacts(element, of: document, issuer: issuer, version: known.version))
    }
    shared = SignatureWitness.sharedNumbers(issuer)
    hash = try HashWitness(
      request, issuer: issuer, elements: elements, version: known.version, keys: keys)
    signature = try SignatureWitness(document, request, issuer: issuer, keys: keys)
  }

  /// The form `0000-00-00T00:00:00Z`; whether the day exists does not matter to a comparison.
  private static func isTimestamp(_ text: String) -> Bool {
    let form = Array("0000-00-00T00:00:00Z".utf8)
    let digits = UInt8(ascii: "0")...UInt8(ascii: "9")
    return text.utf8.count == form.count
      && zip(text.utf8, form).allSatisfy { $1 == UInt8(ascii: "0") ? digits.contains($0) : $0 == $1 }
  }

  /// Puts in the tags of each number's halves, the low one first: (verifier's key + prover's key)·half.
  mutating func setTags(keys: [FieldGF128], verifierKey: FieldGF128) -> [FieldGF128] {
    let halves = shared.flatMap { number in
      let bytes = Array(number.reversed())
      return [Array(bytes.prefix(16)), Array(bytes.suffix(16))].compactMap { half in
        half.withUnsafeBufferPointer { $0.baseAddress.map { FieldGF128($0) } }
      }
    }
    let tags = zip(keys, halves).map { ($0 + verifierKey) * $1 }
    hash.set(tags: tags + [verifierKey])
    signature.set(tags: tags + [verifierKey])
    return tags
  }
}
