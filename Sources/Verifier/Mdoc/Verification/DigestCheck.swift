import Base
import CBOR
import Cryptography

/// Compares every returned element with its signed digest (ISO/IEC 18013-5:2021, 9.1.2.5 and 9.3.1).
struct DigestCheck {
  let document: Document
  let mso: MobileSecurityObject
  /// Nil if the digest algorithm is not supported.
  let hash: HashAlgorithm?

  private static let shortestRandom = 16
  /// The bound below which an issuer's digest identifiers must stay (9.1.2.4). One beyond it is still used, with a
  /// warning.
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
        // Different elements share this digest identifier. At most one of them can match the digest: the sharing is the
        // finding.
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

  /// Every check of this stage, in the order in which they are made.
  static let codes: [Code] = [
    .elementDuplicate, .digestIDDuplicate, .digestMissing, .digestMismatch, .digestIDOutOfRange, .itemRandomTooShort,
  ]

  /// Elements that occur more than once. A device-signed element counts if the issuer authorised it; one that the
  /// issuer did not authorise fails another check (`deviceElementUnauthorized`).
  private var duplicates: [ElementReference] {
    var repeated: [ElementReference] = []
    // A namespace stands once in the map, so only its own items can repeat each other.
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

  // Indexed access, here and below: a loop over the items would copy each, at the cost of counting its references.
  private func repeatsEarlier(_ index: Int, in items: [IssuerSignedItem]) -> Bool {
    for earlier in 0..<index where items[earlier].identifier.hasSameBytes(as: items[index].identifier) { return true }
    return false
  }

  /// The device's elements that the issuer signed too. The issuer's elements are hashed once, however many there are on
  /// either side. Devices rarely sign elements.
  private func issuerSigned(among elements: [ElementReference]) -> [ElementReference] {
    var signed: Set<ElementReference> = []
    for namespace in document.issuerSigned {
      for item in namespace.items { signed.insert(reference(namespace, item)) }
    }
    return elements.filter(signed.contains)
  }

  /// Digest identifiers that items of different elements use. The same element twice is a finding of its own.
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
