import Base
import Cryptography

/// Compares every returned element with its signed digest (ISO/IEC 18013-5:2021, 9.1.2.5 and 9.3.1).
struct DigestCheck {
  let document: Document
  let mso: MobileSecurityObject
  /// The digests' hash; nil if the digest algorithm is not supported.
  let hash: HashAlgorithm?

  private static let shortestRandom = 16
  /// An issuer's digest identifiers must be below this bound (9.1.2.4). Digest identifiers of 2^31 or more are still
  /// looked up, with a warning.
  private static let endOfIDs: UInt64 = 1 << 31
  /// Up to this many items, comparing every pair is faster than hashing.
  private static let few = 32

  func run(into checks: inout CheckList) {
    checks.require(duplicates.isEmpty, .elementDuplicate, names(duplicates))
    guard let hash else {
      return checks.skipRest(of: Self.codes)
    }
    var repeated: [(ElementReference, String)] = []
    var missing: [(ElementReference, String)] = []
    var wrong: [(ElementReference, String)] = []
    var outOfRange: [(ElementReference, String)] = []
    var short: [(ElementReference, String)] = []
    for namespace in document.issuerSigned {
      let digests = mso.digests(of: namespace.name, for: namespace.items.count)
      let shared = sharedIDs(in: namespace)
      for item in namespace.items {
        if item.digestID >= Self.endOfIDs { outOfRange.append(named(namespace, item)) }
        if item.randomLength < Self.shortestRandom {
          short.append((reference(namespace, item), " (random has \(item.randomLength) bytes)"))
        }
        // Records elements that share a digest identifier: at most one of them can match.
        if shared.contains(item.digestID) {
          repeated.append(named(namespace, item))
          continue
        }
        guard let digest = digests?[item.digestID] else {
          missing.append(
            digests == nil ? (reference(namespace, item), " (no such namespace)") : named(namespace, item))
          continue
        }
        if !hash.matches(digest, digestOf: item.digestInput) {
          let isShort = digest.count != hash.digestLength
          wrong.append(named(namespace, item, isShort ? ", whose digest has \(digest.count) bytes" : ""))
        }
      }
    }
    checks.require(repeated.isEmpty, .digestIDDuplicate, names(repeated))
    checks.require(missing.isEmpty, .digestMissing, names(missing))
    checks.require(wrong.isEmpty, .digestMismatch, names(wrong))
    checks.expect(outOfRange.isEmpty, .digestIDOutOfRange, names(outOfRange))
    checks.expect(short.isEmpty, .itemRandomTooShort, names(short))
  }

  static let codes: [Code] = [
    .elementDuplicate, .digestIDDuplicate, .digestMissing, .digestMismatch, .digestIDOutOfRange, .itemRandomTooShort,
  ]

  /// Elements that occur more than once. A device-signed element counts if the issuer authorised it; an unauthorised
  /// one fails another check (`deviceElementUnauthorized`).
  private var duplicates: [ElementReference] {
    var repeated: [ElementReference] = []
    // Each namespace is in the map only once, so duplicates can only be within a namespace.
    for namespace in document.issuerSigned {
      if namespace.items.count <= Self.few {
        for index in namespace.items.indices where repeatsEarlier(index, in: namespace.items) {
          repeated.append(reference(namespace, namespace.items[index]))
        }
      } else {
        var seen: Set<ElementReference> = []
        for item in namespace.items where !seen.insert(reference(namespace, item)).inserted {
          repeated.append(reference(namespace, item))
        }
      }
    }
    let authorized = (document.deviceSigned?.elements ?? []).map(\.reference).filter(mso.keyAuthorizations.allows)
    return authorized.isEmpty ? repeated : repeated + issuerSigned(among: authorized)
  }

  // Access is by index, here and below: a loop over the items would copy each item and count its references.
  private func repeatsEarlier(_ index: Int, in items: [IssuerSignedItem]) -> Bool {
    (0..<index).contains { earlier in
      items[earlier].identifier.utf8.count == items[index].identifier.utf8.count
        && items[earlier].identifier.hasSameBytes(as: items[index].identifier)
    }
  }

