import Base
import CBOR
import PKIX

/// The document types of the standards and their elements: the one place that knows their names, types and labels.
///
/// It judges nothing that it does not list: other document types and elements pass through, typed by their CBOR.
/// Names compare by their bytes.
public enum DocTypeCatalogue {
  public static let all: [DocTypeDefinition] = [
    .mDL, .photoID, .europeanPID, .europeanAgeVerification, .japanMyNumber,
  ]

  /// The definition that has this spelling of a document type; nil if none is listed.
  public static func definition(of docType: String) -> DocTypeDefinition? {
    all.first { definition in definition.spellings.contains { $0.hasSameBytes(as: docType) } }
  }

  /// The namespace that holds a document type's age elements. For an unknown type it is the type's own name, as in the
  /// types of the EU.
  public static func ageNamespace(ofDocType docType: String) -> String {
    definition(of: docType)?.ageNamespace ?? docType
  }

  /// The default extended key usages for signers of a document type; a signer must have one of them. For a type that is
  /// not listed, they are those that ISO/IEC 18013-5 and 23220-4 have for signers of any mdoc, and none that a wider
  /// profile has.
  public static func signerUsages(of docType: String) -> Set<String> {
    definition(of: docType)?.signerUsages ?? CertificateRole.documentSigner.extendedKeyUsages
  }

  /// The types that the element must have and the value has not; nil if it has one of them, or none is prescribed.
  static func expectedTypes(of element: ElementReference, violatedBy item: CBORItem) -> ElementTypes? {
    types[element].flatMap { $0.allows(item) ? nil : $0 }
  }

  /// Whether a proof may show the element: it has no parts, and is no image or other long string of bytes.
  static func isProvable(_ element: ElementReference) -> Bool {
    guard let types = types[element], types != .notPrescribed else { return true }
    return !types.isDisjoint(with: [.text, .bool, .unsigned, .fullDate, .dateTime])
  }

  /// The types of every listed element. They are a table, because they are looked up for each element of each answer.
  private static let types: [ElementReference: ElementTypes] = {
    var types: [ElementReference: ElementTypes] = [:]
    for namespace in all.flatMap(\.namespaces) {
      let ages = namespace.hasAgeAttestations ? (0...99).map { ElementDefinition.attestation(ofAge: $0) } : []
      for element in namespace.elements + ages {
        // A namespace that two types share has the elements of both.
        types[ElementReference(namespace.name, element.identifier), default: []].formUnion(element.types)
      }
    }
    return types
  }()

  /// A listed element of the type whose spelling is one slip away, for error texts.
  public static func neighbour(of element: ElementReference, inDocType docType: String) -> ElementReference? {
    guard let definition = definition(of: docType), definition.element(element) == nil else { return nil }
    let candidates = definition.namespaces.flatMap { namespace in
      namespace.elements.map { ElementReference(namespace.name, $0.identifier) }
    }
    return candidates.first { candidate in
      // Only one of the two names may have a slip.
      candidate.identifier.hasSameBytes(as: element.identifier)
        ? Spelling.isOneSlip(candidate.namespace, element.namespace)
        : candidate.namespace.hasSameBytes(as: element.namespace)
          && Spelling.isOneSlip(candidate.identifier, element.identifier)
    }
  }
}

/// Names of document types that the standards give, used by more than one rule.
public enum DocType {
  public static let mDL = TrustAnchor.mDL
  public static let photoID = "org.iso.23220.photoid.1"
  /// The spelling of drafts of ISO/IEC 23220-4 before 2025-12. On the wire it is another document type.
  public static let photoIDDraft = "org.iso.23220.photoID.1"
  public static let europeanPID = "eu.europa.ec.eudi.pid.1"
  public static let europeanAgeVerification = "eu.europa.ec.av.1"
  public static let japanMyNumber = "org.iso.23220.1.jp.mnc"
}

/// Names of namespaces that the standards give.
public enum Namespace {
  public static let mDL = "org.iso.18013.5.1"
  public static let aamva = "org.iso.18013.5.1.aamva"
  public static let iso23220 = "org.iso.23220.1"
  public static let iso23220PhotoID = DocType.photoID
  public static let iso23220DataGroups = "org.iso.23220.datagroups.1"
  /// The names that drafts of 2024 gave to the two.
  public static let iso23220PhotoIDDraft = DocType.photoIDDraft
  public static let iso23220TravelDocument = "org.iso.23220.dtc.1"
  public static let iso23220Japan = "org.iso.23220.1.jp"
  public static let europeanPID = DocType.europeanPID
  public static let europeanAgeVerification = DocType.europeanAgeVerification
}

/// Guesses which name was meant, for error texts.
package enum Spelling {
  /// The nearest of the names; nil if none is near. A name is near if it begins with the word, or if they differ
  /// by at most one slip in three letters and never more than four.
  package static func nearest(to word: String, among names: [String]) -> String? {
    let ranked = names.map { (name: $0, distance: distance(from: word, to: $0)) }
    guard let best = ranked.min(by: { $0.distance < $1.distance }) else { return nil }
    let isStart = word.utf8.count > 3 && best.name.hasPrefix(word)
    if let longer = names.first(where: { word.utf8.count > 3 && $0.hasPrefix(word) }), !isStart { return longer }
    return isStart || best.distance <= min(4, max(1, word.utf8.count / 3)) ? best.name : nil
  }

  /// Up to three names that are near, nearest first. Those that have the word in them count as near too.
  package static func near(_ word: String, among names: [String]) -> [String] {
    let ranked = names.map { name in
      let isPart = word.utf8.count > 3 && name.contains(word)
      return (name: name, distance: isPart ? 0 : distance(from: word, to: name))
    }
    // The names' order decides between equals.
    return ranked.enumerated().filter { $0.element.distance <= min(4, max(1, word.utf8.count / 3)) }
      .sorted { ($0.element.distance, $0.offset) < ($1.element.distance, $1.offset) }.prefix(3).map(\.element.name)
  }

  /// Whether the names differ by one inserted, removed or replaced byte, or in case alone. The cost is linear, since
  /// names come from wallets too.
  static func isOneSlip(_ left: String, _ right: String) -> Bool {
    let left = Array(left.utf8)
    let right = Array(right.utf8)
    guard left != right, abs(left.count - right.count) <= 1 else { return false }
    if left.count == right.count, left.elementsEqual(right, by: { lowercased($0) == lowercased($1) }) { return true }
    let start = zip(left, right).prefix { $0 == $1 }.count
    let end = zip(left[start...].reversed(), right[start...].reversed()).prefix { $0 == $1 }.count
    return max(left.count, right.count) - start - end <= 1
  }

  /// The number of insertions, deletions, replacements and swaps of neighbouring bytes that lead from one word to the
  /// other. Only the first 64 bytes are compared.
  static func distance(from left: String, to right: String) -> Int {
    let left = Array(left.utf8.prefix(64))
    let right = Array(right.utf8.prefix(64))
    var rows = [Array(0...right.count)]
    for (i, byte) in left.enumerated() {
      var row = [i + 1]
      for (j, other) in right.enumerated() {
        var cost = min(rows[i][j + 1] + 1, row[j] + 1, rows[i][j] + (byte == other ? 0 : 1))
        if i > 0, j > 0, byte == right[j - 1], left[i - 1] == other { cost = min(cost, rows[i - 1][j - 1] + 1) }
        row.append(cost)
      }
      rows.append(row)
    }
    return rows[left.count][right.count]
  }

  private static func lowercased(_ byte: UInt8) -> UInt8 {
    (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte) ? byte | 0x20 : byte
  }
}