  /// The device's elements that the issuer also signed. Each issuer-signed element is hashed once, so the time is
  /// linear.
  private func issuerSigned(among elements: [ElementReference]) -> [ElementReference] {
    let signed = Set(document.issuerSigned.flatMap { namespace in namespace.items.map { reference(namespace, $0) } })
    return elements.filter(signed.contains)
  }

  /// Digest identifiers that different elements share. A repeated element is a separate finding.
  private func sharedIDs(in namespace: IssuerSignedNamespace) -> Set<UInt64> {
    if namespace.items.count <= Self.few { return sharedIDs(ofFew: namespace.items) }
    var elements: [UInt64: String] = [:]
    elements.reserveCapacity(namespace.items.count)
    var shared: Set<UInt64> = []
    for item in namespace.items {
      let other = elements.updateValue(item.identifier, forKey: item.digestID)
      if let other, !other.hasSameBytes(as: item.identifier) { shared.insert(item.digestID) }
    }
    return shared
  }

  private func sharedIDs(ofFew items: [IssuerSignedItem]) -> Set<UInt64> {
    var shared: Set<UInt64> = []
    for index in items.indices {
      for other in 0..<index
      where items[other].digestID == items[index].digestID
        && !items[other].identifier.hasSameBytes(as: items[index].identifier)
      {
        shared.insert(items[index].digestID)
      }
    }
    return shared
  }

  private func named(
    _ namespace: IssuerSignedNamespace, _ item: IssuerSignedItem, _ more: String = ""
  ) -> (ElementReference, String) {
    (reference(namespace, item), " (digestID \(item.digestID)\(more))")
  }

  private func reference(_ namespace: IssuerSignedNamespace, _ item: IssuerSignedItem) -> ElementReference {
    ElementReference(namespace.name, item.identifier)
  }
}

extension Code {
  public static let itemMalformed = Code(
    "mdoc.item.malformed", "An issuer-signed item lacks a member or has one of another type", "\(iso), 8.3.2.1.2.2",
    .item, passes: "Every returned item has the prescribed structure")
  public static let itemNotTag24 = Code(
    "mdoc.item.not_tag24", "An issuer-signed item is not a byte string with tag 24", "\(iso), 8.3.2.1.2.2", .item,
    passes: "Every returned item is in the signed encoding")
  public static let elementDuplicate = Code(
    "mdoc.element.duplicate", "An element of a namespace is returned twice", "\(iso), 8.3.2.1.2.2",
    .forged, passes: "No element is returned twice")
  public static let digestIDDuplicate = Code(
    "mdoc.digest.id_duplicate", "Two items of a namespace share one digest identifier", "\(iso), 9.1.2.5", .item,
    passes: "No two elements share a digest")
  public static let digestMissing = Code(
    "mdoc.digest.missing", "No digest was signed for a returned element", "\(iso), 9.3.1", .forged,
    passes: "The issuer signed a digest of every returned element")
  public static let digestMismatch = Code(
    "mdoc.digest.mismatch", "A returned element does not match its signed digest", "\(iso), 9.3.1", .forged,
    passes: "Every returned element matches its signed digest")
  public static let digestIDOutOfRange = Code(
    "mdoc.digest.id_out_of_range",
    "An item's digest identifier is 2^31 or more; its digest is looked up nevertheless", "\(iso), 9.1.2.4", .issuer,
    passes: "The digest identifiers are in range", warns: true)
  public static let itemRandomTooShort = Code(
    "mdoc.item.random_too_short", "An item's random value has fewer than 16 bytes", "\(iso), 9.1.2.5", .issuer,
    passes: "Every item has enough random bytes", warns: true)
}

extension Code.Remedy {
  static let item: Self =
    "Report it to the issuing authority, which makes these items. If other wallets forward the same document "
    + "correctly, report it to the wallet's maker."
}

extension CodeGroup {
  public static let items = CodeGroup(
    "Issuer-signed items and their digests", [.itemMalformed, .itemNotTag24] + DigestCheck.codes)
}
